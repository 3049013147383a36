/// The tensors that a block declares: what it makes of examples on the tape, for itself or for the
/// blocks behind it. A block that makes one gives it a name, and gets an id; a block that reads it
/// asks for the name, once, when it declares. Values and gradients lie in Tensors, on the tape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "table/aligned.h"
#include "tape/extent.h"
#include "tape/join.h"

namespace leveret::tape {

/// A tensor's place in Declarations::tensors.
enum class TensorId : std::uint32_t { kNone = 0xffffffffu };

/// A block's working memory on a tape (Tape::memory).
enum class MemoryId : std::uint32_t { kNone = 0xffffffffu };

struct Tensor {
  enum class Per : std::uint8_t {
    kExample,  ///< numbers of each example
    kBatch,    ///< the same numbers for all examples of a tape
  };

  std::string name;  ///< no other tensor has it
  Per per = Per::kExample;
  std::uint32_t size = 0;  ///< numbers of one example, with so many fields
  /// The owners of its numbers: partitions of a model have those of groups and fields each for
  /// itself (of those that are not theirs, 0); of pairs shards and candidates have their own alone,
  /// one behind the other, in the order of Partition::columns_of, and a context all, by
  /// ffm::pair_index. Numbers that are everyone's are made by Block::finish.
  Owner::Kind owner = Owner::Kind::kAll;
  std::uint32_t width = 1;  ///< numbers of an owner, where it is not everyone's
  /// Whether each example's begin on a cache line. Who makes it puts zeros behind them.
  bool whole_lines = false;
  bool only_if_read = false;  ///< without a block that reads it it has no values
  /// Whether the way back leaves d loss / d it.
  bool gradient = false;
  bool gradient_if_read = false;  ///< the same, where a block reads it
  /// Of a tensor with one reader: its gradients lie in this tensor's gradients, at the
  /// front of each example's, as that reader makes them in place.
  TensorId gradient_in = TensorId::kNone;
  /// Which of its numbers was which when there were fewer fields; without it they keep their
  /// places. What learns weights for them moves those along.
  ColumnSource source = nullptr;
  std::uint32_t readers = 0;  ///< so often have blocks asked for it

  /// Floats from one example's numbers to the next one's.
  std::size_t stride() const { return whole_lines ? table::whole_lines(size) : size; }
};

/// A tensor that a block reads. Several may read one: on the way back the last of them comes first,
/// and its gradient stands for all, to which those of the others are added (Tensors::d_of_reader).
struct TensorInput {
  TensorId id = TensorId::kNone;
  std::uint32_t reader = 0;  ///< its number, in the order of declaring
};

}  // namespace leveret::tape
