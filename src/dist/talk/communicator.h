/// How the ranks of a run talk to each other: each is one of size() processes that take the same
/// steps in the same order, and rank 0 is the one that reads and reports.
///
/// The algorithms stand here, over three functions that send and receive between two ranks; so they
/// are the same over MPI (mpi/mpi_communicator.h) and between threads (tests), and the sums have
/// the same bits wherever they are made.
///
/// Every function but end_all() is called by all ranks alike, by one thread of each. It returns
/// when this rank has what it is to get. A rank that has ended leaves the others waiting: who fails
/// between two calls tells the others with the next one, or ends them by end_all().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/talk/wire.h"

namespace leveret::dist {

using Bytes = std::string;

/// The purpose for which something is sent.
enum class Traffic : std::uint8_t {
  kSums,   ///< all_reduce_sum
  kInput,  ///< examples, from the rank that reads
  kPull,   ///< of a mesh: features that are asked for, and their weights
  kPush,   ///< of a mesh: their gradients
  kOther,
};
inline constexpr std::size_t kTraffics = 5;

/// Bytes and messages by Traffic, without what the network adds.
struct TrafficCount {
  std::array<std::uint64_t, kTraffics> sent{}, received{}, messages_sent{};

  std::uint64_t sent_for(Traffic traffic) const { return sent[static_cast<std::size_t>(traffic)]; }
  std::uint64_t received_for(Traffic traffic) const {
    return received[static_cast<std::size_t>(traffic)];
  }
};

class Communicator {
 public:
  Communicator(unsigned rank, unsigned size) : rank_(rank), size_(size) {}
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  unsigned rank() const { return rank_; }
  unsigned size() const { return size_; }
  bool is_root() const { return rank_ == 0; }

  /// Adds up the values of all ranks, of which each has as many; each gets the sums, the same bits
  /// as all others. For 2^n ranks a sum is made as one balanced binary tree over the ranks in their
  /// order, the lower part first: ((0+1)+(2+3))+((4+5)+(6+7)). For another number the ranks beyond
  /// the largest 2^n are added to the first ones before that. Where `wire` rounds, the values of
  /// each rank and each sum of the tree are rounded before they go on, the result, too; one rank
  /// alone rounds nothing.
  void all_reduce_sum(std::span<float> values, const WireFormat& wire = {});
  /// Bytes that rank 0 sends in all_reduce_sum of so many values; of 2^n ranks each one sends
  /// as many, or, of halves, about as many.
  static std::uint64_t all_reduce_bytes(std::uint64_t values, unsigned size,
                                        const WireFormat& wire = {});

  /// All get what rank 0 has.
  void broadcast(Bytes& bytes, Traffic traffic = Traffic::kOther);
  /// Rank r gets parts[r] of rank 0; the others' parts are not looked at.
  void scatter(std::span<const Bytes> parts, Bytes& own, Traffic traffic = Traffic::kOther);
  /// Rank 0 gets those of all, in the order of the ranks; the others get nothing.
  std::vector<Bytes> gather(std::string_view own, Traffic traffic = Traffic::kOther);
  /// Rank r gets to_each[r] of every rank, in the order of these. A rank's own goes to itself.
  void all_to_all(std::span<const Bytes> to_each, std::vector<Bytes>& from_each, Traffic traffic);
  /// Returns when all have called it.
  void barrier();

  /// Ends all ranks wherever they are, as far as that is possible: for errors of which the others
  /// cannot be told in a better way. Over MPI it does not return.
  virtual void end_all(int exit_code) noexcept = 0;
  /// Whether all ranks know that the run has failed, so that none waits for this one.
  bool all_know_the_end() const { return all_know_; }
  void know_the_end() { all_know_ = true; }

  const TrafficCount& traffic() const { return traffic_; }

 protected:
  /// Messages between two ranks arrive in the order in which they were sent, and have the length
  /// that the receiver expects: any length, 0 included. `send` may return before it is received.
  virtual void do_send(unsigned to, std::span<const std::byte> bytes) = 0;
  virtual void do_receive(unsigned from, std::span<std::byte> bytes) = 0;
  /// Both at once, with a rank that does the same.
  virtual void do_exchange(unsigned with, std::span<const std::byte> out,
                           std::span<std::byte> in) = 0;

 private:
  void send(unsigned to, std::span<const std::byte> bytes, Traffic traffic);
  void receive(unsigned from, std::span<std::byte> bytes, Traffic traffic);
  void exchange(unsigned with, std::span<const std::byte> out, std::span<std::byte> in,
                Traffic traffic);
  void send_sized(unsigned to, std::string_view bytes, Traffic traffic);
  void receive_sized(unsigned from, Bytes& bytes, Traffic traffic);
  void exchange_sized(unsigned with, std::string_view out, Bytes& in, Traffic traffic);
  void count_sent(std::size_t bytes, Traffic traffic);
  void count_received(std::size_t bytes, Traffic traffic);

  /// A range of the values of all_reduce_sum.
  struct Range;
  void send(unsigned to, const Range& out);
  void receive(unsigned from, const Range& in);
  void exchange(unsigned with, const Range& out, const Range& in);
  void add(std::span<const float> other, std::uint64_t node, const Range& to) const;
  void sum_whole(std::span<float> values, unsigned ranks);
  void sum_by_halves(std::span<float> values, unsigned ranks);

  unsigned rank_, size_;
  bool all_know_ = false;
  TrafficCount traffic_;
  // How all_reduce_sum sends its values, and its working memory.
  WireFormat wire_;
  std::vector<float> from_other_;
  std::vector<std::byte> packed_out_, packed_in_;
};

/// One process on its own.
class SingleCommunicator final : public Communicator {
 public:
  SingleCommunicator() : Communicator(0, 1) {}
  void end_all(int) noexcept override {}

 private:
  void do_send(unsigned, std::span<const std::byte>) override {}
  void do_receive(unsigned, std::span<std::byte>) override {}
  void do_exchange(unsigned, std::span<const std::byte>, std::span<std::byte>) override {}
};

}  // namespace leveret::dist
