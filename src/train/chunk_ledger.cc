#include "train/chunk_ledger.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <utility>

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

/// Reads a source and, where there is a ledger, asks it at every place where a chunk of it ends.
class Reading {
 public:
  /// Null: it cannot be read twice. `stop` ends the reading.
  static std::unique_ptr<Reading> open(const ChunkLedger* ledger, const std::string& path,
                                       const stream::StopFlag* stop) {
    const std::string name = name_to_read_twice(path);
    if (name.empty()) return nullptr;
    return std::unique_ptr<Reading>(new Reading(ledger, stream::open_source(name, stop), stop));
  }

  /// Reads on until there are `until` bytes, or all. `ends`: places to ask at.
  void read_until(std::uint64_t until, const std::set<std::uint32_t>* ends) {
    while (hasher_.bytes() < until && !is_all_) {
      if (at_ == got_) {
        at_ = 0;
        got_ = source_->read(buffer_.data(), buffer_.size());
        is_all_ = got_ == 0;
      }
      std::uint64_t to = until;
      if (ends != nullptr) {
        const auto next = ends->upper_bound(end());
        if (next != ends->end()) to = std::min<std::uint64_t>(to, *next);
      }
      const std::size_t count = std::min<std::uint64_t>(got_ - at_, to - hasher_.bytes());
      hasher_.add({buffer_.data() + at_, count});
      at_ += count;
      if (ends != nullptr && count > 0 && ends->contains(end()) && ledger_->has(hasher_.get())) {
        known_ = hasher_.bytes();
      }
    }
  }

  /// Whether there was a byte, and nobody stopped it.
  bool has_come() const { return hasher_.bytes() > 0 && !(stop_ != nullptr && stop_->raised()); }
  ChunkHash hash() const { return hasher_.get(); }
  /// The last place where the ledger has all before.
  std::uint64_t known() const { return known_; }

 private:
  Reading(const ChunkLedger* ledger, std::unique_ptr<stream::ByteSource> source,
          const stream::StopFlag* stop)
      : ledger_(ledger), source_(std::move(source)), stop_(stop), buffer_(kReadBytes, '\0') {}

  std::uint32_t end() const {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(hasher_.bytes(), std::numeric_limits<std::uint32_t>::max()));
  }

  const ChunkLedger* const ledger_;
  const std::unique_ptr<stream::ByteSource> source_;
  const stream::StopFlag* const stop_;
  std::string buffer_;
  std::size_t at_ = 0, got_ = 0;
  bool is_all_ = false;
  ChunkHasher hasher_;
  std::uint64_t known_ = 0;
};

}  // namespace

void ChunkHasher::add(std::string_view bytes) {
  if (bytes_ < ChunkHash::kHeadBytes) {
    const std::string_view head = bytes.substr(0, ChunkHash::kHeadBytes - bytes_);
    head_.add(std::as_bytes(std::span(head)));
  }
  content_.add(std::as_bytes(std::span(bytes)));
  bytes_ += bytes.size();
}

ChunkHash ChunkHasher::get() const { return {content_.get().low, bytes_, head_.get().low}; }

ChunkLedger::Entry ChunkLedger::entry_of(const ChunkHash& chunk) {
  const bool fits = chunk.bytes <= std::numeric_limits<std::uint32_t>::max();
  return {chunk.content, static_cast<std::uint32_t>(chunk.head),
          fits ? static_cast<std::uint32_t>(chunk.bytes) : 0};
}

bool ChunkLedger::has_entry(const Entry& entry) const {
  const auto found = heads_of_content_.find(entry.content);
  return found != heads_of_content_.end() && found->second == entry.head;
}

void ChunkLedger::add_entry(const Entry& entry) {
  if (!heads_of_content_.emplace(entry.content, entry.head).second) return;
  entries_.push_back(entry);
  ends_of_head_[entry.head].insert(entry.bytes);
  all_ends_.insert(entry.bytes);
  if (entry.bytes <= ChunkHash::kHeadBytes) short_ends_.insert(entry.bytes);
}

const std::set<std::uint32_t>* ChunkLedger::ends_of_head(std::uint64_t head) const {
  const auto found = ends_of_head_.find(static_cast<std::uint32_t>(head));
  return found == ends_of_head_.end() ? nullptr : &found->second;
}

bool ChunkLedger::may_have_bytes(std::uint64_t bytes) const {
  return all_ends_.contains(0) || all_ends_.contains(entry_of({0, bytes, 0}).bytes);
}

LedgerFind find_learned(const ChunkLedger& ledger, const std::string& path,
                        const stream::StopFlag* stop) try {
  const auto reading = ledger.empty() ? nullptr : Reading::open(&ledger, path, stop);
  if (reading == nullptr) return {};
  reading->read_until(ChunkHash::kHeadBytes, &ledger.short_ends());
  const auto* const ends = ledger.ends_of_head(reading->hash().head);
  if (ends != nullptr) reading->read_until(~std::uint64_t{0}, ends);
  if (!reading->has_come()) return {};
  LedgerFind found;
  if (ends != nullptr && ledger.has(reading->hash())) {
    found.learned = reading->hash();
  } else {
    found.begins_with = reading->known();
  }
  return found;
} catch (const std::exception&) {
  return {};
}

std::optional<ChunkHash> hash_of_file(const std::string& path, const stream::StopFlag* stop) try {
  const auto reading = Reading::open(nullptr, path, stop);
  if (reading == nullptr) return std::nullopt;
  reading->read_until(~std::uint64_t{0}, nullptr);
  if (!reading->has_come()) return std::nullopt;
  return reading->hash();
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace leveret::train
