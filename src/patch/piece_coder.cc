#include "patch/piece_coder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "patch/code_pairs.h"

namespace leveret::patch {
namespace {

/// How the codes of a type are seen.
struct CodeView {
  unsigned bits;           ///< of a code; 64-bit types are two codes of 32
  bool is_signed;          ///< two's complement
  unsigned exponent_from;  ///< the lowest bit of a floating point number's exponent, else 0
};

CodeView view_of(store::Dtype dtype) {
  switch (dtype) {
    case store::Dtype::kI4:
      return {4, true, 0};
    case store::Dtype::kI12:
      return {12, true, 0};
    case store::Dtype::kI8:
      return {8, true, 0};
    case store::Dtype::kU8:
      return {8, false, 0};
    case store::Dtype::kBf16:
      return {16, false, 7};
    case store::Dtype::kI16:
      return {16, true, 0};
    case store::Dtype::kU16:
      return {16, false, 0};
    case store::Dtype::kF32:
      return {32, false, 23};
    case store::Dtype::kU32:
    case store::Dtype::kU64:
    case store::Dtype::kF64:
      break;
  }
  return {32, false, 0};
}

/// Rows of this many codes have neighbours that change alike.
constexpr std::uint64_t kLongRow = 4;

/// Changes are told by gaps where they are rare, else by a bit for each element.
bool by_gaps(std::uint64_t changes, std::uint64_t elements) { return changes < elements / 8; }

template <class T>
T load(const std::byte* from, std::uint64_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store_code(std::byte* to, std::uint64_t i, T value) {
  std::memcpy(to + i * sizeof(T), &value, sizeof(T));
}

std::uint64_t count_rows(const std::vector<RowRange>& ranges) {
  std::uint64_t rows = 0;
  for (const RowRange& range : ranges) rows += range.count;
  return rows;
}

template <class Coder, class T>
class PieceCoder {
 public:
  PieceCoder(Coder& coder, ColumnModels& models, CodeView view, std::uint64_t row_codes,
             std::byte* rows, const std::byte* target)
      : coder_(coder),
        models_(models),
        view_(view),
        mask_(static_cast<std::uint32_t>((std::uint64_t{1} << view.bits) - 1)),
        row_codes_(row_codes),
        rows_(rows),
        target_(target) {}

  void code(const PieceShape& shape, std::uint64_t changes) {
    if (changes > 0) code_changes(shape.changeable, changes);
    for (const RowRange& range : shape.fresh) {
      const std::uint64_t end = (range.begin + range.count) * row_codes_;
      for (std::uint64_t i = range.begin * row_codes_; i < end; ++i) code_fresh(i);
    }
  }

 private:
  void code_changes(const std::vector<RowRange>& ranges, std::uint64_t changes) {
    if constexpr (!Coder::kDecodes) all_bits_ = has_round_changes(ranges);
    all_bits_ = coder_.raw(1, all_bits_ ? 1 : 0) != 0;
    if (by_gaps(changes, count_rows(ranges) * row_codes_)) {
      code_by_gaps(ranges, changes);
    } else {
      code_by_bits(ranges);
    }
  }

  bool differs(std::uint64_t i) const {
    if constexpr (Coder::kDecodes) return false;
    return load<T>(rows_, i) != load<T>(target_, i);
  }

  void code_by_bits(const std::vector<RowRange>& ranges) {
    unsigned before = 0;
    for (const RowRange& range : ranges) {
      const std::uint64_t end = (range.begin + range.count) * row_codes_;
      for (std::uint64_t i = range.begin * row_codes_; i < end; ++i) {
        const bool changes = coder_.bit(models_.changes[before], differs(i));
        before = (before << 1 | (changes ? 1u : 0u)) & 7;
        if (changes) code_change(i);
      }
    }
  }

  /// The gap may span several ranges.
  void code_by_gaps(const std::vector<RowRange>& ranges, std::uint64_t changes) {
    std::uint64_t gap = 0;
    if constexpr (Coder::kDecodes) gap = models_.gaps.code(coder_, 0);
    for (const RowRange& range : ranges) {
      const std::uint64_t end = (range.begin + range.count) * row_codes_;
      for (std::uint64_t i = range.begin * row_codes_; i < end && changes > 0;) {
        if constexpr (Coder::kDecodes) {
          if (gap >= end - i) {
            gap -= end - i;
            break;
          }
          i += gap;
          code_change(i++);
          if (--changes > 0) gap = models_.gaps.code(coder_, 0);
        } else {
          if (differs(i)) {
            models_.gaps.code(coder_, std::exchange(gap, 0));
            code_change(i);
            --changes;
          } else {
            ++gap;
          }
          ++i;
        }
      }
    }
    if (changes > 0) throw CorruptCode();
  }

  /// Whether many changes end in zeros, as those of whole numbers in floating point do: then their
  /// low bits are worth models.
  bool has_round_changes(const std::vector<RowRange>& ranges) const {
    if (view_.bits <= 8) return false;
    std::uint64_t changes = 0, round = 0;
    for (const RowRange& range : ranges) {
      const std::uint64_t end = (range.begin + range.count) * row_codes_;
      for (std::uint64_t i = range.begin * row_codes_; i < end; ++i) {
        const auto delta = static_cast<std::uint32_t>(load<T>(target_, i) - load<T>(rows_, i));
        if ((delta & mask_) == 0) continue;
        ++changes;
        round += std::countr_zero(delta) >= 6 ? 1 : 0;
      }
    }
    return round * 16 > changes;
  }

  unsigned context(T old) const {
    if (row_codes_ >= kLongRow) return last_length_;
    if (view_.exponent_from > 0) return (old >> view_.exponent_from) & 31;
    auto magnitude = static_cast<std::uint32_t>(old);
    if (view_.is_signed && (magnitude >> (view_.bits - 1)) != 0) {
      magnitude = (0 - magnitude) & mask_;
    }
    return std::min(static_cast<unsigned>(std::bit_width(magnitude)), 31u);
  }

  void code_change(std::uint64_t i) {
    const T old = load<T>(rows_, i);
    const unsigned at = context(old);
    std::uint32_t delta = 0;
    if constexpr (!Coder::kDecodes) {
      delta = static_cast<std::uint32_t>(load<T>(target_, i) - old) & mask_;
    }
    const bool down = coder_.bit(models_.signs[at], delta > mask_ / 2);
    const std::uint32_t size = down ? (0 - delta) & mask_ : delta;
    const unsigned length = code_tree(coder_, models_.lengths[at].data(), 6,
                                      static_cast<std::uint32_t>(std::bit_width(size)));
    if (length == 0 || length > view_.bits) throw CorruptCode();
    last_length_ = std::min(length, 31u);
    const auto coded =
        static_cast<std::uint32_t>(models_.tails.code(coder_, length, all_bits_, size));
    if constexpr (Coder::kDecodes) {
      const std::uint32_t signed_delta = down ? 0 - coded : coded;
      store_code<T>(rows_, i, static_cast<T>((old + signed_delta) & mask_));
    }
  }

  void code_fresh(std::uint64_t i) {
    T value = 0;
    if constexpr (!Coder::kDecodes) value = load<T>(target_, i);
    T result = 0;
    unsigned like = 0;
    for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
      const unsigned shift = 8 * static_cast<unsigned>(sizeof(T) - 1 - byte);
      const std::uint32_t coded =
          code_tree(coder_, models_.bytes[byte][like].data(), 8, (value >> shift) & 0xff);
      like = coded == 0 ? 1 : coded == 0xff ? 2 : 0;
      result = static_cast<T>(result | static_cast<T>(coded) << shift);
    }
    if constexpr (Coder::kDecodes) store_code<T>(rows_, i, result);
  }

  Coder& coder_;
  ColumnModels& models_;
  CodeView view_;
  std::uint32_t mask_;
  std::uint64_t row_codes_;
  std::byte* rows_;
  const std::byte* target_;
  bool all_bits_ = false;
  unsigned last_length_ = 0;
};

std::uint64_t rows_end(const PieceShape& shape) {
  std::uint64_t end = 0;
  for (const auto* ranges : {&shape.changeable, &shape.fresh}) {
    if (!ranges->empty()) end = std::max(end, ranges->back().begin + ranges->back().count);
  }
  return end;
}

template <class Coder>
void code_piece(Coder& coder, ColumnModels& models, const PieceShape& shape, std::uint64_t changes,
                std::byte* rows, const std::byte* target) {
  const CodeView view = view_of(shape.dtype);
  const auto run = [&]<class T>(T, std::byte* to, const std::byte* from, std::uint64_t row_codes) {
    PieceCoder<Coder, T>(coder, models, view, row_codes, to, from).code(shape, changes);
  };
  const auto run_pairs = [&]<class T>(T) {
    const std::uint64_t bytes = rows_end(shape) * shape.row_bytes;
    std::vector<std::byte> codes = unpack<T>(rows, bytes, view.bits), goal;
    if (target != nullptr) goal = unpack<T>(target, bytes, view.bits);
    run(T{}, codes.data(), goal.data(), shape.row_bytes * 8 / view.bits);
    pack<T>(codes, rows, view.bits);
  };
  if (view.bits == 4) return run_pairs(std::uint8_t{});
  if (view.bits == 12) return run_pairs(std::uint16_t{});
  if (view.bits == 8) return run(std::uint8_t{}, rows, target, shape.row_bytes);
  if (view.bits == 16) return run(std::uint16_t{}, rows, target, shape.row_bytes / 2);
  run(std::uint32_t{}, rows, target, shape.row_bytes / 4);
}

template <class T>
std::uint64_t count_unequal(const std::byte* a, const std::byte* b, std::uint64_t bytes) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < bytes / sizeof(T); ++i) {
    count += load<T>(a, i) != load<T>(b, i) ? 1 : 0;
  }
  return count;
}

}  // namespace

std::uint64_t count_changes(const PieceShape& shape, const std::byte* predicted,
                            const std::byte* rows) {
  const unsigned bits = view_of(shape.dtype).bits;
  std::uint64_t changes = 0;
  for (const RowRange& range : shape.changeable) {
    const std::uint64_t from = range.begin * shape.row_bytes;
    const std::uint64_t bytes = range.count * shape.row_bytes;
    const std::byte *a = predicted + from, *b = rows + from;
    if (in_pairs(bits)) {
      for (std::uint64_t at = 0; at < bytes; at += bits / 4) {
        const std::uint32_t unequal = load_pair(a + at, bits) ^ load_pair(b + at, bits);
        changes +=
            ((unequal & ((1u << bits) - 1)) != 0 ? 1u : 0u) + (unequal >> bits != 0 ? 1u : 0u);
      }
    } else {
      changes += bits == 8    ? count_unequal<std::uint8_t>(a, b, bytes)
                 : bits == 16 ? count_unequal<std::uint16_t>(a, b, bytes)
                              : count_unequal<std::uint32_t>(a, b, bytes);
    }
  }
  return changes;
}

void write_piece(RangeEncoder& coder, ColumnModels& models, const PieceShape& shape,
                 std::uint64_t changes, std::byte* predicted, const std::byte* rows) {
  code_piece(coder, models, shape, changes, predicted, rows);
}

void read_piece(RangeDecoder& coder, ColumnModels& models, const PieceShape& shape,
                std::uint64_t changes, std::byte* rows) {
  code_piece(coder, models, shape, changes, rows, nullptr);
}

}  // namespace leveret::patch
