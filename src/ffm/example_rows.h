/// The rows of an example that meet in pairs, as kernels read them.
///
/// Nearly all examples have one row at most in each field: these are read, and moved, where they
/// lie. Where some field has several, each field's rows are added up to one of floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"
#include "table/aligned.h"
#include "tape/tape.h"

namespace leveret::ffm {

/// Working memory of whoever makes pairs: one example at a time. Each row has a place among n.
struct ExampleRows final : tape::Memory {
  /// A field with several rows, which has a pair with itself.
  struct Several {
    std::size_t place;
    std::uint32_t field, begin, end;  ///< features, as in feature::FieldRun
  };

  bool stored = false;      ///< one row each, as it lies; else sums of x v
  kernels::Codec codec;     ///< of `rows`
  bool ones = false;        ///< stored rows, and every value of the fields that are asked for is 1
  std::size_t present = 0;  ///< rows that are there
  bool scaled = false;      ///< x is value times scale
  /// n: those of to_learn or to_read; `nothing` where there is none.
  std::span<const std::byte* const> rows;
  /// n, ascending: the field of each place. Only where every field may have a place.
  std::vector<std::uint32_t> fields;
  std::vector<float> x;  ///< n, by which pairs are multiplied; 0 where there is no row; kSpare more
  std::vector<Several> several;

  std::vector<std::byte*> to_learn;       ///< n, where the tape learns and rows are stored
  std::vector<const std::byte*> to_read;  ///< n: rows, copies of rows, or sums
  table::AlignedBytes nothing;            ///< a row of zeros; stays so
  table::AlignedBytes wide;               ///< copies: codes of fewer bits, in 16 bits
  table::AlignedFloats sums;              ///< rows of floats
  std::vector<float> row;                 ///< one row as floats, or a factor for each slot

  // Of the pairs (pair_set.h).
  bool squeezed = false;               ///< only fields with rows have a place
  std::vector<float> compact;          ///< their pairs
  std::vector<float> delta;            ///< d loss / d pair, times x of both
  table::AlignedFloats row_gradients;  ///< by place, where they are made row by row
  std::vector<float*> gradients;       ///< n: where those of a row are added; null: nowhere

  /// Whether pairs need no factors beside what kernels make.
  bool as_kernels_see() const { return !stored || (ones && !scaled); }
};

/// Where the row of each field goes, for who makes pairs of them.
struct Places {
  static constexpr std::uint32_t kNone = 0xffffffffu;
  std::size_t n;                            ///< places
  const std::uint32_t* of_field = nullptr;  ///< kNone: its rows are not asked for; null: the field
  std::size_t most_slots = 0;               ///< of a row
  /// If fewer rows than this share of the places are there, the others get none. Only where every
  /// field has a place.
  float squeeze_below = 0;
  /// If fewer rows than this are there, they are put as sums of floats, too.
  std::size_t sums_below = 0;
  /// n + 1: the row of place i has slots_begin[i + 1] - slots_begin[i]; null: each has the most.
  const std::uint32_t* slots_begin = nullptr;

  std::size_t slots(std::size_t place) const {
    return slots_begin != nullptr ? slots_begin[place + 1] - slots_begin[place] : most_slots;
  }
  std::size_t of(std::uint32_t field) const {
    return of_field != nullptr ? of_field[field] : field;
  }
};

/// Reads rows of a part. Const; any number of threads.
class RowReader {
 public:
  RowReader(const kernels::Kernels& kernels, kernels::Codec stored, std::size_t k, std::size_t part)
      : kernels_(&kernels), codec_(stored), k_(k), part_(part) {}

  /// The codec in which kernels read stored rows. Rows of fewer bits are copied.
  kernels::Codec codec() const { return codec_.widened(); }
  std::size_t k() const { return k_; }
  std::size_t part() const { return part_; }

  /// Puts the rows of example b on `at`; with `as_sums` as floats in any case.
  void gather(const tape::Tape& tape, std::size_t b, const Places& places, ExampleRows& at,
              bool as_sums = false) const;
  /// The k weights of a slot of a feature of the field.
  void read_slot(const tape::Tape& tape, std::uint32_t field, std::uint32_t feature,
                 std::size_t slot, float* to) const;
  /// Bytes from the start of a field's rows to this part's weights.
  std::size_t begin(const tape::Tape& tape, std::uint32_t field) const {
    return tape.layout_of(field).weights(part_).begin;
  }

 private:
  template <class Byte>
  bool put_rows(const tape::Tape& tape, std::size_t b, const std::vector<Byte*>& from,
                const Places& places, ExampleRows& at, std::vector<Byte*>& to) const;
  bool put_stored(const tape::Tape& tape, std::size_t b, const Places& places,
                  ExampleRows& at) const;
  void put_sums(const tape::Tape& tape, std::size_t b, const Places& places, ExampleRows& at) const;
  void widen(const Places& places, ExampleRows& at) const;

  const kernels::Kernels* kernels_;
  kernels::Codec codec_;
  std::size_t k_, part_;
};

}  // namespace leveret::ffm
