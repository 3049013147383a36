#include "cache/cache_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>

#include "cache/cache_checksum.h"
#include "cache/cache_format.h"
#include "files/bytes.h"

namespace leveret::cache {
namespace {

constexpr std::size_t kHeaderStart = 16;  // magic, version, size of the key
constexpr std::size_t kMaxKeyBytes = 64 << 20;
constexpr std::size_t kChecksumBytes = 8;

/// Gives `to` this size, whatever is in it. Blocks are of about one size: with a little more room
/// for the first, what follows finds its place without touching new memory.
void set_size(std::string& to, std::size_t size) {
  if (to.capacity() < size) {
    to = std::string();
    to.reserve(size + size / 8);
  }
  to.resize(size);
}

}  // namespace

CacheFile::CacheFile(const std::string& path) : path_(path) {
  fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (fd_ < 0 || fstat(fd_, &info) != 0) {
    const int error = errno;
    if (fd_ >= 0) close(fd_);
    throw std::runtime_error(
        fmt::format("{}: cannot open the cache: {}; check the path", path, std::strerror(error)));
  }
  try {
    if (!S_ISREG(info.st_mode)) {
      throw std::runtime_error(path +
                               ": is no regular file, and so no cache; give another --cache");
    }
    info_.file_bytes = static_cast<std::uint64_t>(info.st_size);
    posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
    read_header();
    read_end();
    context_ = ZSTD_createDCtx();
    if (!context_) throw std::bad_alloc();
  } catch (...) {
    close(fd_);
    throw;
  }
}

CacheFile::~CacheFile() {
  ZSTD_freeDCtx(context_);
  close(fd_);
}

void CacheFile::read_header() {
  read_at(0, std::min<std::uint64_t>(info_.file_bytes, kHeaderStart), header_);
  if (std::string_view(header_).substr(0, kCacheMagic.size()) != kCacheMagic) {
    throw std::runtime_error(fmt::format(
        "{}: is not a Leveret cache; give the data by -d and another file by --cache", path_));
  }
  if (header_.size() < kHeaderStart) fail(header_.size(), "it ends within the header");
  files::BytesReader start(std::string_view(header_).substr(kCacheMagic.size()));
  const auto version = start.get<std::uint32_t>();
  if (version != kCacheVersion) {
    throw std::runtime_error(
        fmt::format("{}: is a cache of version {}, this program reads version {}; delete it, and "
                    "it is made anew",
                    path_, version, kCacheVersion));
  }
  const auto key_size = start.get<std::uint32_t>();
  if (key_size > kMaxKeyBytes || key_size + kHeaderStart + kChecksumBytes > info_.file_bytes) {
    fail(12, "it ends within the header");
  }
  const std::size_t checked = kHeaderStart + key_size;
  read_at(0, checked + kChecksumBytes, header_);
  files::BytesReader key(std::string_view(header_).substr(kHeaderStart));
  const std::string_view key_bytes = key.take(key_size);
  if (key.get<std::uint64_t>() != cache_checksum(std::string_view(header_).substr(0, checked))) {
    fail(0, "the checksum of its header differs");
  }
  try {
    files::BytesReader from(key_bytes);
    info_.key = get_cache_key(from);
    from.check(from.empty(), "its key is too long");
  } catch (const files::BytesReader::BadBytes& bad) {
    fail(kHeaderStart, bad.what());
  }
  next_offset_ = block_offset_ = checked + kChecksumBytes;
}

void CacheFile::read_end() {
  if (info_.file_bytes < next_offset_ + kEndSize) fail(info_.file_bytes, "it is cut off");
  blocks_end_ = info_.file_bytes - kEndSize;
  std::string end;
  read_at(blocks_end_, kEndSize, end);
  files::BytesReader from(end);
  const auto magic = from.get<std::uint32_t>();
  const auto sums = from.get<std::uint32_t>();
  CacheTotals& totals = info_.totals;
  for (std::uint64_t* total : {&totals.blocks, &totals.examples, &totals.features,
                               &totals.bad_lines, &totals.blank_lines}) {
    *total = from.get<std::uint64_t>();
  }
  const std::string_view checked = std::string_view(end).substr(0, kEndSize - kChecksumBytes);
  if (magic != kEndMagic || from.get<std::uint64_t>() != cache_checksum(checked)) {
    fail(blocks_end_, "it does not end as a cache does: it is cut off, or something follows");
  }
  if (sums > 0) read_sums(sums);
}

/// They lie before the end.
void CacheFile::read_sums(std::uint32_t count) {
  const std::uint64_t size = std::uint64_t{count} * kSumSize + kChecksumBytes;
  if (count != info_.key.sources.size() || blocks_end_ - next_offset_ < size) {
    fail(blocks_end_, "the sums of its sources are not all there");
  }
  blocks_end_ -= size;
  std::string sums;
  read_at(blocks_end_, size, sums);
  files::BytesReader from(sums);
  for (std::uint32_t i = 0; i < count; ++i) {
    stream::TextSum& sum = info_.sums.emplace_back();
    for (std::uint64_t* part : {&sum.content, &sum.bytes, &sum.head}) {
      *part = from.get<std::uint64_t>();
    }
  }
  const std::string_view checked = std::string_view(sums).substr(0, size - kChecksumBytes);
  if (from.get<std::uint64_t>() != cache_checksum(checked)) {
    fail(blocks_end_, "the checksum of the sums of its sources differs");
  }
}

bool CacheFile::next(std::string& block) {
  block_offset_ = next_offset_;
  if (next_offset_ == blocks_end_) {
    if (blocks_ != info_.totals.blocks) fail(next_offset_, "blocks are missing");
    return false;
  }
  if (blocks_end_ - next_offset_ < kBlockHeaderSize) fail(next_offset_, "a block is cut off");
  read_at(next_offset_, kBlockHeaderSize, header_);
  files::BytesReader from(header_);
  const bool is_block = from.get<std::uint32_t>() == kBlockMagic;
  const auto packing = from.get<std::uint32_t>();
  const auto unpacked_size = from.get<std::uint64_t>();
  const auto size = from.get<std::uint64_t>();
  const auto checksum = from.get<std::uint64_t>();
  if (!is_block || packing > static_cast<std::uint32_t>(BlockPacking::kZstd)) {
    fail_block("no block begins there");
  }
  if (size > blocks_end_ - next_offset_ - kBlockHeaderSize) fail_block("a block is cut off");
  const bool too_large = unpacked_size > kMaxBlockBytes ||
                         (unpacked_size > kFreeBlockBytes && unpacked_size / kMaxBlockRatio > size);
  const bool is_packed = packing == static_cast<std::uint32_t>(BlockPacking::kZstd);
  if (too_large || (!is_packed && unpacked_size != size))
    fail_block("the size of a block is wrong");
  std::string& content = is_packed ? packed_ : block;
  read_at(next_offset_ + kBlockHeaderSize, size, content);
  const std::string_view checked = std::string_view(header_).substr(0, kBlockHeaderSize - 8);
  if (checksum != cache_checksum(content, cache_checksum(checked))) {
    fail_block("the checksum of a block differs");
  }
  if (is_packed) unpack(unpacked_size, block);
  next_offset_ += kBlockHeaderSize + size;
  ++blocks_;
  return true;
}

void CacheFile::unpack(std::uint64_t unpacked_size, std::string& block) {
  set_size(block, unpacked_size);
  const std::size_t got =
      ZSTD_decompressDCtx(context_, block.data(), block.size(), packed_.data(), packed_.size());
  if (ZSTD_isError(got) || got != unpacked_size) fail_block("a block does not unpack");
}

/// Replaces `to` by bytes [offset, offset + size) of the file.
void CacheFile::read_at(std::uint64_t offset, std::size_t size, std::string& to) const {
  set_size(to, size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got =
        pread(fd_, to.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(offset + done, std::strerror(errno));
    if (got == 0) fail(offset + done, "it became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
}

void CacheFile::fail_block(const char* what) const { fail(block_offset_, what); }

void CacheFile::fail(std::uint64_t offset, const char* what) const {
  throw std::runtime_error(fmt::format(
      "{}: the cache is broken at byte {}: {}; delete it, or give -k, and it is made anew", path_,
      offset, what));
}

}  // namespace leveret::cache
