#include "dist/talk/communicator.h"

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
};

/// a + b and b + a have the same bits unless both are NaN: then which one it is depends on the
/// order, and on the compiler.
float sum_of(float a, float b) {
  const float sum = a + b;
  return std::isnan(sum) ? std::numeric_limits<float>::quiet_NaN() : sum;
}

// Names of the sums of the tree, for WireFormat: a rank's values, those with what a rank beyond 2^n
// gave it, and the sums after a step, which several ranks have alike.
std::uint64_t leaf_node(unsigned rank) { return rank; }
std::uint64_t helped_node(unsigned rank) { return std::uint64_t{1} << 32 | rank; }
std::uint64_t node_after(unsigned rank, unsigned step) {
  return std::uint64_t{step} << 33 | rank / (2 * step);
}

}  // namespace

struct Communicator::Range {
  std::span<float> values;
  std::size_t begin;  ///< the place of the first one among all

  static Range of(std::span<float> all, const Halves& part) {
    return {all.subspan(part.begin, part.end - part.begin), part.begin};
  }
};

/// The ranks beyond 2^n give their values to the first ones and get the sums from them.
void Communicator::all_reduce_sum(std::span<float> values, const WireFormat& wire) {
  if (size_ == 1) return;
  wire_ = wire;
  const Range all = {values, 0};
  if (wire.rounds()) round(wire, leaf_node(rank_), 0, values);
  const unsigned ranks = std::bit_floor(size_);
  from_other_.resize(values.size());
  if (rank_ >= ranks) {
    send(rank_ - ranks, all);
    receive(rank_ - ranks, all);
    return;
  }
  const bool helps = rank_ + ranks < size_;
  if (helps) {
    receive(rank_ + ranks, {from_other_, 0});
    add(from_other_, helped_node(rank_), all);
  }
  values.size() < kWorthHalving ? sum_whole(values, ranks) : sum_by_halves(values, ranks);
  if (helps) send(rank_ + ranks, all);
}

/// `node`: what the sums are.
void Communicator::add(std::span<const float> other, std::uint64_t node, const Range& to) const {
  for (std::size_t i = 0; i < to.values.size(); ++i) {
    to.values[i] = sum_of(to.values[i], other[i]);
  }
  if (wire_.rounds()) round(wire_, node, to.begin, to.values);
}

/// Recursive doubling: neighbours first, then pairs of neighbours, ...
void Communicator::sum_whole(std::span<float> values, unsigned ranks) {
  for (unsigned step = 1; step < ranks; step *= 2) {
    exchange(rank_ ^ step, {values, 0}, {from_other_, 0});
    add(from_other_, node_after(rank_, step), {values, 0});
  }
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
    const Range other = {std::span(from_other_).first(mine.end - mine.begin), mine.begin};
    exchange(rank_ ^ step, Range::of(values, theirs), other);
    add(other.values, node_after(rank_, step), Range::of(values, mine));
  }
  for (unsigned step = ranks / 2; step > 0; step /= 2, ranges.pop_back()) {
    const bool upper = (rank_ & step) != 0;
    const Halves lower_half = ranges.back().lower(), upper_half = ranges.back().upper();
    exchange(rank_ ^ step, Range::of(values, upper ? upper_half : lower_half),
             Range::of(values, upper ? lower_half : upper_half));
  }
}

void Communicator::send(unsigned to, const Range& out) {
  if (!wire_.rounds()) return send(to, std::as_bytes(out.values), Traffic::kSums);
  pack(wire_, out.begin, out.values, packed_out_);
  send(to, packed_out_, Traffic::kSums);
}

void Communicator::receive(unsigned from, const Range& in) {
  if (!wire_.rounds()) return receive(from, std::as_writable_bytes(in.values), Traffic::kSums);
  packed_in_.resize(wire_.bytes(in.begin, in.begin + in.values.size()));
  receive(from, packed_in_, Traffic::kSums);
  unpack(wire_, in.begin, packed_in_, in.values);
}

void Communicator::exchange(unsigned with, const Range& out, const Range& in) {
  if (!wire_.rounds()) {
    return exchange(with, std::as_bytes(out.values), std::as_writable_bytes(in.values),
                    Traffic::kSums);
  }
  pack(wire_, out.begin, out.values, packed_out_);
  packed_in_.resize(wire_.bytes(in.begin, in.begin + in.values.size()));
  exchange(with, packed_out_, packed_in_, Traffic::kSums);
  unpack(wire_, in.begin, packed_in_, in.values);
}

std::uint64_t Communicator::all_reduce_bytes(std::uint64_t values, unsigned size,
                                             const WireFormat& wire) {
  if (size == 1) return 0;
  const unsigned ranks = std::bit_floor(size);
  const std::uint64_t whole = wire.bytes(0, values);
  std::uint64_t sent = size > ranks ? whole : 0;
  if (values < kWorthHalving) return sent + whole * static_cast<unsigned>(std::countr_zero(ranks));
  Halves mine = {0, values};
  for (unsigned step = 1; step < ranks; step *= 2, mine = mine.lower()) {
    // The upper half on the way down, the lower one on the way up.
    sent += wire.bytes(mine.begin, mine.end);
  }
  return sent;
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

/// In as many rounds as there are ranks each talks to each other, two at a time: in round t those
/// whose numbers add up to t.
void Communicator::all_to_all(std::span<const Bytes> to_each, std::vector<Bytes>& from_each,
                              Traffic traffic) {
  assert(to_each.size() == size_);
  from_each.resize(size_);
  from_each[rank_] = to_each[rank_];
  for (unsigned round = 0; round < size_; ++round) {
    const unsigned with = (round + size_ - rank_) % size_;
    if (with != rank_) exchange_sized(with, to_each[with], from_each[with], traffic);
  }
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

void Communicator::exchange_sized(unsigned with, std::string_view out, Bytes& in, Traffic traffic) {
  const std::uint64_t size = out.size();
  std::uint64_t other = 0;
  exchange(with, std::as_bytes(std::span(&size, 1)), std::as_writable_bytes(std::span(&other, 1)),
           traffic);
  in.resize(other);
  exchange(with, std::as_bytes(std::span(out)), std::as_writable_bytes(std::span(in)), traffic);
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
