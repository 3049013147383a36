#include "store/model_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "files/atomic_file.h"
#include "files/unnamed_file.h"
#include "store/layout_bytes.h"
#include "store/regular_file.h"

namespace leveret::store {
namespace {

// The bytes that are read and hashed at a time: they stay in the second-level cache in between. A
// multiple of every element's size.
constexpr std::uint64_t kBlockBytes = std::uint64_t{256} << 10;

/// `end`: where the front ends. Notes their checksums.
void write_sections(files::AtomicFile& file, std::uint64_t end,
                    const std::vector<SectionView>& sections, std::span<Checksum> checksums) {
  static constexpr std::array<std::byte, kPageBytes> kZeros = {};
  const auto pad = [&](std::uint64_t count) {
    file.write(std::span(kZeros).first(count));
    end += count;
  };
  for (std::size_t i = 0; i < sections.size(); ++i) {
    pad(padding_before(sections[i].bytes, end));
    Checksummer checksum;
    for_each_block(sections[i], [&](std::span<const std::byte> part) {
      checksum.add(part);
      file.write(part);
    });
    checksums[i] = checksum.get();
    end += sections[i].bytes;
  }
  pad(padding_before(0, end));
}

}  // namespace

void write_model_file(const std::string& path, Kind kind, std::string_view header_json,
                      const std::vector<SectionView>& sections, std::span<const std::byte> notes) {
  begin_model_file(path, kind, header_json, sections, notes).commit();
}

files::AtomicFile begin_model_file(const std::string& path, Kind kind, std::string_view header_json,
                                   const std::vector<SectionView>& sections,
                                   std::span<const std::byte> notes) {
  files::AtomicFile file(path);
  // Checksums stand before what they are of. Where a front can be written over, sections are read
  // once: those of a model are gathered from all over its memory.
  const bool once = file.is_temporary();
  std::vector<Checksum> checksums(sections.size());
  const std::vector<std::byte> front = once ? make_front(kind, header_json, sections, checksums)
                                            : make_front(kind, header_json, sections);
  file.write(front);
  write_sections(file, front.size(), sections, checksums);
  if (once) file.write_over_front(make_front(kind, header_json, sections, checksums));
  file.write(notes);
  return file;
}

void save_with_notes(const ModelFile& file, const std::string& path,
                     std::span<const std::byte> notes) {
  files::AtomicFile copy(path);
  std::vector<std::byte> part(std::min<std::uint64_t>(file.bytes(), kBlockBytes));
  for (std::uint64_t at = 0; at < file.bytes(); at += part.size()) {
    const std::span bytes =
        std::span(part).first(std::min<std::uint64_t>(part.size(), file.bytes() - at));
    file.read_at(at, bytes);
    copy.write(bytes);
  }
  copy.write(notes);
  copy.commit();
}

ModelFile::ModelFile(const RegularFile& file, const std::string& name)
    : path_(name),
      bytes_(file.bytes),
      file_bytes_(file.bytes),
      written_(file.written),
      fd_(file.fd) {}

ModelFile ModelFile::open(const std::string& path, const std::string& name) {
  ModelFile file(open_regular(path), name.empty() ? path : name);
  file.read_front();
  return file;
}

ModelFile ModelFile::open(files::UnnamedFile unnamed, const std::string& name) {
  ModelFile file(check_regular(unnamed.release(), name), name);
  file.read_front();
  return file;
}

void ModelFile::read_front() {
  front_.resize(std::min(bytes_, kPageBytes));
  read_at(0, front_);
  read_notes();
  const std::uint64_t begun = front_.size(), all = front_bytes(front_, bytes_, path_);
  front_.resize(all);
  if (all > begun) read_at(begun, std::span(front_).subspan(begun));
  layout_ = read_layout(front_, bytes_, path_);
}

/// Bytes that follow a model and begin as a container does are its notes; anything else is for
/// read_layout to refuse.
void ModelFile::read_notes() {
  const std::uint64_t end = model_bytes(front_);
  if (end == 0 || end >= bytes_) return;
  const std::uint64_t bytes = bytes_ - end;
  if (bytes < kMagic.size() || bytes > Notes::kMaxBytes) return;
  std::vector<std::byte> notes(bytes);
  read_at(end, notes);
  if (std::memcmp(notes.data(), kMagic.data(), kMagic.size()) != 0) return;
  notes_.emplace(std::move(notes), path_);
  bytes_ = end;
}

void ModelFile::read_at(std::uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t n = ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || (n < 0 && changed())) throw std::runtime_error(change_message());
    if (n < 0) {
      fail_on_file(path_, "read", std::strerror(errno),
                   "check the disk (dmesg says more), or copy the file again");
    }
    to = to.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

/// The bytes between it and the next one are verified, too.
void ModelFile::check(const StoredSection& section, const Checksum& actual) const {
  std::array<std::byte, kPageBytes> page;
  const auto padding = std::span(page).first(section.padding);
  read_at(section.offset + section.bytes, padding);
  if (actual != section.checksum) check_unchanged();
  check_checksum(section, actual, path_);
  check_padding(section, padding, path_);
}

void ModelFile::read(const StoredSection& section, std::byte* to) const {
  Checksummer checksum;
  for (std::uint64_t at = 0; at < section.bytes; at += kBlockBytes) {
    const std::span block(to + at, std::min(kBlockBytes, section.bytes - at));
    read_at(section.offset + at, block);
    checksum.add(block);
  }
  check(section, checksum.get());
}

std::vector<std::byte> ModelFile::read(const StoredSection& section) const {
  std::vector<std::byte> bytes(section.bytes);
  read(section, bytes.data());
  return bytes;
}

void ModelFile::scan(const StoredSection& section,
                     const std::function<void(std::span<const std::byte>)>& visit) const {
  Checksummer checksum;
  std::vector<std::byte> memory(std::min(kBlockBytes, section.bytes));
  for (std::uint64_t at = 0; at < section.bytes; at += kBlockBytes) {
    const auto block = std::span(memory).first(std::min(kBlockBytes, section.bytes - at));
    read_at(section.offset + at, block);
    checksum.add(block);
    visit(block);
  }
  check(section, checksum.get());
}

void ModelFile::verify(const StoredSection& section) const {
  scan(section, [](std::span<const std::byte>) {});
}

void ModelFile::verify_mapped(const StoredSection& section, const std::byte* bytes) const {
  check(section, checksum_of({bytes, section.bytes}));
}

std::span<const std::byte> ModelFile::Stream::next(std::uint64_t bytes) {
  part_.resize(bytes);
  file_->read_at(section_->offset + at_, part_);
  at_ += bytes;
  checksum_.add(part_);
  return part_;
}

void ModelFile::Stream::finish() const { file_->check(*section_, checksum_.get()); }

// Neither the number of links nor the time of the inode's change tells: a model that is replaced by
// renaming loses a link, which is how it should be. Every write sets the time of the last one.
bool ModelFile::changed() const noexcept {
  struct stat status;
  if (::fstat(fd_, &status) != 0) return true;
  return static_cast<std::uint64_t>(status.st_size) != file_bytes_ ||
         status.st_mtim.tv_sec != written_.tv_sec || status.st_mtim.tv_nsec != written_.tv_nsec;
}

std::string ModelFile::change_message() const {
  return fmt::format(
      "{}: was changed while it was in use; replace it by renaming (mv NEW {}), never by copying "
      "over it",
      path_, path_);
}

void ModelFile::check_unchanged() const {
  if (changed()) throw std::runtime_error(change_message());
}

const StoredSection* ModelFile::find(std::string_view name) const {
  const auto found = std::ranges::find(layout_.sections, name, &StoredSection::name);
  return found == layout_.sections.end() ? nullptr : &*found;
}

ModelFile::ModelFile(ModelFile&& other) noexcept
    : path_(std::move(other.path_)),
      front_(std::move(other.front_)),
      layout_(std::exchange(other.layout_, {})),
      bytes_(std::exchange(other.bytes_, 0)),
      file_bytes_(std::exchange(other.file_bytes_, 0)),
      notes_(std::move(other.notes_)),
      written_(other.written_),
      fd_(std::exchange(other.fd_, -1)) {}

ModelFile& ModelFile::operator=(ModelFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  path_ = std::move(other.path_);
  front_ = std::move(other.front_);
  layout_ = std::exchange(other.layout_, {});
  bytes_ = std::exchange(other.bytes_, 0);
  file_bytes_ = std::exchange(other.file_bytes_, 0);
  notes_ = std::move(other.notes_);
  written_ = other.written_;
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

ModelFile::~ModelFile() { close(); }

void ModelFile::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace leveret::store
