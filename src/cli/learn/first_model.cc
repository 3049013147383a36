#include "cli/learn/first_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "cli/learn/followed_model.h"
#include "dist/folder/gather.h"
#include "dist/learn/local_learner.h"
#include "modelfile/model_io.h"
#include "store/model_file.h"
#include "stream/bad_lines.h"

namespace leveret::cli {
namespace {

/// The model of -f once it has followed a folder: the same command line goes on with it.
std::string last_model(const TrainOptions& options) {
  const std::string& path = options.final_model;
  if (::access(path.c_str(), F_OK) != 0) return options.initial_model;
  const std::string followed = train::notes_of(store::ModelFile::open(path)).followed;
  if (followed.empty()) return options.initial_model;
  if (!options.report.quiet) {
    say(fmt::format("going on with {}, which has followed its folder up to {}", path,
                    stream::escaped(followed)));
  }
  return path;
}

}  // namespace

std::string followed_model(const TrainOptions& options) {
  std::string path = last_model(options);
  const std::vector<std::string>& without = options.following.without;
  if (path.empty() || without.empty()) return path;
  return model_without(path, train::KeptModels(options.final_model), options.input.data[0],
                       without);
}

model::Model first_model(const TrainOptions& options, const std::string& path,
                         std::optional<Resumed>& resumed, std::uint64_t memory_limit,
                         train::Notes& notes) {
  if (resumed) {
    notes = resumed->notes;
    model::Model model = std::move(resumed->model);
    model.set_spec(options.flags.spec(model.spec(), resumed->path));
    if (!options.report.quiet) {
      say(fmt::format("going on with {}, which has learned {}; what is reported begins there",
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
