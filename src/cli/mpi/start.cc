#include "cli/mpi/start.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "dist/folder/shard_files.h"
#include "dist/learn/batch_reader.h"
#include "dist/learn/local_learner.h"
#include "dist/mesh/learner.h"
#include "dist/talk/agreement.h"
#include "files/atomic_file.h"
#include "modelfile/header.h"
#include "modelfile/model_io.h"
#include "spec/json.h"
#include "stream/bad_lines.h"

namespace leveret::cli {
namespace {

using Json = nlohmann::ordered_json;

void check_files(const MpiTrainOptions& options) {
  FileUses uses;
  uses.add(options.input);
  uses.add_model("-i", options.initial_model);
  add_uses(uses, options.report);
  uses.add_field_files(options.flags.files());
  const bool is_file = options.strategy == Strategy::kMesh && !options.final_model.empty();
  if (is_file) {
    uses.add_saved_model("-f", options.final_model);
  } else {
    uses.add_saved_folder("-f", options.final_model);
  }
  uses.check(options.report.overwrite);
  if (is_file) check_model_name("-f", options.final_model);
}

spec::Spec stored_spec(const std::string& path) {
  if (dist::ShardFolder::is_folder(path)) return dist::ShardFolder(path).spec();
  const store::ModelFile file = store::ModelFile::open(path);
  if (file.kind() != store::Kind::kModel) {
    throw std::runtime_error(
        path + ": is not a model to continue from; `leveret inspect` says what it is");
  }
  try {
    return spec::spec_from_json(Json::parse(file.header_json()).at("spec"));
  } catch (const std::exception& error) {
    throw std::runtime_error(path + ": " + modelfile::header_error(error));
  }
}

spec::Spec in_batches(spec::Spec spec) {
  if (spec.batch_size == 1) spec.batch_size = MpiTrainOptions::kBatchSize;
  return spec;
}

spec::Spec first_spec(const MpiTrainOptions& options) {
  const std::string& from = options.initial_model;
  const bool is_new = from.empty();
  spec::Spec spec = is_new ? options.flags.spec(in_batches({}))
                           : options.flags.spec(in_batches(stored_spec(from)), from);
  if (spec.batch_size == 1) {
    throw CLI::ValidationError(
        "processes learn a batch together, not example by example: give --batch_size of 2 and "
        "more");
  }
  spec = options::in_shards(options.flags, std::move(spec));
  try {
    if (options.strategy == Strategy::kMesh) dist::check_mesh(spec);
  } catch (const std::runtime_error& error) {
    if (!is_new) throw;
    throw CLI::ValidationError(error.what());
  }
  return spec;
}

std::uint32_t shards_of(const MpiTrainOptions& options, const dist::Communicator& ranks) {
  return options.deterministic ? dist::kDeterministicShards : ranks.size();
}

/// Refuses a folder of models that has more or fewer shards than there will be.
void check_shards(const MpiTrainOptions& options, const dist::Communicator& ranks) {
  const std::string& from = options.initial_model;
  if (from.empty() || !dist::ShardFolder::is_folder(from)) return;
  const std::uint32_t stored = dist::ShardFolder(from).shards(), now = shards_of(options, ranks);
  if (stored == now) return;
  throw std::runtime_error(fmt::format(
      "{}: has {} shards, but this run has {}; start as many processes as the run that made it{}, "
      "or make one file of it (leveret-mpi gather) and continue from that file",
      from, stored, now,
      stored == dist::kDeterministicShards ? ", with --deterministic if it had that" : ""));
}

/// How many of the ranks are on this rank's machine.
std::uint64_t ranks_here(dist::Communicator& ranks) {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  dist::Bytes all;
  for (const dist::Bytes& host : ranks.gather(name)) all += host + '\n';
  ranks.broadcast(all);
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < all.size(); at = all.find('\n', at) + 1) {
    count += all.compare(at, all.find('\n', at) - at, name) == 0;
  }
  return std::max<std::uint64_t>(count, 1);
}

/// As manifests have them: names that are no UTF-8 are changed there.
std::string stored_names(const std::vector<std::string>& data) {
  return Json(data).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Where the checkpoint is that --resume goes on with; nothing where there is none to go on with.
std::optional<train::InputPosition> resumed_position(const MpiTrainOptions& options) {
  const std::string& folder = options.final_model;
  if (!options.resume || !dist::ShardFolder::has_model(folder)) return std::nullopt;
  std::optional<train::InputPosition> position = dist::ShardFolder(folder).position();
  if (!position || stored_names(position->data) == stored_names(options.input.data)) {
    return position;
  }
  if (position->ended) return std::nullopt;  // another input's turn
  throw std::runtime_error(fmt::format(
      "{}: is a checkpoint within {}; continue with that input, or leave out --resume to "
      "start again",
      folder,
      position->data.empty() ? "standard input"
                             : stream::escaped(fmt::format("{}", fmt::join(position->data, " ")))));
}

void tell_of_position(const MpiTrainOptions& options,
                      const std::optional<train::InputPosition>& resumed) {
  if (options.report.quiet) return;
  const auto where = [](const train::InputPosition& position) {
    return fmt::format("{} examples{}", position.examples,
                       position.pass > 0 ? fmt::format(" of pass {}", position.pass + 1) : "");
  };
  if (resumed) {
    say(fmt::format("continuing from {}, which has learned {}; reports begin there",
                    options.final_model, where(*resumed)));
    return;
  }
  const std::string& from = options.initial_model;
  if (!dist::ShardFolder::has_model(from)) return;
  const std::optional<train::InputPosition> position = dist::ShardFolder(from).position();
  if (!position || position->ended) return;
  say(fmt::format(
      "{}: is a checkpoint after {}; --resume would continue there, -i learns all of the "
      "input",
      from, where(*position)));
}

/// A model that cannot be saved is known now, not after hours of learning.
void try_save_model(const MpiTrainOptions& options, std::uint32_t shards,
                    dist::Communicator& ranks) {
  const std::string& path = options.final_model;
  if (path.empty()) return;
  if (options.strategy == Strategy::kDes) {
    return dist::try_save_shards(ranks, path,
                                 dist::RankShards::of(shards, ranks.rank(), ranks.size()).first);
  }
  dist::together(ranks, [&] {
    if (ranks.is_root()) files::try_save(path);
  });
}

}  // namespace

int exit_code_of(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const CLI::ParseError&) {
    return 2;
  } catch (...) {
    return 1;
  }
}

TrainingStart start_training(MpiTrainOptions& options, dist::Communicator& ranks) {
  std::optional<train::InputPosition> position;
  const Json message = Json::parse(dist::from_root(
      ranks,
      [&] {
        settle_input(options.input);
        position = resumed_position(options);
        if (position) options.initial_model = options.final_model;
        check_files(options);
        check_shards(options, ranks);
        const Json spec = spec::to_json(first_spec(options));
        tell_of_position(options, position);
        return Json{{"spec", spec}, {"resumes", position.has_value()}}.dump();
      },
      exit_code_of));
  if (message.at("resumes")) options.initial_model = options.final_model;
  TrainingStart start = {.spec = spec::spec_from_json(message.at("spec")),
                         .shards = shards_of(options, ranks),
                         .shard_bytes = options.max_memory,
                         .position = position};
  if (options.deterministic) {
    start.shard_bytes =
        (options.max_memory > 0 ? options.max_memory : modelfile::default_memory_limit()) /
        start.shards;
  } else if (options.max_memory == 0) {
    start.shard_bytes = modelfile::default_memory_limit() / ranks_here(ranks);
  }
  try_save_model(options, start.shards, ranks);
  return start;
}

}  // namespace leveret::cli
