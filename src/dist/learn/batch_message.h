/// Batches as bytes, from the rank that reads to the others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/learn/part_batch.h"
#include "dist/talk/communicator.h"

namespace leveret::dist {

/// The message that a rank is sent before each batch, and once in place of one.
struct BatchMessage {
  enum class Kind : std::uint8_t {
    kBatch,
    kEnd,     ///< there are no more
    kFailed,  ///< the rank that reads has failed, and says why
  };
  Kind kind = Kind::kEnd;
  int exit_code = 1;           ///< with kFailed
  std::uint32_t examples = 0;  ///< of the whole batch: parts may have fewer
  bool ends_stretch = false;   ///< see BatchMaker
  Growth growth;
  std::vector<PartBatch> parts;  ///< of the rank's shards
};

/// Replaces `to`. `examples`, `ends_stretch`: see BatchMessage. A feature of a field that is one of
/// the linear ones, too, takes no bytes of its own; values take none where all are 1, and counts as
/// few as the largest one needs.
void encode_batch(const Growth& growth, std::span<const PartBatch> parts, std::size_t examples,
                  bool ends_stretch, Bytes& to);
void encode_end(Bytes& to);
void encode_failed(int exit_code, Bytes& to);
/// std::runtime_error when these are not such bytes.
void decode(std::string_view bytes, BatchMessage& message);

/// Bytes that the parts of a rank take, from what is in them: for usual lines (no line has 256
/// namespaces, no namespace 256 features, importances are 1) what encode_batch makes, without
/// growth.
std::uint64_t batch_bytes(std::span<const PartBatch> parts);

}  // namespace leveret::dist
