/// The bytes of a patch as leveret-patch(5) describes them: a front, and records with a checksum
/// each. Knows nothing of what the records say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/atomic_file.h"
#include "store/checksum.h"

namespace leveret::patch {

enum class PatchKind : std::uint32_t { kSections = 1, kBytes = 2 };

constexpr std::uint32_t kPatchVersion = 1;

/// No sequence number.
constexpr std::uint64_t kNoSequence = ~std::uint64_t{0};

/// One end of a patch.
struct PatchEnd {
  store::Checksum fingerprint;  ///< of a model file; of other files the checksum of all bytes
  std::uint64_t bytes;          ///< of the file
  std::uint64_t sequence = kNoSequence;
  bool operator==(const PatchEnd&) const = default;
};

struct PatchFront {
  PatchKind kind;
  PatchEnd base, result;
  std::array<std::byte, 16> line = {};  ///< of the models; zero where they have none
  bool operator==(const PatchFront&) const = default;
};

/// The subject of a record. The numbers are those of the file.
enum class RecordType : std::uint32_t { kTable = 1, kKeys = 2, kRows = 3, kPlanes = 4, kEnd = 5 };

struct Record {
  RecordType type = RecordType::kEnd;
  std::vector<std::byte> content;
  std::uint64_t offset = 0;  ///< of the record in the patch
};

/// Writes to a file that is not committed by it. The last call is end().
class PatchWriter {
 public:
  PatchWriter(files::AtomicFile& file, const PatchFront& front);
  void write(RecordType type, std::span<const std::byte> content);
  void end();

 private:
  files::AtomicFile& file_;
  std::uint64_t salt_ = 0, records_ = 0;
};

/// Reads a patch from its first byte to its last, from a file or a pipe ("-": standard input).
/// std::runtime_error says what is wrong, at which byte, and what to do. Takes memory in proportion
/// to what it has read.
class PatchReader {
 public:
  explicit PatchReader(const std::string& path);
  ~PatchReader();
  PatchReader(PatchReader&& other) noexcept;
  PatchReader& operator=(PatchReader&&) = delete;
  PatchReader(const PatchReader&) = delete;
  PatchReader& operator=(const PatchReader&) = delete;

  const PatchFront& front() const { return front_; }
  const std::string& path() const { return path_; }
  /// Whether another reader of the path begins where this one did: neither pipes nor standard
  /// input.
  bool can_be_opened_again() const { return again_; }
  /// The next one, verified; of the type expected, or of one of two.
  Record next(RecordType expected);
  Record next(RecordType expected, RecordType other);
  /// The next one of whatever type; nothing at the end, after which nothing may follow.
  std::optional<Record> next_or_end();
  /// The end comes next, and nothing after it.
  void end();
  /// Bytes read so far.
  std::uint64_t offset() const { return offset_; }

  /// Reports what a record says as a fault of the file.
  [[noreturn]] void refuse(std::uint64_t offset, const std::string& what) const;

 private:
  void read_front();
  Record read_record();
  void check_end(const Record& record);
  std::size_t read_some(std::span<std::byte> to);
  void read(std::span<std::byte> to, const char* what);

  std::string path_;
  int fd_ = -1;
  bool again_ = false;
  PatchFront front_ = {};
  std::uint64_t salt_ = 0, records_ = 0, offset_ = 0;
};

/// Whether a file begins as a patch does. False where it cannot be read.
bool is_patch(const std::string& path);

}  // namespace leveret::patch
