/// Requests of other programs, as text or as arrays: a context, and candidates for it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leveret/leveret.h"
#include "predict/context_predictor.h"
#include "predict/outcome.h"
#include "predict/predictor.h"
#include "schema/request_rows.h"
#include "serve/request_chunk.h"
#include "serve/served.h"
#include "skew/skew.h"
#include "text/parser.h"

namespace leveret::serve {

/// One thread's. A request is answered by one model, the newest at its begin.
class Requests {
 public:
  /// `context`: namespaces, separated by commas.
  Requests(std::shared_ptr<const Place> place, std::string_view context);
  /// All are answered by this model.
  Requests(std::shared_ptr<const Served> served, std::string_view context);

  /// After an error there is no context.
  void set_context(std::string_view line);
  void set_context(int by, std::span<const leveret_feature> features);
  /// An object of columns, by the model's schema.
  void set_context_row(std::string_view object);
  void clear_context() {
    in_request_ = by_field_ = false;
    context_columns_.clear();
  }
  /// As leveret_predictor_skew says, of all models that it has had.
  const skew::SkewCounts& skew_counts() const { return skew_counts_; }
  const std::string& skew_text() const { return skew_text_; }
  /// The model that has answered the last request, or the newest model where there was none yet.
  const Served& served() const { return *served_; }

  /// As leveret_predict_lines and leveret_predict_features say.
  void predict(std::string_view text, std::span<float> probabilities);
  /// As leveret_predict_rows says.
  void predict_rows(std::string_view text, std::span<float> probabilities);
  void predict(int by, const leveret_feature* features, std::span<const std::size_t> ends,
               std::span<float> probabilities);

 private:
  void move_on();
  void become(std::shared_ptr<const Served> next);
  schema::RequestRows& rows();
  void start_chunk();
  void parse(std::string_view text, text::Parser& parser);
  void refuse_large();
  void check_together() const;
  void append(int by, std::span<const leveret_feature> features);
  Space space(int by, std::uint32_t number) const;
  void start_request();
  void score();
  void tell_skew();
  bool each_field_is_a_namespace() const;

  const std::shared_ptr<const Place> place_;  ///< null: one model answers all
  const std::vector<std::string> selectors_;  ///< of the context's namespaces
  // The model that answers, and what was made for it.
  std::shared_ptr<const Served> served_;
  std::uint64_t time_ = 0;                               ///< of the place when it had it
  decltype(text::ParserOptions::limit) limit_;           ///< of arrays
  std::unique_ptr<text::Parser> parser_;                 ///< of candidates
  std::unique_ptr<text::Parser> context_parser_;         ///< since the first context in text
  std::unique_ptr<schema::RequestRows> rows_;            ///< since the first raw row
  schema::ContextColumns context_columns_;               ///< of a context of raw rows
  std::unique_ptr<predict::Predictor> predictor_;        ///< without a context
  std::unique_ptr<predict::ContextPredictor> requests_;  ///< since the first context
  std::unique_ptr<skew::SkewCounter> skew_;
  bool by_field_ = false;         ///< some features of this request are arrays by field
  bool counts_by_field_ = false;  ///< these can be held against what was learned, too

  bool in_request_ = false;
  text::ExampleChunk chunk_;    ///< candidates, or a context
  predict::Outcomes outcomes_;  ///< theirs
  skew::SkewCounts skew_counts_;
  skew::SkewTold skew_told_;
  std::string skew_text_;
  std::uint64_t too_large_ = 0;  ///< of these, those that are larger than a line with their context
};

}  // namespace leveret::serve
