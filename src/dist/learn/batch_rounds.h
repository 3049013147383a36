/// How the batches of a run reach its ranks: rank 0 reads and leads, the others follow, and an
/// error of any of them ends all.
#pragma once

#include <exception>
#include <functional>
#include <span>

#include "dist/learn/batch_head.h"
#include "dist/learn/batch_message.h"
#include "dist/talk/communicator.h"

namespace leveret::dist {

/// One rank has one for a run.
class BatchRounds {
 public:
  explicit BatchRounds(Communicator& ranks) : ranks_(ranks) {}

  /// Rank 0 calls this. `work` sends batches, each with a round behind it; then all others are told
  /// the end, or that it has failed, and its error is thrown.
  void lead(const std::function<void()>& work);
  /// Rank 0 sends each rank its message.
  void send(std::span<const Bytes> messages);
  /// The others call this: it calls batch(message, what is wrong with it, if anything), which makes
  /// a round, until the end. FailedElsewhere when rank 0 has failed.
  void follow(const std::function<void(BatchMessage&, std::exception_ptr)>& batch);

  /// All ranks call this: `work` adds up over them, and says what any has flagged. `error`: what
  /// has gone wrong with the batch on this rank already. An error of any rank ends all of them
  /// here: this one's is thrown, or FailedElsewhere.
  BatchFlags round(std::exception_ptr error, bool stop,
                   const std::function<BatchFlags(BatchFlags)>& work);

 private:
  void tell(const std::function<void(Bytes&)>& encode);

  Communicator& ranks_;
  bool in_round_ = false;  ///< an error now is one that the others may not know of
};

}  // namespace leveret::dist
