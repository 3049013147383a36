#include "cache/cache_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "cache/cache_checksum.h"
#include "files/bytes.h"
#include "stream/input_file.h"

namespace leveret::cache {
namespace {

/// A descriptor for the identity alone; standard input's place in the file must not move.
class IdentityFile {
 public:
  explicit IdentityFile(const std::string& path)
      : fd_(path == "-" ? dup(STDIN_FILENO)
                        : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) fail(path);
    if (fstat(fd_, &info_) != 0) {
      close(fd_);
      fail(path);
    }
  }
  ~IdentityFile() { close(fd_); }
  IdentityFile(const IdentityFile&) = delete;
  IdentityFile& operator=(const IdentityFile&) = delete;

  const struct stat& info() const { return info_; }
  std::uint64_t hash(std::uint64_t begin, std::size_t size) const {
    std::string bytes(size, '\0');
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got =
          pread(fd_, bytes.data() + done, size - done, static_cast<off_t>(begin + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;  // it shrank just now: its hash will not be that of any file
      done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return cache_checksum(bytes);
  }

 private:
  [[noreturn]] static void fail(const std::string& path) {
    throw std::runtime_error(fmt::format("{}: cannot read: {}; check the path and its permissions",
                                         stream::display_name(path), std::strerror(errno)));
  }

  int fd_;
  struct stat info_;
};

SourceIdentity identify(const std::string& path) {
  SourceIdentity id;
  id.name = stream::display_name(path);
  if (path != "-") {
    // Not opened: that would make the writer of a named pipe believe in a reader.
    struct stat info;
    if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return id;
  }
  const IdentityFile file(path);
  if (!S_ISREG(file.info().st_mode)) return id;
  id.is_regular = true;
  id.size = static_cast<std::uint64_t>(file.info().st_size);
  id.mtime_ns =
      file.info().st_mtim.tv_sec * std::int64_t{1'000'000'000} + file.info().st_mtim.tv_nsec;
  const auto part =
      static_cast<std::size_t>(std::min<std::uint64_t>(id.size, SourceIdentity::kIdentityBytes));
  id.head_hash = file.hash(0, part);
  id.tail_hash = file.hash(id.size - part, part);
  return id;
}

std::string source_mismatch(const SourceIdentity& cached, const SourceIdentity& wanted) {
  if (!cached.is_regular || !wanted.is_regular) {
    return fmt::format("{} is no regular file, so it cannot be known to be the same as before",
                       cached.is_regular ? wanted.name : cached.name);
  }
  if (cached.size != wanted.size) {
    return fmt::format("{} has {} bytes now, {} had {} when the cache was made", wanted.name,
                       wanted.size, cached.name, cached.size);
  }
  if (cached.head_hash != wanted.head_hash || cached.tail_hash != wanted.tail_hash) {
    return fmt::format("{} holds other bytes than {} did when the cache was made", wanted.name,
                       cached.name);
  }
  if (cached.mtime_ns != wanted.mtime_ns) {
    return fmt::format("{} was written to since the cache was made", wanted.name);
  }
  return {};
}

const char* hash_name_of(text::HashMode mode) {
  return mode == text::HashMode::kAll ? "all" : "strings";
}

}  // namespace

CacheKey make_cache_key(const std::vector<std::string>& paths, const text::ParserOptions& options,
                        std::size_t max_line) {
  CacheKey key;
  for (const std::string& path : paths) key.sources.push_back(identify(path));
  if (paths.empty()) key.sources.push_back(identify("-"));
  key.hash = options.hash;
  key.hash_seed = options.hash_seed;
  key.max_line = std::min<std::size_t>(max_line, options.max_line);
  key.numbers = options.numbers;
  key.only_numbers = options.only_numbers;
  std::sort(key.numbers.begin(), key.numbers.end());
  std::sort(key.only_numbers.begin(), key.only_numbers.end());
  return key;
}

std::string cache_mismatch(const CacheKey& cached, const CacheKey& wanted) {
  if (cached.hash != wanted.hash) {
    return fmt::format("it was made with --hash {}, not {}", hash_name_of(cached.hash),
                       hash_name_of(wanted.hash));
  }
  if (cached.hash_seed != wanted.hash_seed) {
    return fmt::format("it was made with --hash_seed {}, not {}", cached.hash_seed,
                       wanted.hash_seed);
  }
  if (cached.max_line != wanted.max_line) {
    return fmt::format("it was made with --max_line {}, not {}", cached.max_line, wanted.max_line);
  }
  for (const std::string& space : wanted.numbers) {
    if (!std::binary_search(cached.numbers.begin(), cached.numbers.end(), space)) {
      return fmt::format(
          "it was made without the numbers of namespace {}, which --transform or --numeric reads",
          space);
    }
  }
  if (cached.only_numbers != wanted.only_numbers) {
    const auto option = [](const std::vector<std::string>& names) {
      return names.empty() ? std::string("without --numeric")
                           : fmt::format("with --numeric {}", fmt::join(names, ","));
    };
    return fmt::format("it was made {}, and this run is {}, which decides what lines are bad",
                       option(cached.only_numbers), option(wanted.only_numbers));
  }
  if (cached.sources.size() != wanted.sources.size()) {
    return fmt::format("it was made from {} files, not {}", cached.sources.size(),
                       wanted.sources.size());
  }
  for (std::size_t i = 0; i < cached.sources.size(); ++i) {
    const std::string reason = source_mismatch(cached.sources[i], wanted.sources[i]);
    if (!reason.empty()) return reason;
  }
  return {};
}

void put_cache_key(const CacheKey& key, std::string& to) {
  files::put<std::uint8_t>(to, static_cast<std::uint8_t>(key.hash));
  files::put(to, key.hash_seed);
  files::put(to, key.max_line);
  files::put(to, static_cast<std::uint32_t>(key.sources.size()));
  for (const SourceIdentity& id : key.sources) {
    files::put_text(to, id.name);
    files::put<std::uint8_t>(to, id.is_regular);
    files::put(to, id.size);
    files::put(to, id.mtime_ns);
    files::put(to, id.head_hash);
    files::put(to, id.tail_hash);
  }
  // Left out when empty: caches without numbers are as they were before there were any.
  for (const auto* names : {&key.numbers, &key.only_numbers}) {
    if (names->empty()) return;
    files::put(to, static_cast<std::uint32_t>(names->size()));
    for (const std::string& space : *names) files::put_text(to, space);
  }
}

CacheKey get_cache_key(files::BytesReader& from) {
  CacheKey key;
  const auto hash = from.get<std::uint8_t>();
  from.check(hash <= static_cast<std::uint8_t>(text::HashMode::kAll), "its hash is unknown");
  key.hash = static_cast<text::HashMode>(hash);
  key.hash_seed = from.get<std::uint32_t>();
  key.max_line = from.get<std::uint64_t>();
  key.sources.resize(from.get_count(37));
  for (SourceIdentity& id : key.sources) {
    id.name = from.get_text();
    id.is_regular = from.get<std::uint8_t>() != 0;
    id.size = from.get<std::uint64_t>();
    id.mtime_ns = from.get<std::int64_t>();
    id.head_hash = from.get<std::uint64_t>();
    id.tail_hash = from.get<std::uint64_t>();
  }
  for (auto* names : {&key.numbers, &key.only_numbers}) {
    if (from.empty()) return key;
    names->resize(from.get_count(4));
    for (std::string& space : *names) space = from.get_text();
    from.check(std::is_sorted(names->begin(), names->end()),
               "its namespaces with numbers are not in order");
  }
  return key;
}

}  // namespace leveret::cache
