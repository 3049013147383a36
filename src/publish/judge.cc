#include "publish/judge.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "feature/feature_map.h"
#include "kernels/dispatch.h"
#include "model/parser_options.h"
#include "predict/predictor.h"
#include "text/namespace_names.h"
#include "text/parser.h"

namespace leveret::publish {
namespace {

text::ParserOptions options_for(const model::Model& model, const Judge::Options& options) {
  text::ParserOptions parser = model::parser_options(model.spec(), model.features().plans());
  parser.max_line = options.max_line;
  parser.keep_names = !options.by.empty();
  return parser;
}

}  // namespace

struct Judge::Side {
  /// The names are not closed yet.
  Side(std::shared_ptr<const model::Model> model, const Options& options,
       std::unique_ptr<text::NamespaceNames> own_names)
      : names(closed(*model, std::move(own_names))),
        parser(*names, options_for(*model, options)),
        predictor(std::move(model), *names, kernels::active()) {}

  static std::unique_ptr<text::NamespaceNames> closed(const model::Model& model,
                                                      std::unique_ptr<text::NamespaceNames> names) {
    model.features().close_names(*names);
    return names;
  }

  void score(const text::ExampleChunk& chunk) {
    outcomes.clear();
    predictor.predict(chunk, 0, chunk.examples.size(), outcomes);
  }

  std::unique_ptr<text::NamespaceNames> names;
  text::Parser parser;
  predict::Predictor predictor;
  text::ExampleChunk chunk;  ///< of the second: its own reading of the lines
  predict::Outcomes outcomes;
};

Judge::Judge(const std::vector<std::shared_ptr<const model::Model>>& models, Options options)
    : options_(std::move(options)), scores_(models.size()) {
  for (const auto& model : models) {
    auto names = std::make_unique<text::NamespaceNames>();
    if (!slices_) slices_.emplace(options_.by, models.size(), *names);
    sides_.push_back(std::make_unique<Side>(model, options_, std::move(names)));
  }
}

Judge::~Judge() = default;

void Judge::add(text::ExampleChunk& lines) {
  if (!lines.bad.empty()) return;  // a line that is too long
  const bool both = sides_.size() > 1;
  if (both) {
    text::ExampleChunk& chunk = sides_[1]->chunk;
    chunk.clear();
    chunk.bytes = lines.bytes;
    chunk.first_line = lines.first_line;
    chunk.source = lines.source;
    sides_[1]->parser.parse(chunk);
    sides_[1]->score(chunk);
  }
  sides_[0]->parser.parse(lines);
  sides_[0]->score(lines);
  const std::size_t others = both ? sides_[1]->chunk.examples.size() : lines.examples.size();
  for (std::size_t e = 0; e < std::max(lines.examples.size(), others); ++e) add(lines, e);
}

void Judge::add(const text::ExampleChunk& chunk, std::size_t example) {
  const auto line_of = [&](const text::ExampleChunk& of) {
    return example < of.examples.size() ? of.examples[example].line : ~std::uint64_t{0};
  };
  const std::uint64_t line = line_of(chunk);
  metrics::Scores::Answers answers{};
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const std::uint64_t its = s == 0 ? line : line_of(sides_[s]->chunk);
    if (its != line) {
      throw std::runtime_error(fmt::format(
          "line {} is good for one of the models and bad for the other; take it out, or "
          "compare models of the same --transform and limits",
          std::min(its, line)));
    }
    answers[s] = sides_[s]->outcomes.items[example].probability;
  }
  const text::Example& of = chunk.examples[example];
  scores_.add(answers, of.label, of.importance);
  slices_->add(chunk, of, answers);
}

}  // namespace leveret::publish
