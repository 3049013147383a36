/// Files of named sections under one header (leveret-model(5)): saved whole, read section by
/// section.
///
///   write_model_file("m.lvt", Kind::kModel, spec, sections);
///   const ModelFile file = ModelFile::open("m.lvt");
///   if (const StoredSection* weights = file.find("linear.weights")) file.read(*weights, memory);
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/atomic_file.h"
#include "store/checksum.h"
#include "store/layout.h"
#include "store/notes.h"
#include "store/section.h"

namespace leveret::files {
class UnnamedFile;
}

namespace leveret::store {

struct RegularFile;

/// Saves the sections in the order given, whole or not at all (see files::AtomicFile). The same
/// arguments give the same bytes. Their bytes are read once or twice and must not change meanwhile.
/// std::runtime_error when the file cannot be written, std::invalid_argument for sections that no
/// file may hold. `notes`: of make_notes; empty: the file has none.
void write_model_file(const std::string& path, Kind kind, std::string_view header_json,
                      const std::vector<SectionView>& sections,
                      std::span<const std::byte> notes = {});
/// The same without the wait for the disk: once it returns, nothing of what was given is needed any
/// more. The file appears with commit(), which any thread may call.
files::AtomicFile begin_model_file(const std::string& path, Kind kind, std::string_view header_json,
                                   const std::vector<SectionView>& sections,
                                   std::span<const std::byte> notes = {});

class ModelFile;
/// Saves an open file's content with other notes, under its own name or another: as
/// write_model_file.
void save_with_notes(const ModelFile& file, const std::string& path,
                     std::span<const std::byte> notes);

/// An open file: header and table are in memory, sections are not. Its functions throw
/// std::runtime_error that says what is wrong, at which byte, and what to do. Any number of threads
/// may read.
///
/// A save of ours over the same path leaves an open file as it was. Another program may change it
/// in place: what `read` and `scan` give was verified as it was read, so that is an error and never
/// other content; who maps the file has to ask for changes.
class ModelFile {
 public:
  /// Verifies header and table. `name`: what messages call it, in place of its path.
  static ModelFile open(const std::string& path, const std::string& name = {});
  /// The same of what has been written to a file without a name.
  static ModelFile open(files::UnnamedFile file, const std::string& name);
  ~ModelFile();
  ModelFile(ModelFile&& other) noexcept;
  ModelFile& operator=(ModelFile&& other) noexcept;
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  Kind kind() const { return layout_.kind; }
  std::string_view header_json() const { return layout_.header_json; }
  /// Identifies the whole content: equal for equal files.
  Checksum fingerprint() const { return layout_.fingerprint; }
  const std::vector<StoredSection>& sections() const { return layout_.sections; }
  const Layout& layout() const { return layout_; }
  /// The bytes before the first section.
  std::span<const std::byte> front() const { return front_; }
  /// Null when there is none of this name. Looks at all of them: for loading, not for every
  /// example.
  const StoredSection* find(std::string_view name) const;

  /// Or the name that messages use.
  const std::string& path() const { return path_; }
  /// Without the notes.
  std::uint64_t bytes() const { return bytes_; }
  /// The notes of the file beside its content; null where there is nothing.
  const Notes* notes() const { return notes_ ? &*notes_ : nullptr; }
  /// Open for reading, at no certain position: for mmap.
  int fd() const { return fd_; }

  // Reading a section of this file.

  /// Reads it to where there is room for its bytes, and verifies these.
  void read(const StoredSection& section, std::byte* to) const;
  std::vector<std::byte> read(const StoredSection& section) const;
  /// Reads it in blocks of whole elements, each of which is visited before the section is verified.
  void scan(const StoredSection& section,
            const std::function<void(std::span<const std::byte>)>& visit) const;
  void verify(const StoredSection& section) const;
  /// Verifies the bytes that somebody has mapped.
  void verify_mapped(const StoredSection& section, const std::byte* bytes) const;

  /// A section that is read part after part, side by side with others.
  class Stream {
   public:
    Stream(const ModelFile& file, const StoredSection& section)
        : file_(&file), section_(&section) {}
    /// The next bytes of the section, of which there must be as many; good until the next call.
    std::span<const std::byte> next(std::uint64_t bytes);
    /// Verifies it, when all of it has been read.
    void finish() const;

   private:
    const ModelFile* file_;
    const StoredSection* section_;
    std::uint64_t at_ = 0;
    Checksummer checksum_;
    std::vector<std::byte> part_;
  };

  /// Reads bytes that nobody has verified, at an offset of the file. What is made of them is to be
  /// verified instead.
  void read_at(std::uint64_t offset, std::span<std::byte> to) const;

  /// Whether the file has been changed in place since it was opened. A signal handler may ask.
  bool changed() const noexcept;
  /// The message for then.
  std::string change_message() const;
  /// Throws it.
  void check_unchanged() const;

 private:
  ModelFile(const RegularFile& file, const std::string& name);
  void read_front();
  void read_notes();
  void check(const StoredSection& section, const Checksum& actual) const;
  void close() noexcept;

  std::string path_;
  std::vector<std::byte> front_;  ///< what comes before the first section
  Layout layout_ = {};
  std::uint64_t bytes_ = 0;       ///< up to the notes
  std::uint64_t file_bytes_ = 0;  ///< with them
  std::optional<Notes> notes_;
  timespec written_ = {};  ///< when the file was last changed
  int fd_ = -1;
};

}  // namespace leveret::store
