#include "cli/learn/resume.h"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "cli/console.h"
#include "cli/learn/learned_chunks.h"
#include "cli/learn/run_checkpoints.h"
#include "modelfile/model_io.h"
#include "store/model_file.h"
#include "stream/bad_lines.h"
#include "train/checkpoints.h"

namespace leveret::cli {
namespace {

/// Nothing where the file does not say where it was in its input.
std::optional<Resumed> load(const std::string& path, std::uint64_t memory_limit) {
  const store::ModelFile file = store::ModelFile::open(path);
  train::Notes notes = train::notes_of(file);
  if (!notes.input) return std::nullopt;
  return Resumed{path, std::move(notes), modelfile::load_model(file, memory_limit), false, {}};
}

/// The fault of a checkpoint goes to standard error, and the next is tried.
std::optional<Resumed> load_or_say(const std::string& path, std::uint64_t memory_limit) try {
  return load(path, memory_limit);
} catch (const std::exception& error) {
  say(fmt::format("{}; looking for the checkpoint before it", error.what()));
  return std::nullopt;
}

/// Whether a run has saved this model at its end, behind that checkpoint.
bool has_ended_since(const std::string& checkpoint, const std::string& model) try {
  namespace fs = std::filesystem;
  if (!fs::exists(model) || fs::last_write_time(model) < fs::last_write_time(checkpoint))
    return false;
  const std::optional<train::InputPosition> input =
      train::notes_of(store::ModelFile::open(model)).input;
  return input && input->ended;
} catch (const std::exception&) {
  return false;
}

auto place(const train::InputPosition& position) {
  return std::tuple(position.pass, position.examples);
}

/// The model of -f, where it is to be preferred to a checkpoint.
std::optional<Resumed> load_final(const std::string& path, const std::optional<Resumed>& before,
                                  std::uint64_t memory_limit) {
  if (::access(path.c_str(), F_OK) != 0) return std::nullopt;
  std::optional<Resumed> last = load_or_say(path, memory_limit);
  if (!last || !before) return last;
  const train::InputPosition &now = *last->notes.input, &then = *before->notes.input;
  const bool is_it =
      now.data != then.data ? has_ended_since(before->path, path) : place(now) >= place(then);
  return is_it ? std::move(last) : std::nullopt;
}

std::string names_of(const std::vector<std::string>& data) {
  return data.empty() ? "standard input" : stream::escaped(fmt::format("{}", fmt::join(data, " ")));
}

/// std::runtime_error where this run would hold out other examples than that one.
void check_period(const Resumed& found, const TrainOptions& options) {
  const train::InputPosition& position = *found.notes.input;
  if (position.pass == 0 && position.examples == 0) return;
  const std::uint64_t then = found.notes.best_pass ? found.notes.best_pass->period : 0;
  const std::uint64_t now = options.holds_out() ? options.passes.period : 0;
  if (then == now) return;
  throw std::runtime_error(
      then == 0 ? fmt::format("{}: held no examples out, and --passes would; continue with "
                              "--holdout_off, or leave out --resume to start again",
                              found.path)
                : fmt::format("{0}: holds out one of {1} examples; continue with --passes above "
                              "1 and --holdout_period {1}, or leave out --resume to start again",
                              found.path, then));
}

/// std::runtime_error where -f is not what a checkpoint takes for its best pass's model.
void check_best(const Resumed& found, const std::string& model) {
  const std::optional<train::BestPass>& best = found.notes.best_pass;
  if (!found.is_checkpoint || !best || best->pass == 0) return;
  std::optional<train::BestPass> there;
  if (::access(model.c_str(), F_OK) == 0) {
    there = train::notes_of(store::ModelFile::open(model)).best_pass;
  }
  if (there == best) return;
  throw std::runtime_error(fmt::format(
      "{0}: its best pass was {1}, but {2} is no longer the model of that pass; restore "
      "{2}, or leave out --resume to start again",
      found.path, best->pass, model));
}

}  // namespace

std::string unfinished_checkpoint(const std::string& model) {
  const train::Checkpoints there(RunCheckpoints::folder_of(model));
  if (there.newest() <= there.left()) return "";
  const std::string newest = there.newest_first().front();
  return has_ended_since(newest, model) ? "" : newest;
}

std::string how_far(const train::InputPosition& position) {
  return fmt::format("{} {}{}", position.examples, position.is_lines ? "lines" : "examples",
                     position.pass > 0 ? fmt::format(" of pass {}", position.pass + 1) : "");
}

std::optional<Resumed> find_resumed(const TrainOptions& options, std::uint64_t memory_limit) {
  std::optional<Resumed> found;
  std::vector<std::string> broken;
  const std::string& model = options.final_model;
  for (const std::string& path :
       train::Checkpoints(RunCheckpoints::folder_of(model)).newest_first()) {
    if ((found = load_or_say(path, memory_limit))) break;
    broken.push_back(path);
  }
  if (found) {
    found->is_checkpoint = true;
    found->broken = std::move(broken);
  }
  if (auto last = load_final(model, found, memory_limit)) found = std::move(last);
  if (!found) return std::nullopt;
  const train::InputPosition& position = *found->notes.input;
  if (!is_input_of(position.data, options.input, found->notes.chunks)) {
    if (position.ended) return std::nullopt;  // another input's turn
    throw std::runtime_error(fmt::format(
        "{}: is a checkpoint within {}; continue with that input, or leave out --resume "
        "to start again",
        found->path, names_of(position.data)));
  }
  if (position.examples > 0 && position.is_lines != (options.threads > 1)) {
    throw std::runtime_error(fmt::format(
        "{}: is of a run {}; continue {}, or leave out --resume to start again", found->path,
        position.is_lines ? "in several threads" : "in one thread",
        position.is_lines ? "with --threads, of any number above 1" : "without --threads"));
  }
  check_period(*found, options);
  check_best(*found, model);
  return found;
}

}  // namespace leveret::cli
