#include "publish/publish.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <utility>

#include "files/atomic_file.h"
#include "files/file_calls.h"
#include "files/folder_lock.h"
#include "modelfile/export/export_model.h"
#include "modelfile/model_line.h"
#include "patch/patch.h"
#include "publish/folder_files.h"
#include "store/model_file.h"
#include "stream/bad_lines.h"

namespace leveret::publish {
namespace {

using Kind = Entry::Kind;

constexpr const char* kBusy =
    "another leveret publish is at work in this folder; try again when it has ended";
constexpr std::uint64_t kNoStep = ~std::uint64_t{0};
constexpr std::size_t kCopyBytes = std::size_t{1} << 22;

/// Zero: none are told.
int bits_of(const store::ModelFile& file) {
  using Json = nlohmann::json;
  const Json header = Json::parse(file.header_json(), nullptr, false);
  if (!header.is_object() || !header.contains("export")) return 0;
  const Json& told = header["export"];
  if (!told.is_object() || !told.contains("bits") || !told["bits"].is_number_integer()) return 0;
  return told["bits"].get<int>();
}

/// The figures as the manifest has them, without comparisons for which there was no step `before`,
/// or too few examples.
std::vector<GateFigure> figures_of(const std::vector<Measured>& measured, bool before) {
  std::vector<GateFigure> figures;
  for (const Measured& one : measured) {
    const bool compares = one.metric == kDifference;
    if (one.is_told && (before || !compares))
      figures.push_back({one.file, one.metric, value_text(one), one.limit});
  }
  return figures;
}

std::vector<std::string> names_in(const Manifest& manifest) {
  std::vector<std::string> names;
  for (const Entry& entry : manifest.entries) names.push_back(entry.file);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// The one who publishes: holds the lock, knows what is there, and cleans up.
class Publisher {
 public:
  Publisher(const std::string& folder, const PublishOptions& options)
      : folder_(folder), options_(options), lock_(folder, kBusy) {
    if (std::optional<Manifest> manifest = read_manifest(folder)) {
      before_ = std::move(*manifest);
      is_ours_ = true;
    }
    clean(before_);
  }
  /// Files that have not become part of a manifest go; with them a manifest of nothing.
  ~Publisher() {
    clean(before_);
    if (is_begun_ && before_.empty()) files::file_calls().unlink(manifest_path(folder_).c_str());
  }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  Published publish(const std::string& model);
  Published roll_back(std::uint64_t step);

 private:
  /// A step's model, made again where it has no full file of its own.
  struct Made {
    std::unique_ptr<files::AtomicFile> temporary;  ///< null: `file` is one of the folder
    store::ModelFile file;
  };

  std::string path_of(const std::string& name) const { return folder_ + '/' + name; }
  std::uint64_t next_step() const { return before_.empty() ? 1 : before_.newest().step + 1; }
  Made make_again(std::uint64_t step, const std::string& to) const;
  std::optional<Made> make_newest(Published& published) const;
  store::ModelFile make_candidate(const std::string& model, const store::ModelFile* base) const;
  void copy_export(const store::ModelFile& file, const std::string& to) const;
  void add_patch(const store::ModelFile& base, const store::ModelFile& now, Published& to) const;
  std::string odd_about(const store::ModelFile& base, const store::ModelFile& now) const;
  bool is_full_due() const;
  Entry entry(Kind kind, const std::string& name, const store::ModelFile& file) const;
  void commit(const Published& published, const std::optional<store::Checksum>& model,
              std::uint64_t back_to = kNoStep);
  void save(Manifest now);
  void clean(const Manifest& manifest) const noexcept;
  void begin();

  const std::string& folder_;
  const PublishOptions& options_;
  const files::FolderLock lock_;
  Manifest before_;        ///< the one that is there
  bool is_ours_ = false;   ///< the folder has one, so that files named as steps are a publisher's
  bool is_begun_ = false;  ///< by this one
};

/// A folder is a publisher's from its manifest on, be that one of no step: whatever ends the first
/// one, the next knows its files for those of a publisher, and nobody else's are touched. A folder
/// with other files is somebody else's, such as the chunks of a trainer.
void Publisher::begin() {
  if (is_ours_) return;
  if (const std::string name = name_of_other(folder_); !name.empty()) {
    throw std::runtime_error(fmt::format(
        "{}: the folder has other files ({}), and no manifest of leveret publish; publish "
        "to a folder of its own",
        folder_, stream::escaped(name)));
  }
  save({});
  is_ours_ = is_begun_ = true;
}

void Publisher::clean(const Manifest& manifest) const noexcept try {
  if (!is_ours_) return;
  std::vector<std::string> kept = names_in(manifest);
  kept.insert(kept.end(), manifest.retired.begin(), manifest.retired.end());
  remove_litter(folder_, kept, next_step());
} catch (...) {  // no memory: the next one cleans up
}

Publisher::Made Publisher::make_again(std::uint64_t step, const std::string& to) const {
  const std::vector<const Entry*> files = before_.files_for(step);
  const Entry& target = *before_.find(step);
  const auto check = [&](const store::ModelFile& file) {
    if (file.fingerprint() == target.fingerprint) return;
    throw std::runtime_error(
        fmt::format("{}: is not the model of step {} that the manifest names; copy the folder's "
                    "files again, or publish to another folder",
                    file.path(), step));
  };
  store::ModelFile full = store::ModelFile::open(path_of(files[0]->file));
  if (files.size() == 1) {
    for (const store::StoredSection& section : full.sections()) full.verify(section);
    check(full);
    return {nullptr, std::move(full)};
  }
  std::vector<std::string> paths;
  for (const Entry* const patch : std::span(files).subspan(1)) {
    paths.push_back(path_of(patch->file));
  }
  patch::PatchChain chain(paths);
  auto result = patch::apply_patches(full, chain, to, options_.threads);
  store::ModelFile file = store::ModelFile::open(result->temporary(), to);
  check(file);
  return {std::move(result), std::move(file)};
}

/// Nothing where there is none yet, or where it is damaged, which is no reason to publish nothing.
std::optional<Publisher::Made> Publisher::make_newest(Published& published) const {
  if (before_.empty()) return std::nullopt;
  try {
    return make_again(before_.newest().step, path_of(kBase));
  } catch (const std::runtime_error& error) {
    published.damage = error.what();
    return std::nullopt;
  }
}

void Publisher::copy_export(const store::ModelFile& file, const std::string& to) const {
  files::AtomicFile copy(to);
  std::vector<std::byte> part;
  for (std::uint64_t at = 0; at < file.bytes(); at += part.size()) {
    part.resize(std::min<std::uint64_t>(kCopyBytes, file.bytes() - at));
    file.read_at(at, part);
    copy.write(part);
  }
  copy.commit();
}

store::ModelFile Publisher::make_candidate(const std::string& model,
                                           const store::ModelFile* base) const {
  const std::string path = path_of(kCandidate);
  const store::ModelFile from = store::ModelFile::open(model);
  if (from.kind() == store::Kind::kExport) {
    copy_export(from, path);
  } else {
    modelfile::ExportOptions options;
    const int base_bits = base != nullptr ? bits_of(*base) : 0;
    options.bits = options_.bits.value_or(base_bits != 0 ? base_bits : options.bits);
    options.min_count = options_.min_count;
    options.rounding.tolerance = static_cast<float>(options_.tolerance);
    const auto line = modelfile::place_of(from).line;
    if (base != nullptr && base_bits == options.bits && line == modelfile::place_of(*base).line &&
        line != decltype(line){}) {
      options.previous = fmt::format("/proc/self/fd/{}", base->fd());
    }
    modelfile::export_model(model, path, options);
  }
  store::ModelFile candidate = store::ModelFile::open(path, model);
  for (const store::StoredSection& section : candidate.sections()) candidate.verify(section);
  return candidate;
}

Entry Publisher::entry(Kind kind, const std::string& name, const store::ModelFile& file) const {
  Entry entry;
  entry.step = next_step();
  entry.kind = kind;
  entry.file = name;
  entry.bytes = file.bytes();
  entry.fingerprint = file.fingerprint();
  entry.sequence = modelfile::place_of(file).sequence;
  return entry;
}

/// Unless it would take as many bytes as the full file.
void Publisher::add_patch(const store::ModelFile& base, const store::ModelFile& now,
                          Published& to) const {
  const modelfile::ModelPlace from = modelfile::place_of(base), at = modelfile::place_of(now);
  if (modelfile::are_strangers(from.line, at.line)) return;
  const std::string name = patch_name(next_step());
  patch::make_patch(base, now, {at.line, from.sequence, at.sequence}, path_of(name),
                    options_.threads);
  struct stat info;
  const bool is_there = ::stat(path_of(name).c_str(), &info) == 0;
  const auto bytes = is_there ? static_cast<std::uint64_t>(info.st_size) : now.bytes();
  if (bytes >= now.bytes()) return;
  to.patch = entry(Kind::kPatch, name, now);
  to.patch.bytes = bytes;
  to.patch.base = base.fingerprint();
}

/// Somebody may have put a wrong model there.
std::string Publisher::odd_about(const store::ModelFile& base, const store::ModelFile& now) const {
  const modelfile::ModelPlace from = modelfile::place_of(base), at = modelfile::place_of(now);
  const std::uint64_t step = before_.newest().step;
  if (modelfile::are_strangers(from.line, at.line)) {
    return fmt::format("this model has not continued from that of step {}", step);
  }
  const bool is_told = from.sequence != modelfile::kNoSequence && at.sequence != from.sequence;
  if (!is_told || at.sequence > from.sequence) return "";
  return fmt::format(
      "this model has learned {} examples, and that of step {} has learned {}: this model is "
      "older, "
      "or was learned anew",
      at.sequence, step, from.sequence);
}

bool Publisher::is_full_due() const {
  std::uint64_t last = 0;
  for (const Entry& entry : before_.entries) {
    if (entry.kind == Kind::kFull) last = entry.step;
  }
  return next_step() - last >= options_.full_every;
}

Published Publisher::publish(const std::string& model) {
  // A file that is no model leaves the folder as it is.
  store::Checksum from = store::ModelFile::open(model).fingerprint();
  begin();
  Published published;
  const std::optional<Made> base = make_newest(published);
  const store::ModelFile* const newest = base ? &base->file : nullptr;
  std::optional<store::ModelFile> made;
  while (!made) {
    if (const Entry* const old = before_.rolled_back(from)) {
      published.what = Published::What::kRolledBack;
      published.full = *old;
      return published;
    }
    made = make_candidate(model, newest);
    // A trainer may have saved the next one meanwhile.
    const store::Checksum now = store::ModelFile::open(model).fingerprint();
    if (now != std::exchange(from, now)) made.reset();
  }
  const store::ModelFile& candidate = *made;
  if (newest != nullptr && newest->fingerprint() == candidate.fingerprint()) {
    published.what = Published::What::kSame;
    published.full = before_.newest();
    return published;
  }
  if (newest != nullptr) published.odd = odd_about(*newest, candidate);
  published.measured = measure(options_.gates, path_of(kCandidate), newest, options_.threads);
  if (!std::ranges::all_of(published.measured, &Measured::holds)) {
    published.what = Published::What::kRefused;
    return published;
  }
  if (newest != nullptr) add_patch(*newest, candidate, published);
  if (published.patch.file.empty() || is_full_due()) {
    published.full = entry(Kind::kFull, full_name(next_step()), candidate);
    files::rename_in_folder(folder_, kCandidate, published.full.file);
  }
  commit(published, from);
  return published;
}

Published Publisher::roll_back(std::uint64_t step) {
  if (before_.empty()) {
    throw std::runtime_error(folder_ + ": has no step to go back to: nothing is published there");
  }
  const Entry* const target = before_.find(step);
  if (target == nullptr) {
    throw std::runtime_error(
        fmt::format("{}: has no step {}; it keeps {} to {}, which `leveret publish {}` lists",
                    folder_, step, before_.entries.front().step, before_.newest().step, folder_));
  }
  Published published;
  if (target->fingerprint == before_.newest().fingerprint) {
    published.what = Published::What::kSame;
    published.full = before_.newest();
    return published;
  }
  const Entry* const full = before_.find(step, Kind::kFull);
  const std::string name = full != nullptr ? full->file : full_name(next_step());
  Made made = make_again(step, path_of(name));
  published.full = entry(Kind::kFull, name, made.file);
  if (made.temporary != nullptr) made.temporary->commit();
  commit(published, target->model, target->step);
  return published;
}

/// A manifest with one step more, and without those that are too old. `model`: Entry::model.
/// Step `back_to` is kept, too: a rollback to it is known by that (Manifest::rolled_back).
void Publisher::commit(const Published& published, const std::optional<store::Checksum>& model,
                       std::uint64_t back_to) {
  Manifest now;
  now.entries = before_.entries;
  const auto time = static_cast<std::uint64_t>(std::time(nullptr));
  std::vector<GateFigure> gates = figures_of(published.measured, !before_.empty());
  for (const Entry* const entry : {&published.full, &published.patch}) {
    if (entry->file.empty()) continue;
    now.entries.push_back(*entry);
    now.entries.back().published = time;
    now.entries.back().model = model;
    now.entries.back().gates = std::exchange(gates, {});
  }
  const std::uint64_t newest = next_step();
  // Where the oldest step that is kept has no full file, those before it back to one stay, too.
  const std::uint64_t oldest = std::min(newest - std::min(newest, options_.keep) + 1, back_to);
  std::uint64_t first = 0;
  for (const Entry& entry : now.entries) {
    if (entry.kind == Kind::kFull && entry.step <= oldest) first = entry.step;
  }
  std::erase_if(now.entries, [&](const Entry& entry) { return entry.step < first; });
  const std::vector<std::string> old_names = names_in(before_), new_names = names_in(now);
  std::ranges::set_difference(old_names, new_names, std::back_inserter(now.retired));
  save(std::move(now));
}

/// Where it fails behind the rename, as the folder cannot be forced to the disk, it is there all
/// the same: its files must stay then.
void Publisher::save(Manifest now) {
  const std::string text = to_text(now);
  try {
    files::AtomicFile file(manifest_path(folder_));
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  } catch (...) {
    const std::optional<Manifest> there = read_manifest(folder_);
    if (there && to_text(*there) == text) before_ = std::move(now);
    throw;
  }
  before_ = std::move(now);
}

}  // namespace

Published publish_model(const std::string& folder, const std::string& model,
                        const PublishOptions& options) {
  const bool is_new = files::make_folder(folder);
  try {
    Published published = Publisher(folder, options).publish(model);
    if (is_new && published.what == Published::What::kRefused) ::rmdir(folder.c_str());
    return published;
  } catch (...) {
    if (is_new) ::rmdir(folder.c_str());  // which keeps it where something is in it
    throw;
  }
}

Published roll_back(const std::string& folder, std::uint64_t step, const PublishOptions& options) {
  return Publisher(folder, options).roll_back(step);
}

}  // namespace leveret::publish
