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
  Piece* best = nullptr;
  for (Piece& piece : free_) {
    if (piece.bytes >= bytes && (best == nullptr || piece.bytes < best->bytes)) best = &piece;
  }
  if (best != nullptr) {
    std::byte* const at = best->at;
    best->at += bytes;
    best->bytes -= bytes;
    if (best->bytes == 0) {
      *best = free_.back();
      free_.pop_back();
    }
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
  free_.push_back({piece, in_lines(bytes)});
}

}  // namespace leveret::table
