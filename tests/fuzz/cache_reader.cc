// A whole cache file: header, key, blocks, end. Its checksums are mended first, else nothing but
// them would be tried.
#include "cache/cache_reader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "cache/cache_checksum.h"
#include "cache/cache_format.h"

using namespace leveret;
using namespace leveret::cache;

namespace {

void put_checksum(std::string& bytes, std::size_t at, std::uint64_t checksum) {
  if (at + 8 <= bytes.size()) std::memcpy(bytes.data() + at, &checksum, 8);
}

template <typename T>
T get(const std::string& bytes, std::size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void mend(std::string& bytes) {
  const std::string_view all = bytes;
  std::size_t at = 16 + std::size_t{get<std::uint32_t>(bytes, 12)};
  if (at + 8 > bytes.size()) return;
  put_checksum(bytes, at, cache_checksum(all.substr(0, at)));
  at += 8;
  while (get<std::uint32_t>(bytes, at) == kBlockMagic && at + kBlockHeaderSize <= bytes.size()) {
    const auto size = get<std::uint64_t>(bytes, at + 16);
    if (size > bytes.size() - at - kBlockHeaderSize) break;
    const std::uint64_t seed = cache_checksum(all.substr(at, 24));
    put_checksum(bytes, at + 24, cache_checksum(all.substr(at + kBlockHeaderSize, size), seed));
    at += kBlockHeaderSize + size;
  }
  if (bytes.size() < kEndSize) return;
  at = bytes.size() - kEndSize;
  put_checksum(bytes, at + kEndSize - 8, cache_checksum(all.substr(at, kEndSize - 8)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  mend(bytes);
  static const int fd = memfd_create("cache", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes.data(), bytes.size(), 0) < 0) std::abort();
  try {
    text::NamespaceNames names;
    CacheReader reader(path, names, nullptr);
    text::ExampleChunk chunk;
    while (reader.next(chunk)) {
      if (reader.source_name(chunk.source).size() > size) std::abort();
    }
  } catch (const std::runtime_error&) {
  }
  return 0;
}
