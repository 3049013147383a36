/// Memory for the small pieces of many tables: one arena, so that all of them together lie in huge
/// pages, where each for itself would be spread over small ones. (39 fields, 100,000 rows, from
/// small pages: FFM k = 8 takes 15 % longer, the default 10 %.)
///
/// One thread at a time. Pieces never move, and are gone with the pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "table/arena.h"

namespace leveret::table {

class Pool {
 public:
  /// Beyond so many bytes a piece is better off with an arena of its own, which grows in place.
  static constexpr std::uint64_t kLargestPiece = std::uint64_t{2} << 20;

  /// At least as many bytes of addresses are reserved, with the first piece.
  explicit Pool(std::uint64_t limit) : limit_(limit) {}

  /// A piece of zeros that begins on a cache line; nullptr when the system has no memory.
  std::byte* take(std::uint64_t bytes);
  /// Another piece may get it.
  void give_back(std::byte* piece, std::uint64_t bytes);
  /// Gives back what is behind the first `after` bytes of a piece of `before` bytes.
  void shorten(std::byte* piece, std::uint64_t before, std::uint64_t after);

 private:
  std::uint64_t limit_;
  Arena arena_;
  std::map<std::byte*, std::uint64_t> free_;  ///< bytes from there on; no two touch
};

}  // namespace leveret::table
