#include "api/online_learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "api/given_chunks.h"
#include "api/made_names.h"
#include "api/text_pieces.h"
#include "kernels/dispatch.h"
#include "model/parser_options.h"
#include "modelfile/model_io.h"
#include "serve/served.h"
#include "store/content.h"
#include "store/model_file.h"
#include "stream/text_reader.h"
#include "text/hash.h"
#include "train/hogwild.h"

namespace leveret::api {
namespace {

using serve::BadArgument;

constexpr float kNoProbability = std::numeric_limits<float>::quiet_NaN();
/// Chunks that a part of a call has for each thread, where there are several: pieces of text, or
/// chunks of arrays, each of so many examples.
constexpr std::size_t kChunksOfThread = 16;
constexpr std::size_t kExamplesOfChunk = 256;

/// A fault in options is an argument's, and no file's.
template <class Read>
auto reading_options(Read read) {
  try {
    return read();
  } catch (const std::runtime_error& error) {
    throw BadArgument(error.what());
  }
}

std::uint64_t memory_limit(const options::LearnerOptions& options) {
  return options.max_memory() > 0 ? options.max_memory() : modelfile::default_memory_limit();
}

std::unique_ptr<const options::LearnerOptions> read_options(std::string_view text) {
  return reading_options([&] { return std::make_unique<const options::LearnerOptions>(text); });
}

train::SessionOptions session_options(const options::LearnerOptions& options) {
  train::SessionOptions how;
  how.threads = options.threads();
  how.pin = options.pin();
  return how;
}

}  // namespace

float label_of(const float* labels, std::size_t example) {
  const float label = labels[example];
  if (std::isnan(label)) return 0;
  if (label == 1) return 1;
  if (label == 0 || label == -1) return -1;
  throw BadArgument(fmt::format(
      "the label of example {} is {}: give 1, 0, -1, or NaN where none is known", example, label));
}

float importance_of(const float* importances, std::size_t example) {
  if (importances == nullptr) return 1;
  const float importance = importances[example];
  if (importance >= 0 && importance <= text::kMaxImportance) return importance;
  throw BadArgument(fmt::format("the importance of example {} is {}: give a number from 0 to {}",
                                example, importance, text::kMaxImportance));
}

OnlineLearner::OnlineLearner(std::string_view options)
    : options_(read_options(options)), kernels_(kernels::active()) {
  begin(model::Model(reading_options([&] { return options_->spec(); }), memory_limit(*options_)));
}

OnlineLearner::OnlineLearner(std::string_view options, const std::string& path)
    : options_(read_options(options)), kernels_(kernels::active()), is_new_(false) {
  const store::ModelFile file = store::ModelFile::open(path);
  notes_ = train::notes_to_go_on(file);
  model::Model model = modelfile::load_model(file, memory_limit(*options_));
  model.set_spec(reading_options([&] { return options_->spec(model.spec(), path); }));
  begin(std::move(model));
}

void OnlineLearner::begin(model::Model model) {
  const spec::Spec& spec = model.spec();
  reading_options([&] { train::check_threads(options_->threads(), spec); });
  parser_options_ = model::parser_options(spec, model.features().plans());
  parser_options_.max_line = static_cast<std::uint32_t>(stream::ReaderOptions().max_line);
  if (!spec.features.transforms.empty()) {
    parser_options_.limit = RefuseMadeNames(spec.map_options(), parser_options_.limit);
  }
  parser_ = std::make_unique<text::Parser>(names_, parser_options_);
  waiting_.resize(options_->threads());
  session_.emplace(std::make_shared<model::Model>(std::move(model)), names_, kernels_,
                   session_options(*options_));
}

// ---- learning ----

void OnlineLearner::check_usable() const {
  if (!failed_) return;
  throw BadArgument(
      "an error has ended a call of this learner half way, and what it has learned is not known; "
      "go "
      "on from what was saved");
}

void OnlineLearner::begin_call(float* probabilities, std::size_t count) {
  check_usable();
  scorer_.reset();
  bad_.reset();
  probabilities_ = probabilities;
  if (probabilities != nullptr) std::fill_n(probabilities, count, kNoProbability);
}

/// A part of one thread is small, so that a call can be ended soon.
std::size_t OnlineLearner::chunks_of_part() const {
  return options_->threads() > 1 ? kChunksOfThread * options_->threads() : 1;
}

bool OnlineLearner::learn(std::string_view text, float* probabilities, std::size_t count,
                          const Progress& progress) {
  const std::size_t lines = count_lines(text);
  if (probabilities != nullptr && lines != count) {
    throw BadArgument(fmt::format("the text has {} lines, but count is {}", lines, count));
  }
  begin_call(probabilities, lines);
  TextPieces pieces(text);
  std::vector<text::ExampleChunk> chunks(chunks_of_part());
  bool goes_on = true;
  while (goes_on && pieces.lines() < lines) {
    const std::size_t begin = pieces.bytes(), before = pieces.lines();
    std::size_t size = 0;
    while (size < chunks.size() && pieces.next(chunks[size])) ++size;
    learn_part(Chunks(chunks).first(size), false);
    note_text(text.substr(begin, pieces.bytes() - begin));
    lines_ += pieces.lines() - before;
    goes_on = !progress || progress(pieces.lines(), lines) || pieces.lines() == lines;
  }
  answer_waiting([&](std::size_t first) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < first; ++i) at = text.find('\n', at) + 1;
    const std::string_view rest = text.substr(at, pieces.bytes() - at);
    scorer().predict(rest, {probabilities + first, count_lines(rest)});
  });
  if (bad_) throw serve::BadLine(serve::about(*bad_));
  return goes_on;
}

bool OnlineLearner::learn(const Arrays& arrays, float* probabilities, const Progress& progress) {
  check(arrays);
  const std::size_t count = arrays.ends.size();
  begin_call(probabilities, count);
  std::vector<text::ExampleChunk> chunks(chunks_of_part());
  bool goes_on = true;
  std::size_t done = 0;
  while (goes_on && done < count) {
    std::size_t size = 0;
    const std::size_t before = done;
    for (; size < chunks.size() && done < count; ++size) {
      text::ExampleChunk& chunk = chunks[size];
      chunk.clear();
      chunk.first_line = done + 1;
      const std::size_t end = std::min(count, done + kExamplesOfChunk);
      for (; done < end; ++done) append(arrays, done, chunk);
      chunk.name_limit = names_.size();
      if (parser_options_.limit) parser_options_.limit(names_, chunk);
    }
    learn_part(Chunks(chunks).first(size), true);
    lines_ += done - before;
    goes_on = !progress || progress(done, count) || done == count;
  }
  answer_waiting([&](std::size_t first) {
    std::vector<std::size_t> ends(arrays.ends.begin() + static_cast<std::ptrdiff_t>(first),
                                  arrays.ends.begin() + static_cast<std::ptrdiff_t>(done));
    const std::size_t begin = first > 0 ? arrays.ends[first - 1] : 0;
    for (std::size_t& end : ends) end -= begin;
    scorer().predict(LEVERET_BY_NAMESPACE, arrays.features + begin, ends,
                     {probabilities + first, ends.size()});
  });
  if (bad_) throw serve::BadLine(fmt::format("array {}: {}", bad_->line - 1, bad_->what));
  return goes_on;
}

void OnlineLearner::learn_part(Chunks chunks, bool parsed) {
  failed_ = true;  // until all of it is learned
  if (options_->threads() == 1) {
    for (text::ExampleChunk& chunk : chunks) {
      if (!parsed) stream::parse_chunk(*parser_, chunk);
      session_->learn(chunk, *this);
    }
  } else {
    GivenChunks source(chunks);
    session_->learn_in_threads(source, parsed ? std::nullopt : std::optional(parser_options_),
                               *this);
  }
  failed_ = false;
}

void OnlineLearner::note_text(std::string_view text) {
  if (std::exchange(lacks_end_, !text.ends_with('\n'))) hasher_.add("\n");
  hasher_.add(text);
}

void OnlineLearner::answer_waiting(const std::function<void(std::size_t first)>& predict) {
  std::deque<std::size_t>& waiting = waiting_[0];
  const auto first =
      std::ranges::find_if(waiting, [](std::size_t i) { return i != kOfEarlierCall; });
  if (first == waiting.end()) return;
  const std::size_t line = *first;
  std::fill(first, waiting.end(), kOfEarlierCall);
  if (probabilities_ == nullptr) return;
  try {
    predict(line);
  } catch (const serve::BadLine&) {  // of which the call tells by itself
  } catch (const BadArgument&) {     // the same of an array
  }
}

void OnlineLearner::chunk(const text::ExampleChunk& chunk, std::uint64_t, unsigned thread) {
  if (!chunk.bad.empty() && (!bad_ || chunk.bad[0].line < bad_->line)) bad_ = chunk.bad[0];
  for (const text::Example& example : chunk.examples) waiting_[thread].push_back(example.line - 1);
}

void OnlineLearner::outcomes(train::Outcomes& outcomes, bool, unsigned thread) {
  std::deque<std::size_t>& waiting = waiting_[thread];
  for (const train::Outcome& outcome : outcomes.items) {
    const std::size_t line = waiting.front();
    waiting.pop_front();
    if (line != kOfEarlierCall && probabilities_ != nullptr) {
      probabilities_[line] = outcome.probability;
    }
    labelled_ += outcome.label != 0;
    metrics_.add(outcome.probability, outcome.label, outcome.importance);
  }
}

// ---- arrays ----

/// All of them, before the first is learned.
void OnlineLearner::check(const Arrays& arrays) {
  add_spaces_of_model();
  serve::need_arrays(parser_options_);
  if (!std::ranges::is_sorted(arrays.ends))
    throw BadArgument("an end must not be less than the one before");
  text::ExampleChunk chunk;
  for (std::size_t i = 0; i < arrays.ends.size(); ++i) {
    chunk.clear();
    chunk.first_line = i + 1;
    append(arrays, i, chunk);
  }
}

void OnlineLearner::append(const Arrays& arrays, std::size_t example,
                           text::ExampleChunk& to) const {
  const std::size_t begin = example > 0 ? arrays.ends[example - 1] : 0;
  serve::append_example(
      {arrays.features + begin, arrays.ends[example] - begin},
      [this](std::uint32_t hash) { return space_of(hash); }, to);
  to.examples.back().label = label_of(arrays.labels, example);
  to.examples.back().importance = importance_of(arrays.importances, example);
}

serve::Space OnlineLearner::space_of(std::uint32_t hash) const {
  const auto found = name_of_hash_.find(hash);
  if (found != name_of_hash_.end()) return {found->second, hash};
  throw BadArgument(
      fmt::format("no namespace has the hash {} here: call leveret_learner_hash_namespace with its "
                  "name first",
                  hash));
}

std::uint32_t OnlineLearner::add_space(std::string_view name) {
  const std::optional<std::uint32_t> id = names_.intern(name);
  if (!id) throw BadArgument("there are too many namespaces");
  const std::uint32_t hash =
      text::hash_namespace(name, parser_options_.hash_seed, parser_options_.hash);
  name_of_hash_.emplace(hash, *id);
  return hash;
}

/// Those that it has met since.
void OnlineLearner::add_spaces_of_model() {
  const std::vector<feature::NamespacePlan>& plans = session_->model()->features().plans();
  for (; plans_ < plans.size(); ++plans_) add_space(plans[plans_].name);
}

std::uint32_t OnlineLearner::hash_namespace(std::string_view name) {
  if (name.find_first_of(" \t\r\n\v\f|:") != std::string_view::npos) {
    throw BadArgument("a namespace's name must not have a blank, a | or a colon");
  }
  return add_space(name);
}

std::uint32_t OnlineLearner::hash_feature(std::uint32_t space, std::string_view name) const {
  return text::hash_name(name, space, parser_options_.hash);
}

// ---- predicting, saving ----

serve::Requests& OnlineLearner::scorer() {
  if (!scorer_) {
    scorer_ = std::make_unique<serve::Requests>(
        std::make_shared<const serve::Served>(session_->model()), "");
  }
  return *scorer_;
}

void OnlineLearner::predict(std::string_view text, std::span<float> probabilities) {
  check_usable();
  scorer().predict(text, probabilities);
}

void OnlineLearner::predict(const leveret_feature* features, std::span<const std::size_t> ends,
                            std::span<float> probabilities) {
  check_usable();
  scorer().predict(LEVERET_BY_NAMESPACE, features, ends, probabilities);
}

void OnlineLearner::save(const std::string& name) {
  check_usable();
  const std::string path = name == "-" ? "./-" : name;  // a file like any other here
  store::check_may_replace(store::Content::kModel, path);
  scorer_.reset();
  failed_ = true;
  session_->finish(*this);
  failed_ = false;
  if (is_new_ && labelled_ == 0) {
    throw BadArgument("no labelled example came: nothing is learned, and nothing saved");
  }
  train::Notes notes = notes_;
  if (hasher_.bytes() > 0) notes.chunks.add(hasher_.get());
  modelfile::save_model(*session_->model(), path, train::to_bytes(notes));
  notes_ = std::move(notes);
  hasher_ = {};
  lacks_end_ = false;
}

}  // namespace leveret::api
