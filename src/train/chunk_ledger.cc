#include "train/chunk_ledger.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <span>

#include "stream/byte_source.h"

namespace leveret::train {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;

/// The file by a name under which it is read from its start without moving anybody's place in it;
/// empty: there is none.
std::string name_to_read_twice(const std::string& path) {
  struct stat info;
  if (path != "-") {
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? path : std::string();
  }
  const bool is_at_start = ::fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode) &&
                           ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
  return is_at_start ? "/proc/self/fd/0" : "";
}

/// Reads on until the hasher has `until` bytes, or all. False when there was no more.
bool read_until(stream::ByteSource& source, std::uint64_t until, ChunkHasher& to) {
  std::string buffer(kReadBytes, '\0');
  while (to.bytes() < until) {
    const std::size_t got = source.read(buffer.data(), buffer.size());
    if (got == 0) return false;
    to.add({buffer.data(), got});
  }
  return true;
}

/// `ledger` null: any chunk is wanted.
std::optional<ChunkHash> hash_of(const ChunkLedger* ledger, const std::string& path,
                                 const stream::StopFlag* stop) try {
  const std::string name = name_to_read_twice(path);
  if (name.empty()) return std::nullopt;
  const std::unique_ptr<stream::ByteSource> source = stream::open_source(name, stop);
  ChunkHasher hasher;
  read_until(*source, ChunkHash::kHeadBytes, hasher);
  if (ledger != nullptr && !ledger->has_head(hasher.get().head)) return std::nullopt;
  read_until(*source, ~std::uint64_t{0}, hasher);
  if (hasher.bytes() == 0 || (stop != nullptr && stop->raised())) return std::nullopt;
  return hasher.get();
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace

void ChunkHasher::add(std::string_view bytes) {
  if (bytes_ < ChunkHash::kHeadBytes) {
    const std::string_view head = bytes.substr(0, ChunkHash::kHeadBytes - bytes_);
    head_.add(std::as_bytes(std::span(head)));
  }
  content_.add(std::as_bytes(std::span(bytes)));
  bytes_ += bytes.size();
}

ChunkHash ChunkHasher::get() const { return {content_.get(), head_.get().low}; }

bool ChunkLedger::has(const ChunkHash& chunk) const {
  return std::ranges::find(chunks_, chunk) != chunks_.end();
}

bool ChunkLedger::has_head(std::uint64_t head) const {
  return std::ranges::find(chunks_, head, &ChunkHash::head) != chunks_.end();
}

void ChunkLedger::add(const ChunkHash& chunk) {
  std::erase(chunks_, chunk);
  if (chunks_.size() == kMost) chunks_.erase(chunks_.begin());
  chunks_.push_back(chunk);
}

std::optional<ChunkHash> find_learned(const ChunkLedger& ledger, const std::string& path,
                                      const stream::StopFlag* stop) {
  if (ledger.empty()) return std::nullopt;
  const std::optional<ChunkHash> found = hash_of(&ledger, path, stop);
  return found && ledger.has(*found) ? found : std::nullopt;
}

std::optional<ChunkHash> hash_of_file(const std::string& path, const stream::StopFlag* stop) {
  return hash_of(nullptr, path, stop);
}

}  // namespace leveret::train
