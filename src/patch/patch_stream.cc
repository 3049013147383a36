#include "patch/patch_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "store/layout_bytes.h"

namespace leveret::patch {
namespace {

constexpr std::uint64_t kKnownPatchFlags = 0;

namespace front {
constexpr std::size_t kVersion = 8, kKind = 12, kFlags = 16, kBase = 24, kResult = 40;
constexpr std::size_t kBaseBytes = 56, kResultBytes = 64, kBaseSequence = 72, kResultSequence = 80;
constexpr std::size_t kLine = 88, kChecksum = 104, kBytes = 112;
}  // namespace front

constexpr std::size_t kRecordHead = 16;

// Bytes that are read at a time: so much may be asked for before it is known to be there.
constexpr std::size_t kReadBytes = std::size_t{1} << 20;

constexpr const char* kDamaged = "copy it again, or make it again";
constexpr const char* kNewer = "it was made by a newer leveret: update this one";

[[noreturn]] void fail(const std::string& path, std::uint64_t offset, const std::string& what,
                       const char* remedy) {
  throw std::runtime_error(fmt::format("{}: byte {}: {}; {}", path, offset, what, remedy));
}

/// Different for each record of each patch, so that none takes the place of another.
std::uint64_t seed_of(std::uint64_t salt, std::uint64_t number, std::uint32_t type) {
  return salt + (number << 8) + type;
}

void put_checksum(std::span<std::byte> to, std::size_t offset, const store::Checksum& checksum) {
  store::put(to, offset, checksum.low);
  store::put(to, offset + 8, checksum.high);
}

store::Checksum get_checksum(std::span<const std::byte> from, std::size_t offset) {
  return {store::get<std::uint64_t>(from, offset), store::get<std::uint64_t>(from, offset + 8)};
}

}  // namespace

PatchWriter::PatchWriter(files::AtomicFile& file, const PatchFront& patch) : file_(file) {
  std::array<std::byte, front::kBytes> bytes = {};
  const std::span to(bytes);
  std::memcpy(bytes.data(), store::kPatchMagic.data(), store::kPatchMagic.size());
  store::put(to, front::kVersion, kPatchVersion);
  store::put(to, front::kKind, static_cast<std::uint32_t>(patch.kind));
  store::put(to, front::kFlags, kKnownPatchFlags);
  put_checksum(to, front::kBase, patch.base.fingerprint);
  put_checksum(to, front::kResult, patch.result.fingerprint);
  store::put(to, front::kBaseBytes, patch.base.bytes);
  store::put(to, front::kResultBytes, patch.result.bytes);
  store::put(to, front::kBaseSequence, patch.base.sequence);
  store::put(to, front::kResultSequence, patch.result.sequence);
  std::ranges::copy(patch.line, to.subspan(front::kLine).begin());
  salt_ = store::seeded_checksum(to.first(front::kChecksum), 0);
  store::put(to, front::kChecksum, salt_);
  file_.write(to);
}

void PatchWriter::write(RecordType type, std::span<const std::byte> content) {
  if (content.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw std::runtime_error(
        fmt::format("{}: a record of {} bytes does not fit into a patch; send the whole file",
                    file_.path(), content.size()));
  }
  std::array<std::byte, kRecordHead> head;
  const std::span to(head);
  store::put(to, 0, static_cast<std::uint32_t>(content.size()));
  store::put(to, 4, static_cast<std::uint32_t>(type));
  store::put(to, 8,
             store::seeded_checksum(content,
                                    seed_of(salt_, records_++, static_cast<std::uint32_t>(type))));
  file_.write(to);
  file_.write(content);
}

void PatchWriter::end() {
  std::array<std::byte, 8> content;
  store::put(std::span(content), 0, records_);
  write(RecordType::kEnd, content);
}

PatchReader::PatchReader(const std::string& path) : path_(path) {
  if (path == "-") {
    fd_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    path_ = "standard input";
  } else {
    do fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    while (fd_ < 0 && errno == EINTR);
  }
  if (fd_ < 0) {
    throw std::runtime_error(fmt::format("{}: cannot open: {}; check the name and its permissions",
                                         path_, std::strerror(errno)));
  }
  struct stat status;
  again_ = path != "-" && ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  try {
    read_front();
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

PatchReader::PatchReader(PatchReader&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      again_(other.again_),
      front_(other.front_),
      salt_(other.salt_),
      records_(other.records_),
      offset_(other.offset_) {}

PatchReader::~PatchReader() {
  if (fd_ >= 0) ::close(fd_);
}

void PatchReader::read_front() {
  std::array<std::byte, front::kBytes> bytes;
  const std::span from(bytes);
  const std::size_t there = read_some(from);
  if (there == 0) fail(path_, 0, "the file is empty", kDamaged);
  const std::size_t common = std::min(there, store::kPatchMagic.size());
  if (std::memcmp(bytes.data(), store::kPatchMagic.data(), common) != 0) {
    fail(path_, 0, "this is no patch of leveret", "check the name, and the order of the files");
  }
  if (there < front::kBytes) fail(path_, there, "the patch ends inside its front", kDamaged);
  const auto version = store::get<std::uint32_t>(from, front::kVersion);
  if (version > kPatchVersion) {
    fail(path_, front::kVersion, fmt::format("version {} of the format is not known", version),
         kNewer);
  }
  const auto flags = store::get<std::uint64_t>(from, front::kFlags);
  if ((flags & ~kKnownPatchFlags) != 0) {
    fail(path_, front::kFlags, fmt::format("feature flags {:#x} are not known", flags), kNewer);
  }
  salt_ = store::get<std::uint64_t>(from, front::kChecksum);
  if (version == 0 || salt_ != store::seeded_checksum(from.first(front::kChecksum), 0)) {
    fail(path_, 0, "its front does not have its checksum", kDamaged);
  }
  const auto kind = store::get<std::uint32_t>(from, front::kKind);
  if (kind != 1 && kind != 2) {
    fail(path_, front::kKind, fmt::format("kind {} of a patch is not known", kind), kNewer);
  }
  front_.kind = static_cast<PatchKind>(kind);
  front_.base = {get_checksum(from, front::kBase),
                 store::get<std::uint64_t>(from, front::kBaseBytes),
                 store::get<std::uint64_t>(from, front::kBaseSequence)};
  front_.result = {get_checksum(from, front::kResult),
                   store::get<std::uint64_t>(from, front::kResultBytes),
                   store::get<std::uint64_t>(from, front::kResultSequence)};
  std::ranges::copy(from.subspan(front::kLine, front_.line.size()), front_.line.begin());
}

/// All of it, or what there is until the end.
std::size_t PatchReader::read_some(std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t n = ::read(fd_, to.data() + done, to.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw std::runtime_error(fmt::format("{}: cannot read: {}; check the disk, or copy it again",
                                           path_, std::strerror(errno)));
    }
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  offset_ += done;
  return done;
}

void PatchReader::read(std::span<std::byte> to, const char* what) {
  if (read_some(to) < to.size()) {
    fail(path_, offset_, fmt::format("the patch ends inside {}", what), kDamaged);
  }
}

Record PatchReader::next(RecordType expected) { return next(expected, expected); }

Record PatchReader::next(RecordType expected, RecordType other) {
  Record record = read_record();
  if (record.type != expected && record.type != other) {
    refuse(record.offset, fmt::format("a record of type {} should come, but this is one of type {}",
                                      static_cast<std::uint32_t>(expected),
                                      static_cast<std::uint32_t>(record.type)));
  }
  return record;
}

Record PatchReader::read_record() {
  Record record;
  record.offset = offset_;
  std::array<std::byte, kRecordHead> head;
  read(head, "a record");
  const std::span from(head);
  const std::uint64_t length = store::get<std::uint32_t>(from, 0);
  record.type = store::get<RecordType>(from, 4);
  while (record.content.size() < length) {
    const std::size_t have = record.content.size();
    record.content.resize(have + std::min<std::uint64_t>(length - have, kReadBytes));
    read(std::span(record.content).subspan(have), "a record");
  }
  const auto type = static_cast<std::uint32_t>(record.type);
  if (store::seeded_checksum(record.content, seed_of(salt_, records_, type)) !=
      store::get<std::uint64_t>(from, 8)) {
    refuse(record.offset, fmt::format("record {} does not have its checksum", records_));
  }
  ++records_;
  return record;
}

std::optional<Record> PatchReader::next_or_end() {
  Record record = read_record();
  if (record.type != RecordType::kEnd) return record;
  check_end(record);
  return std::nullopt;
}

void PatchReader::end() { check_end(next(RecordType::kEnd)); }

void PatchReader::check_end(const Record& record) {
  if (record.content.size() != 8 || store::get<std::uint64_t>(record.content, 0) != records_ - 1) {
    refuse(record.offset, "its end is for another number of records");
  }
  const std::uint64_t end = offset_;
  std::array<std::byte, 1> more;
  if (read_some(more) > 0) refuse(end, "the patch should end here, but bytes follow");
}

void PatchReader::refuse(std::uint64_t offset, const std::string& what) const {
  fail(path_, offset, what, kDamaged);
}

bool is_patch(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  std::array<unsigned char, store::kPatchMagic.size()> start = {};
  const bool whole =
      ::pread(fd, start.data(), start.size(), 0) == static_cast<ssize_t>(start.size());
  ::close(fd);
  return whole && start == store::kPatchMagic;
}

}  // namespace leveret::patch
