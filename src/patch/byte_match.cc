// As rsync does (A. Tridgell 1999): sums of the old file's chunks, and a sum that rolls over the
// new one. Unlike there, what lies where it lay, changed, is taken as such (as bsdiff does), so
// that the differences are small numbers.
#include "patch/byte_match.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace leveret::patch {
namespace {

constexpr std::uint64_t kMinChunk = 64, kMaxChunks = std::uint64_t{1} << 20;
constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;  // odd

/// A polynomial over the last `width` bytes.
class RollingSum {
 public:
  explicit RollingSum(std::uint64_t width) {
    for (std::uint64_t i = 0; i < width; ++i) out_ *= kFactor;
  }
  void add(std::byte b) { sum_ = sum_ * kFactor + value(b); }
  void roll(std::byte out, std::byte in) {
    add(in);
    sum_ -= value(out) * out_;
  }
  std::uint64_t get() const { return sum_ ^ sum_ >> 32; }

 private:
  static std::uint64_t value(std::byte b) { return std::to_integer<std::uint64_t>(b) + 1; }

  std::uint64_t sum_ = 0, out_ = 1;
};

std::uint64_t sum_of(const std::byte* bytes, std::uint64_t count) {
  RollingSum sum(0);
  for (std::uint64_t i = 0; i < count; ++i) sum.add(bytes[i]);
  return sum.get();
}

/// The chunks of the old file by their sum; of equal ones the first.
class ChunkIndex {
 public:
  ChunkIndex(RowWindow& before, std::uint64_t bytes)
      : chunk_(std::bit_ceil(std::max(kMinChunk, bytes / kMaxChunks))),
        mask_(std::bit_ceil(2 * (bytes / chunk_) + 1) - 1),
        slots_(mask_ + 1) {
    for (std::uint64_t i = 0; i < bytes / chunk_; ++i) {
      const std::uint64_t sum = sum_of(before.rows(i * chunk_, chunk_), chunk_);
      Slot& slot = slots_[place_of(sum)];
      if (slot.chunk == 0) slot = {tag_of(sum), static_cast<std::uint32_t>(i + 1)};
    }
  }

  std::uint64_t chunk() const { return chunk_; }
  /// Where a chunk with this sum begins.
  std::optional<std::uint64_t> find(std::uint64_t sum) const {
    const Slot& slot = slots_[place_of(sum)];
    if (slot.chunk == 0) return std::nullopt;
    return (slot.chunk - std::uint64_t{1}) * chunk_;
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t chunk = 0;  ///< its number + 1; 0: the slot is free
  };

  static std::uint32_t tag_of(std::uint64_t sum) { return static_cast<std::uint32_t>(sum); }
  /// The slot that has the sum, or the free one that it would get.
  std::uint64_t place_of(std::uint64_t sum) const {
    std::uint64_t at = (sum * kFactor >> 32) & mask_;
    while (slots_[at].chunk != 0 && slots_[at].tag != tag_of(sum)) at = (at + 1) & mask_;
    return at;
  }

  std::uint64_t chunk_, mask_;
  std::vector<Slot> slots_;
};

std::uint64_t count_equal(const std::byte* a, const std::byte* b, std::uint64_t count) {
  std::uint64_t equal = 0;
  for (std::uint64_t i = 0; i < count; ++i) equal += a[i] == b[i] ? 1 : 0;
  return equal;
}

class Matcher {
 public:
  Matcher(const ReadAt& before, std::uint64_t old_bytes, const ReadAt& now, std::uint64_t new_bytes)
      : old_bytes_(old_bytes),
        new_bytes_(new_bytes),
        old_for_index_(before, 0, old_bytes, 1),
        old_(before, 0, old_bytes, 1),
        now_(now, 0, new_bytes, 1),
        index_(old_for_index_, old_bytes) {}

  RowMap match() {
    while (at_ < new_bytes_) step();
    return std::move(map_);
  }

 private:
  /// Settles the next chunk, or what comes before one that is found elsewhere.
  void step() {
    const std::uint64_t count = std::min(index_.chunk(), new_bytes_ - at_);
    const std::uint64_t from = at_ + shift_;  // wraps where the shift is back
    const bool inside = from < old_bytes_ && count <= old_bytes_ - from;
    std::uint64_t equal = 0;
    if (inside) equal = count_equal(now_.rows(at_, count), old_.rows(from, count), count);
    if (equal * 8 >= count * 7 && inside) return append(count, from);
    const std::uint64_t seen = std::min(2 * index_.chunk(), new_bytes_ - at_);
    const std::uint64_t before = search(now_.rows(at_, seen), seen);
    append(std::min(before, count), inside && equal * 4 >= count ? from : RowMap::kNone);
  }

  void append(std::uint64_t count, std::uint64_t from) {
    map_.append(count, from);
    at_ += count;
  }

  /// Looks for a chunk of the old file that begins in the first half of these bytes. Sets the shift
  /// and gives how many bytes come before; all where none is found.
  std::uint64_t search(const std::byte* bytes, std::uint64_t count) {
    const std::uint64_t chunk = index_.chunk();
    if (count < chunk) return count;
    RollingSum sum(chunk);
    for (std::uint64_t i = 0; i < chunk; ++i) sum.add(bytes[i]);
    for (std::uint64_t i = 0;; ++i) {
      const std::optional<std::uint64_t> found = index_.find(sum.get());
      // A chunk at the place that is known to be unlike is no news.
      if (found && *found != at_ + i + shift_ &&
          std::memcmp(old_.rows(*found, chunk), bytes + i, chunk) == 0) {
        shift_ = *found - (at_ + i);
        return i - common_before(bytes, i, *found);
      }
      if (i + 1 == chunk || i + chunk == count) return count;
      sum.roll(bytes[i], bytes[i + chunk]);
    }
  }

  /// How many of the bytes before `i` are those before `from`, too.
  std::uint64_t common_before(const std::byte* bytes, std::uint64_t i, std::uint64_t from) {
    const std::uint64_t most = std::min(i, from);
    const std::byte* const old = old_.rows(from - most, most);
    std::uint64_t common = 0;
    while (common < most && old[most - 1 - common] == bytes[i - 1 - common]) ++common;
    return common;
  }

  std::uint64_t old_bytes_, new_bytes_;
  RowWindow old_for_index_, old_, now_;
  ChunkIndex index_;
  std::uint64_t at_ = 0, shift_ = 0;
  RowMap map_;
};

}  // namespace

RowMap match_bytes(const ReadAt& before, std::uint64_t old_bytes, const ReadAt& now,
                   std::uint64_t new_bytes) {
  return Matcher(before, old_bytes, now, new_bytes).match();
}

}  // namespace leveret::patch
