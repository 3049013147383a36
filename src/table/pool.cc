#include "table/pool.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "table/aligned.h"

namespace leveret::table {
namespace {

/// Rows of a file are loaded, and rows that stand for others are made, whatever the limit.
/// Addresses cost nothing.
constexpr std::uint64_t kLeastAddresses = std::uint64_t{1} << 40;

std::uint64_t in_lines(std::uint64_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

}  // namespace

std::byte* Pool::take(std::uint64_t bytes) {
  bytes = in_lines(bytes);
  // The smallest that will do; there are few.
  auto best = free_.end();
  for (auto piece = free_.begin(); piece != free_.end(); ++piece) {
    if (piece->second >= bytes && (best == free_.end() || piece->second < best->second)) {
      best = piece;
      if (best->second == bytes) break;
    }
  }
  if (best != free_.end()) {
    const auto [at, there] = *best;
    free_.erase(best);
    if (there > bytes) free_.emplace(at + bytes, there - bytes);
    std::memset(at, 0, bytes);
    return at;
  }
  try {
    if (arena_.reserved() == 0) arena_ = Arena(std::max(limit_, kLeastAddresses));
  } catch (const std::runtime_error&) {
    return nullptr;  // no addresses
  }
  const std::uint64_t begin = arena_.size();
  return arena_.resize(begin + bytes) ? arena_.data() + begin : nullptr;
}

void Pool::give_back(std::byte* piece, std::uint64_t bytes) {
  bytes = in_lines(bytes);
  auto next = free_.lower_bound(piece);
  if (next != free_.end() && piece + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == piece) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(piece, bytes);
}

void Pool::shorten(std::byte* piece, std::uint64_t before, std::uint64_t after) {
  const std::uint64_t kept = in_lines(after), all = in_lines(before);
  if (kept < all) give_back(piece + kept, all - kept);
}

}  // namespace leveret::table
