#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "files/file_identity.h"
#include "patch/in_order.h"
#include "patch/patch.h"
#include "store/plain_file.h"

namespace leveret::patch {
namespace {

namespace fs = std::filesystem;

/// The patch does not fit to what it is applied to: either may be damaged.
struct WrongResult : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void refuse_result(const PatchReader& patch, const std::string& what) {
  throw WrongResult(fmt::format("{}: {}; the patch is damaged: copy it again, or make it again",
                                patch.path(), what));
}

/// The file that a result is written to, with a name or without one.
class Target {
 public:
  template <class File>
  explicit Target(File& file)
      : write_([&file](std::span<const std::byte> bytes) { file.write(bytes); }) {}

  void write(std::span<const std::byte> bytes) {
    write_(bytes);
    size_ += bytes.size();
  }
  /// Bytes written so far.
  std::uint64_t size() const { return size_; }

 private:
  std::function<void(std::span<const std::byte>)> write_;
  std::uint64_t size_ = 0;
};

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
  ResultWriter(const store::Layout& layout, const PatchReader& patch, Target& to)
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
    const store::StoredSection& section = layout_.sections[next_++];
    if (checksum_->get() != section.checksum) {
      refuse_result(patch_, fmt::format("section '{}' of its result does not have its checksum",
                                        section.name));
    }
    checksum_.emplace();
  }

  void pad_to(std::uint64_t offset) {
    static constexpr std::array<std::byte, store::kPageBytes> kZeros = {};
    while (to_.size() < offset) {
      to_.write(
          std::span(kZeros).first(std::min<std::uint64_t>(store::kPageBytes, offset - to_.size())));
    }
  }

  const store::Layout& layout_;
  const PatchReader& patch_;
  Target& to_;
  std::size_t next_ = 0;
  std::optional<store::Checksummer> checksum_{std::in_place};
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
  PatchApplier(const store::ModelFile& before, PatchReader& patch, Target& to, unsigned threads)
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
    const std::size_t start = std::min<std::uint64_t>({front_.size(), store::kPageBytes, bytes});
    const std::uint64_t needed = store::front_bytes(std::span(front_).first(start), bytes, name);
    if (needed != front_.size()) patch_.refuse(record.offset, "its table has another length");
    now_ = store::read_layout(front_, bytes, name);
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

  const store::ModelFile& before_;
  PatchReader& patch_;
  Target& to_;
  unsigned threads_;
  ReadAt read_old_;
  std::vector<std::byte> front_;
  store::Layout now_ = {};
  PatchPlan plan_;
};

void apply_to_bytes(const store::PlainFile& before, PatchReader& patch, Target& to,
                    unsigned threads) {
  const PatchFront& front = patch.front();
  const Record record = patch.next(RecordType::kKeys);
  const BytePlan bytes(before.bytes(), front.result.bytes, checked(patch, record, [&] {
                         return read_matches(record.content, before.bytes(), front.result.bytes);
                       }));
  const ReadAt read_old = [&](std::uint64_t at, std::span<std::byte> part) {
    before.read_at(at, part);
  };
  store::Checksummer checksum;
  make_blocks(bytes.plan, patch, read_old, threads, [&](const Piece&, const Rows& rows) {
    checksum.add(rows);
    to.write(rows);
  });
  patch.end();
  if (checksum.get() != front.result.fingerprint) {
    refuse_result(patch, "its result does not have its checksum");
  }
}

/// The file that a patch is applied to, whatever its kind.
class OldFile {
 public:
  OldFile(PatchKind kind, const std::string& path) {
    if (kind == PatchKind::kSections) {
      opened_ = std::make_unique<store::ModelFile>(store::ModelFile::open(path));
      model_ = opened_.get();
      fingerprint_ = model_->fingerprint();
    } else {
      plain_ = std::make_unique<store::PlainFile>(path);
      fingerprint_ = plain_->checksum();
    }
  }
  /// The result of `patch`, for the next one.
  OldFile(files::UnnamedFile file, const PatchReader& patch) {
    const std::string name = "the result of " + patch.path();
    fingerprint_ = patch.front().result.fingerprint;
    if (patch.front().kind == PatchKind::kSections) {
      opened_ = std::make_unique<store::ModelFile>(store::ModelFile::open(std::move(file), name));
      model_ = opened_.get();
    } else {
      plain_ = std::make_unique<store::PlainFile>(std::move(file), name);
    }
  }
  /// `model` outlives it.
  explicit OldFile(const store::ModelFile& model)
      : model_(&model), fingerprint_(model.fingerprint()) {}

  const store::Checksum& fingerprint() const { return fingerprint_; }

  void apply(PatchReader& patch, Target& to, unsigned threads) const {
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

  void copy(Target& to) const {
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
    for (const store::StoredSection& section : model_->sections()) model_->verify(section);
  }

  std::unique_ptr<store::ModelFile> opened_;
  const store::ModelFile* model_ = nullptr;  ///< it or plain_ is null
  std::unique_ptr<store::PlainFile> plain_;
  store::Checksum fingerprint_ = {};
};

/// Applies the patches from `start` on, of which there is one. The files between are never seen:
/// they have no names, and lie where `between` says.
void apply_from(std::size_t start, std::unique_ptr<OldFile> old, PatchChain& chain,
                const files::UnnamedFile::Place& between, Target to, unsigned threads) {
  for (std::size_t i = start; i + 1 < chain.size(); ++i) {
    PatchReader patch = chain.open(i);
    files::UnnamedFile file(between);
    Target next(file);
    old->apply(patch, next, threads);
    old = std::make_unique<OldFile>(std::move(file), patch);
  }
  PatchReader last = chain.open(chain.size() - 1);
  old->apply(last, to, threads);
}

/// Files between lie beside `to`, on whose disk there is to be room.
files::UnnamedFile::Place place_beside(const std::string& to) {
  const std::string folder = fs::path(files::follow_links(to)).parent_path().string();
  return {folder.empty() ? "." : folder, to, "mend that, or name a file in another folder"};
}

/// Whether it would be written as it is made, and could neither be read back nor given up.
bool is_written_directly(const std::string& to) {
  std::error_code ignored;
  const fs::file_status status = fs::status(to, ignored);
  return fs::exists(status) && (!fs::is_regular_file(status) || files::names_descriptor(to));
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

/// The number of the first patch of the chain to be applied to a model that is open.
std::size_t start_for(const store::ModelFile& before, const PatchChain& chain) {
  chain.check();
  if (chain.front(0).kind != PatchKind::kSections) {
    throw std::runtime_error(
        fmt::format("{} is a patch of bytes (diff --bytes), not of models", chain.path(0)));
  }
  return chain.start(before.fingerprint(), before.path());
}

void apply_to_model(const store::ModelFile& before, std::size_t start, PatchChain& chain,
                    const files::UnnamedFile::Place& between, Target to, unsigned threads) {
  auto old = std::make_unique<OldFile>(before);
  if (start == chain.size()) return old->copy(to);
  apply_from(start, std::move(old), chain, between, std::move(to), threads);
}

}  // namespace

std::size_t apply_patches(const std::string& before, PatchChain& chain, const std::string& to,
                          unsigned threads) {
  chain.check();
  auto old = std::make_unique<OldFile>(chain.front(0).kind, before);
  const std::size_t start = chain.start(old->fingerprint(), before);
  const std::size_t count = chain.size() - start;
  if (count == 0 && is_same_file(before, to)) return 0;
  if (count > 1 && is_written_directly(to)) {
    throw std::runtime_error(
        fmt::format("{}: a chain of patches needs a regular file to write to; name one", to));
  }
  files::AtomicFile file(to);
  Target target(file);
  if (count == 0) {
    old->copy(target);
  } else {
    apply_from(start, std::move(old), chain, place_beside(to), std::move(target), threads);
  }
  file.commit();
  return count;
}

std::unique_ptr<files::AtomicFile> apply_patches(const store::ModelFile& before, PatchChain& chain,
                                                 const std::string& to, unsigned threads) {
  const std::size_t start = start_for(before, chain);
  if (is_written_directly(to)) {
    throw std::runtime_error(to + ": is no regular file; name one to write the newer model to");
  }
  auto file = std::make_unique<files::AtomicFile>(to);
  apply_to_model(before, start, chain, place_beside(to), Target(*file), threads);
  return file;
}

files::UnnamedFile apply_patches(const store::ModelFile& before, PatchChain& chain,
                                 const files::UnnamedFile::Place& place, unsigned threads) {
  const std::size_t start = start_for(before, chain);
  files::UnnamedFile file(place);
  apply_to_model(before, start, chain, place, Target(file), threads);
  return file;
}

}  // namespace leveret::patch
