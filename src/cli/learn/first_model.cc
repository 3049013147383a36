#include "cli/learn/first_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "dist/folder/gather.h"
#include "dist/learn/local_learner.h"
#include "files/file_state.h"
#include "modelfile/model_io.h"
#include "store/model_file.h"
#include "stream/bad_lines.h"
#include "train/kept_models.h"

namespace leveret::cli {
namespace {

/// The model of -f once it has followed a folder: the same command line goes on with it.
std::string last_model(const TrainOptions& options) {
  const std::string& path = options.final_model;
  if (::access(path.c_str(), F_OK) != 0) return options.initial_model;
  const train::Notes notes = train::notes_of(store::ModelFile::open(path));
  if (notes.followed.empty() && notes.without.empty()) return options.initial_model;
  if (!options.report.quiet) {
    say(fmt::format(
        "continuing from {}, which has followed its folder {}", path,
        notes.followed.empty() ? "to no file yet" : "up to " + stream::escaped(notes.followed)));
  }
  return path;
}

/// Those of the model, behind the one that it goes back to, that are to be learned again.
train::ChunkLedger chunks_behind(const train::Notes& notes, const FollowStart& start,
                                 std::size_t learned_before) {
  train::ChunkLedger behind;
  for (std::size_t i = learned_before; i < notes.chunks.entries().size(); ++i) {
    const train::ChunkLedger::Entry& entry = notes.chunks.entries()[i];
    if (!start.unwanted.has_entry(entry)) behind.add_entry(entry);
  }
  return behind;
}

/// How many of these chunks are still in the folder, in files between two names.
std::size_t count_there(const std::string& folder, const train::ChunkLedger& chunks,
                        const std::string& from, const std::string& to) {
  train::ChunkLedger there;
  std::error_code unknown;
  for (std::filesystem::directory_iterator it(folder, unknown), end; !unknown && it != end;
       it.increment(unknown)) {
    const std::string name = it->path().filename().string();
    if (name <= from || name > to) continue;
    const std::optional<train::ChunkHash> chunk = train::hash_of_file(it->path().string(), nullptr);
    if (chunk && chunks.has(*chunk)) there.add(*chunk);
  }
  return there.entries().size();
}

/// To the newest kept model before `name`, the first file that is not wanted. `changed`: how many
/// of the files that are named now it has learned with another content, or are gone.
void go_back(const TrainOptions& options, const train::Notes& notes, const std::string& name,
             std::size_t changed, FollowStart& start) {
  const train::KeptModels kept(options.final_model);
  const auto before = kept.newest_before(name, start.path, notes.chunks, start.unwanted);
  if (!before) {
    throw std::runtime_error(
        fmt::format("{} is past {}, and no older model is kept in {}; start with a copy of an "
                    "older model (-i), and keep more models (--keep_models)",
                    start.path, stream::escaped(name), kept.folder()));
  }
  say(fmt::format("going back to {}, as {} is past {}", before->path, start.path,
                  stream::escaped(name)));
  const train::ChunkLedger behind = chunks_behind(notes, start, before->chunks);
  const std::size_t there =
      count_there(options.input.data[0], behind, before->followed, notes.followed);
  if (there + changed < behind.entries().size()) {
    say(fmt::format(
        "warning: files that are learned again: {}; files that are no longer in the folder, and "
        "are forgotten: {}",
        there, behind.entries().size() - changed - there));
  }
  start.path = before->path;
  start.goes_back = true;
}

}  // namespace

FollowStart follow_start(const TrainOptions& options) {
  FollowStart start;
  start.path = last_model(options);
  train::Notes notes;
  if (!start.path.empty()) notes = train::notes_of(store::ModelFile::open(start.path));
  start.without = notes.without;
  start.unwanted = notes.unwanted;
  const train::KeptModels kept(options.final_model);
  std::string first;  // of those that it has come to
  std::size_t changed = 0;
  for (const std::string& name : options.following.without) {
    if (std::ranges::find(notes.without, name) != notes.without.end()) continue;
    const std::string path = options.input.data[0] + '/' + name;
    if (!files::state_of(path) && !kept.has(name)) {
      throw std::runtime_error(fmt::format(
          "{}: no such file, and {} has no model that learned it; --without names a file of the "
          "folder",
          path, kept.folder()));
    }
    start.without.push_back(name);
    const std::optional<train::ChunkHash> chunk = train::hash_of_file(path, nullptr);
    const bool is_learned = chunk && notes.chunks.has(*chunk);
    const bool is_ahead = name > notes.followed;
    // What was mended since it was learned may come again under a higher name.
    if (chunk && (is_learned || is_ahead)) start.unwanted.add(*chunk);
    if (!is_learned && is_ahead) continue;
    changed += !is_learned;
    if (first.empty() || name < first) first = name;
  }
  if (!first.empty()) go_back(options, notes, first, changed, start);
  return start;
}

model::Model first_model(const TrainOptions& options, const std::string& path,
                         std::optional<Resumed>& resumed, std::uint64_t memory_limit,
                         train::Notes& notes) {
  if (resumed) {
    notes = resumed->notes;
    model::Model model = std::move(resumed->model);
    model.set_spec(options.flags.spec(model.spec(), resumed->path));
    if (!options.report.quiet) {
      say(fmt::format("continuing from {}, which has learned {}; reports begin there",
                      resumed->path, how_far(*notes.input)));
    }
    return model;
  }
  if (path.empty()) return model::Model(options.flags.spec(), memory_limit);
  const store::ModelFile file = store::ModelFile::open(path);
  notes = train::notes_to_go_on(file);
  model::Model model = modelfile::load_model(file, memory_limit);
  model.set_spec(options.flags.spec(model.spec(), path));
  return model;
}

std::unique_ptr<dist::ShardedModel> first_shards(const TrainOptions& options, model::Model model,
                                                 std::uint64_t memory_limit,
                                                 const kernels::Kernels& kernels) {
  constexpr std::uint32_t kShards = dist::kDeterministicShards;
  if (model.spec().batch_size == 1) {
    throw std::runtime_error("--deterministic is about batches: give --batch_size, of more than 1");
  }
  model.set_spec(options::in_shards(options.flags, model.spec()));
  return dist::split(model, kShards, 0, kShards, memory_limit / kShards, kernels);
}

}  // namespace leveret::cli
