#include "dist/communicator.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace leveret::dist {
namespace {

/// Fewer are sent whole in each step: half as many steps, each of which waits for the network once,
/// are then worth more than the bytes that halves save.
constexpr std::size_t kWorthHalving = 2048;

/// A range of values, and where it is cut in two.
struct Halves {
  std::size_t begin, end;
  std::size_t middle() const { return begin + (end - begin) / 2; }
  Halves lower() const { return {begin, middle()}; }
  Halves upper() const { return {middle(), end}; }
  template <class T>
  std::span<T> of(std::span<T> values) const {
    return values.subspan(begin, end - begin);
  }
};

/// a + b and b + a have the same bits unless both are NaN: then which one it is depends on the
/// order, and on the compiler.
void add(std::span<const float> other, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float sum = values[i] + other[i];
    values[i] = std::isnan(sum) ? std::numeric_limits<float>::quiet_NaN() : sum;
  }
}

}  // namespace

/// The ranks beyond 2^n give their values to the first ones and get the sums from them.
void Communicator::all_reduce_sum(std::span<float> values) {
  if (size_ == 1) return;
  const unsigned ranks = std::bit_floor(size_);
  from_other_.resize(values.size());
  const std::span other(from_other_);
  if (rank_ >= ranks) {
    send(rank_ - ranks, std::as_bytes(values), Traffic::kSums);
    receive(rank_ - ranks, std::as_writable_bytes(values), Traffic::kSums);
    return;
  }
  const bool helps = rank_ + ranks < size_;
  if (helps) {
    receive(rank_ + ranks, std::as_writable_bytes(other), Traffic::kSums);
    add(other, values);
  }
  values.size() < kWorthHalving ? sum_whole(values, ranks) : sum_by_halves(values, ranks);
  if (helps) send(rank_ + ranks, std::as_bytes(values), Traffic::kSums);
}

void Communicator::add_from(unsigned with, std::span<const float> out, std::span<float> values) {
  const std::span other = std::span(from_other_).first(values.size());
  exchange(with, std::as_bytes(out), std::as_writable_bytes(other), Traffic::kSums);
  add(other, values);
}

/// Recursive doubling: neighbours first, then pairs of neighbours, ...
void Communicator::sum_whole(std::span<float> values, unsigned ranks) {
  for (unsigned step = 1; step < ranks; step *= 2) add_from(rank_ ^ step, values, values);
}

/// The same tree (Rabenseifner 2004): of what two ranks have in common each sums one half, and in
/// the end they tell each other their halves. A rank sends 2 (1 - 1/ranks) times the values in all.
void Communicator::sum_by_halves(std::span<float> values, unsigned ranks) {
  std::vector<Halves> ranges;
  Halves mine = {0, values.size()};
  for (unsigned step = 1; step < ranks; step *= 2) {
    ranges.push_back(mine);
    const bool upper = (rank_ & step) != 0;
    const Halves theirs = upper ? mine.lower() : mine.upper();
    mine = upper ? mine.upper() : mine.lower();
    add_from(rank_ ^ step, theirs.of(values), mine.of(values));
  }
  for (unsigned step = ranks / 2; step > 0; step /= 2, ranges.pop_back()) {
    const bool upper = (rank_ & step) != 0;
    const Halves lower_half = ranges.back().lower(), upper_half = ranges.back().upper();
    exchange(rank_ ^ step, std::as_bytes((upper ? upper_half : lower_half).of(values)),
             std::as_writable_bytes((upper ? lower_half : upper_half).of(values)), Traffic::kSums);
  }
}

std::uint64_t Communicator::all_reduce_bytes(std::uint64_t values, unsigned size) {
  if (size == 1) return 0;
  const unsigned ranks = std::bit_floor(size);
  std::uint64_t sent = size > ranks ? values : 0;
  if (values < kWorthHalving) {
    sent += values * static_cast<unsigned>(std::countr_zero(ranks));
  } else {
    Halves mine = {0, values};
    for (unsigned step = 1; step < ranks; step *= 2, mine = mine.lower()) {
      sent += mine.end - mine.begin;  // the upper half on the way down, the lower one on the way up
    }
  }
  return sent * sizeof(float);
}

void Communicator::broadcast(Bytes& bytes, Traffic traffic) {
  if (!is_root()) return receive_sized(0, bytes, traffic);
  for (unsigned r = 1; r < size_; ++r) send_sized(r, bytes, traffic);
}

void Communicator::scatter(std::span<const Bytes> parts, Bytes& own, Traffic traffic) {
  if (!is_root()) return receive_sized(0, own, traffic);
  assert(parts.size() == size_);
  for (unsigned r = 1; r < size_; ++r) send_sized(r, parts[r], traffic);
  own = parts[0];
}

std::vector<Bytes> Communicator::gather(std::string_view own, Traffic traffic) {
  if (!is_root()) {
    send_sized(0, own, traffic);
    return {};
  }
  std::vector<Bytes> all(size_);
  all[0] = own;
  for (unsigned r = 1; r < size_; ++r) receive_sized(r, all[r], traffic);
  return all;
}

void Communicator::barrier() {
  gather({});
  Bytes nothing;
  broadcast(nothing);
}

void Communicator::send_sized(unsigned to, std::string_view bytes, Traffic traffic) {
  const std::uint64_t size = bytes.size();
  send(to, std::as_bytes(std::span(&size, 1)), traffic);
  if (size > 0) send(to, std::as_bytes(std::span(bytes)), traffic);
}

void Communicator::receive_sized(unsigned from, Bytes& bytes, Traffic traffic) {
  std::uint64_t size = 0;
  receive(from, std::as_writable_bytes(std::span(&size, 1)), traffic);
  bytes.resize(size);
  if (size > 0) receive(from, std::as_writable_bytes(std::span(bytes)), traffic);
}

void Communicator::send(unsigned to, std::span<const std::byte> bytes, Traffic traffic) {
  do_send(to, bytes);
  count_sent(bytes.size(), traffic);
}

void Communicator::receive(unsigned from, std::span<std::byte> bytes, Traffic traffic) {
  do_receive(from, bytes);
  count_received(bytes.size(), traffic);
}

void Communicator::exchange(unsigned with, std::span<const std::byte> out, std::span<std::byte> in,
                            Traffic traffic) {
  do_exchange(with, out, in);
  count_sent(out.size(), traffic);
  count_received(in.size(), traffic);
}

void Communicator::count_sent(std::size_t bytes, Traffic traffic) {
  traffic_.sent[static_cast<std::size_t>(traffic)] += bytes;
  ++traffic_.messages_sent[static_cast<std::size_t>(traffic)];
}

void Communicator::count_received(std::size_t bytes, Traffic traffic) {
  traffic_.received[static_cast<std::size_t>(traffic)] += bytes;
}

}  // namespace leveret::dist
