#include "dist/learn/batch_rounds.h"

#include <vector>

#include "dist/talk/agreement.h"

namespace leveret::dist {

/// The others wait for a batch, but where the error came from a round: then all know of it, or
/// main() ends them.
void BatchRounds::lead(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    if (!in_round_ && !ranks_.all_know_the_end()) {
      tell([](Bytes& to) { encode_failed(1, to); });
    }
    if (!in_round_) ranks_.know_the_end();
    throw;
  }
  tell(encode_end);
}

void BatchRounds::tell(const std::function<void(Bytes&)>& encode) {
  std::vector<Bytes> messages(ranks_.size());
  for (Bytes& message : messages) encode(message);
  Bytes own;
  ranks_.scatter(messages, own);
}

void BatchRounds::send(std::span<const Bytes> messages) {
  Bytes own;
  ranks_.scatter(messages, own, Traffic::kInput);
}

void BatchRounds::follow(const std::function<void(BatchMessage&, std::exception_ptr)>& batch) {
  BatchMessage message;
  Bytes bytes;
  while (true) {
    ranks_.scatter({}, bytes, Traffic::kInput);
    std::exception_ptr error;
    try {
      decode(bytes, message);
    } catch (...) {
      error = std::current_exception();
    }
    if (message.kind == BatchMessage::Kind::kEnd) return;
    if (message.kind == BatchMessage::Kind::kFailed) {
      ranks_.know_the_end();
      throw FailedElsewhere(message.exit_code);
    }
    batch(message, error);
  }
}

BatchFlags BatchRounds::round(std::exception_ptr error, bool stop,
                              const std::function<BatchFlags(BatchFlags)>& work) {
  in_round_ = true;
  const BatchFlags flags = work({.failed = error != nullptr, .stop = stop});
  in_round_ = false;
  if (!flags.failed) return flags;
  ranks_.know_the_end();
  if (error) std::rethrow_exception(error);
  throw FailedElsewhere(1);
}

}  // namespace leveret::dist
