/// The cache file: the parsed stream, to be read again without text.
///
///     header  8 bytes "LVRTCACH", u32 version, u32 size of the key, the key (cache_key.cc),
///             u64 checksum of all before
///     blocks  u32 "BLCK", u32 packing (0 stored, 1 zstd), u64 size unpacked, u64 size here,
///             u64 checksum (XXH3 of the 24 bytes before, then of the content seeded by that),
///             content: cache_block.h
///     sums    of the text of each source, where they are known: u64 content, bytes, head;
///             u64 checksum of all of them
///     end     u32 "ENDE", u32 number of sums, u64 blocks, examples, features, bad lines, blank
///             lines, u64 checksum of the end before
///
/// All little-endian. Nothing follows the end, so a cut file is known; each block stands alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leveret::cache {

inline constexpr std::string_view kCacheMagic = "LVRTCACH";
inline constexpr std::uint32_t kCacheVersion = 2;
inline constexpr std::uint32_t kBlockMagic = 0x4b434c42;  // "BLCK"
inline constexpr std::uint32_t kEndMagic = 0x45444e45;    // "ENDE"
inline constexpr std::size_t kBlockHeaderSize = 32;
inline constexpr std::size_t kSumSize = 24;
inline constexpr std::size_t kEndSize = 56;

enum class BlockPacking : std::uint32_t { kStored = 0, kZstd = 1 };

/// No block unpacks to more, and none above kFreeBlockBytes to more than kMaxBlockRatio times its
/// size: a writer stores it then. So a small hostile file cannot ask for much memory.
inline constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kFreeBlockBytes = 16 << 20;
inline constexpr std::uint64_t kMaxBlockRatio = 256;

struct CacheTotals {
  std::uint64_t blocks = 0, examples = 0, features = 0;
  std::uint64_t bad_lines = 0, blank_lines = 0;  ///< of which the cache holds the places alone
};

}  // namespace leveret::cache
