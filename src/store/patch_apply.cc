#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include "store/in_order.h"
#include "store/patch.h"
#include "store/plain_file.h"

namespace leveret::store {
namespace {

/// The patch does not fit to what it is applied to: either may be damaged.
struct WrongResult : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void refuse_result(const PatchReader& patch, const std::string& what) {
  throw WrongResult(fmt::format("{}: {}; the patch is damaged: copy it again, or make it again",
                                patch.path(), what));
}

/// Reports what is wrong with a record.
template <class Read>
auto checked(const PatchReader& patch, const Record& record, Read&& read) {
  try {
    return read();
  } catch (const CorruptCode&) {
    refuse_result(patch, fmt::format("byte {}: what this record says cannot be", record.offset));
  }
}

/// Writes the new file, section after section, and verifies each.
class ResultWriter {
 public:
  ResultWriter(const Layout& layout, const PatchReader& patch, files::AtomicFile& to)
      : layout_(layout), patch_(patch), to_(to) {}

  /// The next bytes of a section, which comes not before those written before.
  void write(std::size_t section, std::span<const std::byte> bytes) {
    while (next_ < section) finish_section();
    const std::uint64_t begin = layout_.sections[section].offset;
    if (to_.size() < begin) pad_to(begin);
    checksum_->add(bytes);
    to_.write(bytes);
  }
  void finish() {
    while (next_ < layout_.sections.size()) finish_section();
    pad_to(patch_.front().result.bytes);
  }

 private:
  void finish_section() {
    const StoredSection& section = layout_.sections[next_++];
    if (checksum_->get() != section.checksum) {
      refuse_result(patch_, fmt::format("section '{}' of its result does not have its checksum",
                                        section.name));
    }
    checksum_.emplace();
  }

  void pad_to(std::uint64_t offset) {
    static constexpr std::array<std::byte, kPageBytes> kZeros = {};
    while (to_.size() < offset) {
      to_.write(std::span(kZeros).first(std::min<std::uint64_t>(kPageBytes, offset - to_.size())));
    }
  }

  const Layout& layout_;
  const PatchReader& patch_;
  files::AtomicFile& to_;
  std::size_t next_ = 0;
  std::optional<Checksummer> checksum_{std::in_place};
};

using Rows = std::vector<std::byte>;

/// Makes the new rows of all blocks, and calls take(piece, rows) for each piece in order.
template <class Take>
void make_blocks(const PatchPlan& plan, PatchReader& patch, const ReadAt& before, unsigned threads,
                 Take take) {
  struct Input {
    Block block;
    Record record;  ///< empty where the block is not coded
  };
  struct Result {
    Block block;
    std::vector<Rows> rows;
  };
  BlockCursor blocks(plan);
  in_order(
      threads,
      [&]() -> std::optional<Input> {
        std::optional<Block> block = blocks.next();
        if (!block) return std::nullopt;
        Record record;
        if (block->is_coded) record = patch.next(RecordType::kRows, RecordType::kPlanes);
        return Input{std::move(*block), std::move(record)};
      },
      [&](Input&& input) {
        auto rows = checked(patch, input.record,
                            [&] { return read_block(plan, input.block, before, input.record); });
        return Result{std::move(input.block), std::move(rows)};
      },
      [&](const Result& result) {
        for (std::size_t i = 0; i < result.rows.size(); ++i) {
          take(result.block.pieces[i], result.rows[i]);
        }
      });
}

class PatchApplier {
 public:
  PatchApplier(const ModelFile& before, PatchReader& patch, files::AtomicFile& to, unsigned threads)
      : before_(before), patch_(patch), to_(to), threads_(threads) {
    read_old_ = [this](std::uint64_t at, std::span<std::byte> bytes) {
      before_.read_at(at, bytes);
    };
  }

  void apply() {
    read_new_table();
    plan_ = make_plan(before_.layout(), now_);
    read_groups();
    settle_columns(plan_);
    to_.write(front_);
    write_sections();
    patch_.end();
  }

 private:
  void read_new_table() {
    const Record record = patch_.next(RecordType::kTable);
    front_ = checked(patch_, record, [&] { return read_table(record.content); });
    const std::string name = patch_.path() + ": in the table of its result";
    const std::uint64_t bytes = patch_.front().result.bytes;
    const std::size_t start = std::min<std::uint64_t>({front_.size(), kPageBytes, bytes});
    const std::uint64_t needed = front_bytes(std::span(front_).first(start), bytes, name);
    if (needed != front_.size()) patch_.refuse(record.offset, "its table has another length");
    now_ = read_layout(front_, bytes, name);
    if (now_.fingerprint != patch_.front().result.fingerprint) {
      patch_.refuse(record.offset, "its table is of another file than its result");
    }
  }

  void read_groups() {
    struct Input {
      KeyGroup* group;
      Record record;
    };
    std::size_t next = 0;
    in_order(
        threads_,
        [&]() -> std::optional<Input> {
          if (next == plan_.groups.size()) return std::nullopt;
          return Input{&plan_.groups[next++], patch_.next(RecordType::kKeys)};
        },
        [&](const Input& input) {
          KeyGroup& group = *input.group;
          const Record& record = input.record;
          std::vector<std::uint32_t> keys;
          if (group.before != nullptr) {
            keys.resize(group.before->bytes / sizeof(std::uint32_t));
            before_.read(*group.before, reinterpret_cast<std::byte*>(keys.data()));
          }
          checked(patch_, record, [&] {
            read_keys(record.content, keys, group);
            const bool fits = group.map.rows.rows() == now_.sections[group.section].shape[0];
            if (!group.by_position && !fits) throw CorruptCode();
          });
          return true;
        },
        [](bool) {});
  }

  void write_sections() {
    ResultWriter result(now_, patch_, to_);
    make_blocks(plan_, patch_, read_old_, threads_,
                [&](const Piece& piece, const Rows& rows) { result.write(piece.column, rows); });
    result.finish();
  }

  const ModelFile& before_;
  PatchReader& patch_;
  files::AtomicFile& to_;
  unsigned threads_;
  ReadAt read_old_;
  std::vector<std::byte> front_;
  Layout now_ = {};
  PatchPlan plan_;
};

void apply_to_bytes(const PlainFile& before, PatchReader& patch, files::AtomicFile& to,
                    unsigned threads) {
  const PatchFront& front = patch.front();
  const Record record = patch.next(RecordType::kKeys);
  const BytePlan bytes(before.bytes(), front.result.bytes, checked(patch, record, [&] {
                         return read_matches(record.content, before.bytes(), front.result.bytes);
                       }));
  const ReadAt read_old = [&](std::uint64_t at, std::span<std::byte> part) {
    before.read_at(at, part);
  };
  Checksummer checksum;
  make_blocks(bytes.plan, patch, read_old, threads, [&](const Piece&, const Rows& rows) {
    checksum.add(rows);
    to.write(rows);
  });
  patch.end();
  if (checksum.get() != front.result.fingerprint) {
    refuse_result(patch, "its result does not have its checksum");
  }
}

/// What a patch is applied to, whatever its kind.
class OldFile {
 public:
  OldFile(PatchKind kind, const std::string& path) {
    if (kind == PatchKind::kSections) {
      opened_ = std::make_unique<ModelFile>(ModelFile::open(path));
      model_ = opened_.get();
      fingerprint_ = model_->fingerprint();
    } else {
      plain_ = std::make_unique<PlainFile>(path);
      fingerprint_ = plain_->checksum();
    }
  }
  /// `model` outlives it.
  explicit OldFile(const ModelFile& model) : model_(&model), fingerprint_(model.fingerprint()) {}

  const Checksum& fingerprint() const { return fingerprint_; }

  void apply(PatchReader& patch, files::AtomicFile& to, unsigned threads) const {
    try {
      if (plain_ != nullptr) {
        apply_to_bytes(*plain_, patch, to, threads);
      } else {
        PatchApplier(*model_, patch, to, threads).apply();
      }
    } catch (const WrongResult&) {
      verify();  // where the old file is to blame, that says so
      throw;
    }
    if (plain_ != nullptr) plain_->check_unchanged();
    if (model_ != nullptr) model_->check_unchanged();
  }

  void copy(files::AtomicFile& to) const {
    verify();
    const std::uint64_t bytes = plain_ != nullptr ? plain_->bytes() : model_->bytes();
    std::vector<std::byte> memory(std::min<std::uint64_t>(bytes, kBlockBytes));
    for (std::uint64_t at = 0; at < bytes; at += memory.size()) {
      const auto part = std::span(memory).first(std::min<std::uint64_t>(memory.size(), bytes - at));
      plain_ != nullptr ? plain_->read_at(at, part) : model_->read_at(at, part);
      to.write(part);
    }
    plain_ != nullptr ? plain_->check_unchanged() : model_->check_unchanged();
  }

 private:
  void verify() const {
    if (plain_ != nullptr) return plain_->check_unchanged();
    for (const StoredSection& section : model_->sections()) model_->verify(section);
  }

  std::unique_ptr<ModelFile> opened_;
  const ModelFile* model_ = nullptr;  ///< it or plain_ is null
  std::unique_ptr<PlainFile> plain_;
  Checksum fingerprint_ = {};
};

std::string name_of(const PatchEnd& end) {
  std::string name = to_hex(end.fingerprint);
  if (end.sequence != kNoSequence) name += fmt::format(" (sequence {})", end.sequence);
  return name;
}

void check_chain(const std::vector<PatchReader>& patches) {
  for (std::size_t i = 1; i < patches.size(); ++i) {
    const PatchReader &one = patches[i - 1], &next = patches[i];
    if (one.front().kind != next.front().kind) {
      throw std::runtime_error(fmt::format(
          "{} is a patch of {}, but {} before it is not; apply them one by one", next.path(),
          next.front().kind == PatchKind::kBytes ? "bytes (diff --bytes)" : "models", one.path()));
    }
    if (one.front().result.fingerprint == next.front().base.fingerprint) continue;
    throw std::runtime_error(fmt::format(
        "{}: its base is {}, but {} before it makes {}; give every patch of the chain, in order",
        next.path(), name_of(next.front().base), one.path(), name_of(one.front().result)));
  }
}

/// The first patch that is to be applied; their number where the file is the result of the last.
std::size_t find_start(const std::vector<PatchReader>& patches, const Checksum& fingerprint,
                       const std::string& path) {
  const PatchFront &first = patches.front().front(), &last = patches.back().front();
  if (last.result.fingerprint == fingerprint) return patches.size();
  for (std::size_t i = 0; i < patches.size(); ++i) {
    if (patches[i].front().base.fingerprint == fingerprint) return i;
  }
  throw std::runtime_error(fmt::format(
      "{}: its fingerprint is {}, but {} is for {}, which becomes {}; apply the patches that lead "
      "there first, or take the whole file",
      path, to_hex(fingerprint), patches.front().path(), name_of(first.base),
      name_of(last.result)));
}

/// Applies the patches from `start` on. The result of the last is not committed yet; it can be read
/// where it `is_read`.
std::unique_ptr<files::AtomicFile> apply_from(std::size_t start, std::unique_ptr<OldFile> old,
                                              std::vector<PatchReader>& patches,
                                              const std::string& to, bool is_read,
                                              unsigned threads) {
  const PatchKind kind = patches.front().front().kind;
  // The files between are never seen: each lies under a temporary name until the next one is there.
  std::unique_ptr<files::AtomicFile> last;
  for (std::size_t i = start; i < patches.size(); ++i) {
    auto file = std::make_unique<files::AtomicFile>(to);
    if ((is_read || i + 1 < patches.size()) && !file->is_temporary()) {
      throw std::runtime_error(
          fmt::format("{}: a chain of patches needs a regular file to write to; name one", to));
    }
    old->apply(patches[i], *file, threads);
    if (i + 1 < patches.size()) old = std::make_unique<OldFile>(kind, file->temporary());
    last = std::move(file);
  }
  return last;
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored);
}

}  // namespace

std::size_t apply_patches(const std::string& before, std::vector<PatchReader>& patches,
                          const std::string& to, unsigned threads) {
  check_chain(patches);
  auto old = std::make_unique<OldFile>(patches.front().front().kind, before);
  const std::size_t start = find_start(patches, old->fingerprint(), before);
  if (start < patches.size()) {
    apply_from(start, std::move(old), patches, to, false, threads)->commit();
  } else if (!is_same_file(before, to)) {
    files::AtomicFile file(to);
    old->copy(file);
    file.commit();
  }
  return patches.size() - start;
}

std::unique_ptr<files::AtomicFile> apply_patches(const ModelFile& before,
                                                 std::vector<PatchReader>& patches,
                                                 const std::string& to, unsigned threads) {
  check_chain(patches);
  if (patches.front().front().kind != PatchKind::kSections) {
    throw std::runtime_error(fmt::format("{} is a patch of bytes (diff --bytes), not of models",
                                         patches.front().path()));
  }
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(to, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw std::runtime_error(to + ": is no regular file; name one to write the newer model to");
  }
  auto old = std::make_unique<OldFile>(before);
  const std::size_t start = find_start(patches, old->fingerprint(), before.path());
  if (start < patches.size()) return apply_from(start, std::move(old), patches, to, true, threads);
  auto file = std::make_unique<files::AtomicFile>(to);
  old->copy(*file);
  return file;
}

}  // namespace leveret::store
