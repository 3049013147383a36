#include "store/model_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "files/atomic_file.h"

namespace leveret::store {
namespace {

// Pages are fetched in pieces of this size, so that a disk that fails is an error and no signal.
constexpr std::uint64_t kFetchBytes = std::uint64_t{64} << 20;

// Larger sections are tables, nearly always. Who loads one maps or reads it anew (model::Arena), so
// their pages are let go when they are verified: else the process would hold them twice. Who reads
// one where it lies gets its pages again.
constexpr std::uint64_t kHeldBytes = std::uint64_t{1} << 20;

[[noreturn]] void fail(const std::string& path, const char* operation, const std::string& why,
                       const char* remedy) {
  throw std::runtime_error(fmt::format("{}: cannot {}: {}; {}", path, operation, why, remedy));
}

/// Reads the pages of [begin, end) from the disk. Linux before 5.14 cannot be asked to; there they
/// come as they are touched.
void fetch(std::byte* begin, std::byte* end, const std::string& path) {
#ifdef MADV_POPULATE_READ
  while (begin < end) {
    const auto part = std::min<std::uint64_t>(kFetchBytes, static_cast<std::uint64_t>(end - begin));
    int rc;
    do rc = ::madvise(begin, part, MADV_POPULATE_READ);
    while (rc != 0 && errno == EINTR);
    if (rc != 0 && errno == EFAULT) {
      fail(path, "read", "the disk fails, or the file has been shortened",
           "check the disk (dmesg says more), or copy the file again");
    }
    if (rc != 0) return;
    begin += part;
  }
#endif
}

}  // namespace

void write_model_file(const std::string& path, Kind kind, std::string_view header_json,
                      std::span<const SectionView> sections) {
  static constexpr std::array<std::byte, kPageBytes> kZeros = {};
  const std::vector<std::byte> front = make_front(kind, header_json, sections);
  files::AtomicFile file(path);
  file.write(front);
  for (const SectionView& section : sections) {
    file.write({section.data, section.bytes});
    file.write(std::span(kZeros).first(page_padding(section.bytes)));
  }
  file.commit();
}

ModelFile ModelFile::open(const std::string& path, Verify verify, Access access) {
  ModelFile file;
  file.path_ = path;
  // Not blocking: a pipe without a writer is refused below instead of waited for.
  do file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (file.fd_ < 0 && errno == EINTR);
  if (file.fd_ < 0) fail(path, "open", std::strerror(errno), "check the name and its permissions");
  file.map(access);
  file.layout_ = read_layout(file.file(), path);
  if (verify == Verify::kAll) file.verify_sections();
  return file;
}

void ModelFile::map(Access access) {
  struct stat status;
  if (::fstat(fd_, &status) != 0) fail(path_, "read", std::strerror(errno), "check the disk");
  if (!S_ISREG(status.st_mode)) {
    fail(path_, "read", "it is no regular file", "copy its content to a file first");
  }
  access_ = access;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes == 0) return;
  const int protection = PROT_READ | (access == Access::kCopyOnWrite ? PROT_WRITE : 0);
  void* base = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_NORESERVE, fd_, 0);
  if (base == MAP_FAILED) {
    fail(path_, "map into memory", std::strerror(errno), "raise the limit of memory (ulimit -v)");
  }
  base_ = static_cast<std::byte*>(base);
  bytes_ = bytes;
  fetch(base_, base_ + std::min(bytes_, kPageBytes), path_);
}

void ModelFile::verify_sections() const {
  for (std::size_t i = 0; i < layout_.sections.size(); ++i) {
    const SectionView& section = layout_.sections[i];
    std::byte* begin = base_ + offset(section);
    // Piece by piece, a large section would have to be hashed as a stream; fetched as a whole it
    // stays in the page cache, which has to hold it for training or serving anyway.
    const std::uint64_t bytes = section.bytes + page_padding(section.bytes);
    fetch(begin, begin + bytes, path_);
    verify_section(file(), layout_, i, path_);
    if (bytes > kHeldBytes) ::madvise(begin, bytes, MADV_DONTNEED);
  }
}

const SectionView* ModelFile::find(std::string_view name) const {
  const auto found = std::ranges::find(layout_.sections, name, &SectionView::name);
  return found == layout_.sections.end() ? nullptr : &*found;
}

std::byte* ModelFile::writable(const SectionView& section) const {
  assert(access_ == Access::kCopyOnWrite);
  return base_ + offset(section);
}

ModelFile::ModelFile(ModelFile&& other) noexcept
    : path_(std::move(other.path_)),
      layout_(std::exchange(other.layout_, {})),
      base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      fd_(std::exchange(other.fd_, -1)),
      access_(other.access_) {}

ModelFile& ModelFile::operator=(ModelFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  path_ = std::move(other.path_);
  layout_ = std::exchange(other.layout_, {});
  base_ = std::exchange(other.base_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  fd_ = std::exchange(other.fd_, -1);
  access_ = other.access_;
  return *this;
}

ModelFile::~ModelFile() { close(); }

void ModelFile::close() noexcept {
  if (base_ != nullptr) ::munmap(base_, bytes_);
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace leveret::store
