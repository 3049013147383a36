/// Files of named sections under one header (leveret-model(5)): saved whole, loaded by mmap.
///
///   write_model_file("m.lvt", Kind::kModel, spec, sections);
///   const ModelFile file = ModelFile::open("m.lvt");
///   if (const SectionView* weights = file.find("linear.weights")) use(weights->data);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/checksum.h"
#include "store/layout.h"
#include "store/section.h"

namespace leveret::store {

/// Saves the sections in the order given, whole or not at all (see files::AtomicFile). The same arguments
/// give the same bytes. Their bytes are read twice and must not change meanwhile.
/// std::runtime_error when the file cannot be written, std::invalid_argument for sections that no
/// file may hold.
void write_model_file(const std::string& path, Kind kind, std::string_view header_json,
                      std::span<const SectionView> sections);

/// How much of a file is checked when it is opened.
enum class Verify {
  kAll,    ///< every byte
  kFront,  ///< header and table; sections only where they lie: for a look at a large file
};

/// What the pages of an open file may be used for.
enum class Access {
  kReadOnly,
  kCopyOnWrite,  ///< may be written to, which the file never sees
};

/// An open file and its pages. Sections point into them and live as long as the object does (moving
/// it moves no bytes). Any number of threads may read. A save of ours over the same path leaves an
/// open file as it was; a program that shortens it in place kills who reads it, as with any mmap.
class ModelFile {
 public:
  /// std::runtime_error says what is wrong, at which byte, and what to do.
  static ModelFile open(const std::string& path, Verify verify = Verify::kAll,
                        Access access = Access::kReadOnly);
  ~ModelFile();
  ModelFile(ModelFile&& other) noexcept;
  ModelFile& operator=(ModelFile&& other) noexcept;
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  Kind kind() const { return layout_.kind; }
  std::string_view header_json() const { return layout_.header_json; }
  /// Identifies the whole content: equal for equal files.
  Checksum fingerprint() const { return layout_.fingerprint; }
  const std::vector<SectionView>& sections() const { return layout_.sections; }
  /// Of each section, in their order.
  const std::vector<Checksum>& checksums() const { return layout_.checksums; }
  /// Null when there is none of this name. Looks at all of them: for loading, not for every
  /// example.
  const SectionView* find(std::string_view name) const;

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }
  /// Open for reading, at no certain position: use pread or mmap (model::Arena::load).
  int fd() const { return fd_; }
  /// Where a section of this file begins in it; a multiple of 4096.
  std::uint64_t offset(const SectionView& section) const {
    return static_cast<std::uint64_t>(section.data - base_);
  }
  /// The bytes of a section of this file, to be changed. Only with Access::kCopyOnWrite.
  std::byte* writable(const SectionView& section) const;

 private:
  ModelFile() = default;
  void map(Access access);
  void verify_sections() const;
  void close() noexcept;
  std::span<const std::byte> file() const { return {base_, bytes_}; }

  std::string path_;
  Layout layout_ = {};
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  int fd_ = -1;
  Access access_ = Access::kReadOnly;
};

}  // namespace leveret::store
