#include "skew/skew.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "text/hash.h"

namespace leveret::skew {
namespace {

using model::Seen;
using Kind = SkewFinding::Kind;

// The limits of what is remarkable. leveret-predict(1), SKEW, gives the reasons, and the real data
// that they leave alone.
constexpr double kUsual = 0.5;   // of the examples have a namespace that is not to be missing
constexpr double kLacks = 0.25;  // of that share is left
constexpr double kStrangeLines = 0.01;
constexpr std::uint64_t kFewLines = 5;
constexpr double kKnowsLess = 0.25;   // of the share of known features of a namespace is left
constexpr double kAllKnowLess = 0.5;  // the same of all namespaces
constexpr double kComesFaster = 4;    // new values come so many times as fast
constexpr double kFewValues = 3;

/// Bits; hashes of unknown features are thinned out where a window has more of them.
constexpr std::size_t kMarks = std::size_t{1} << 16;

double share(std::uint64_t part, std::uint64_t of) {
  return of > 0 ? std::min(1.0, static_cast<double>(part) / static_cast<double>(of)) : 0.0;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

}  // namespace

void SkewCounts::add(const SkewCounts& more) {
  lines += more.lines;
  windows += more.windows;
  skewed_windows += more.skewed_windows;
  strange_namespaces += more.strange_namespaces;
  missing_namespaces += more.missing_namespaces;
  features += more.features;
  unknown_features += more.unknown_features;
}

std::string to_text(const SkewFinding& f) {
  switch (f.kind) {
    case Kind::kStrange:
      if (f.name.empty()) {
        return fmt::format("the model has never met some namespaces, and {} of {} lines have one",
                           percent(f.share), f.lines);
      }
      return fmt::format("the model has never met namespace{}{}, and {} of {} lines have {}",
                         f.is_first_letter ? "s that begin with " : " ", f.name, percent(f.share),
                         f.lines, f.is_first_letter ? "one" : "it");
    case Kind::kMissing:
      return fmt::format("only {} of {} lines have namespace {}; {} of the learned examples had it",
                         percent(f.share), f.lines, f.name, percent(f.learned));
    case Kind::kUnknown:
      break;
  }
  return fmt::format(
      "{} of the features{} of {} lines are new to the model; while it learned, {} were new",
      percent(f.share), f.name.empty() ? "" : " of namespace " + f.name, f.lines,
      percent(f.learned));
}

SkewCounter::SkewCounter(std::shared_ptr<const model::Model> model,
                         const text::NamespaceNames& names)
    : model_(std::move(model)),
      names_(names),
      learned_(model_->sightings().get()),
      lines_seen_(*model_, names),
      seen_(model_->features().plans().size()),
      marks_(kMarks / 64) {
  for (const Seen& seen : learned_.seen) all_learned_.add(seen);
}

void SkewCounter::count(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                        const text::ExampleChunk* context) {
  if (!tells()) return;
  const auto add_looked_up = [&](const text::ExampleChunk& of, const text::Example& example,
                                 std::uint64_t lines) {
    ++line_;
    seen_line_.unknown.clear();
    lines_seen_.look_up(of, example, seen_line_.unknown);
    add({of, example, seen_line_.unknown, of.bytes}, lines);
  };
  const std::size_t end = first + count;
  while (first < end) {
    const std::size_t some = std::min<std::size_t>(end - first, kWindow - lines_);
    if (context != nullptr && !context->examples.empty()) {
      add_looked_up(*context, context->examples[0], some);
    }
    for (std::size_t i = first; i < first + some; ++i) add_looked_up(chunk, chunk.examples[i], 1);
    first += some;
    lines_ += some;
    if (lines_ == kWindow) judge();
  }
}

void SkewCounter::count(const text::ExampleChunk& chunk, std::size_t first,
                        const feature::FeatureBatch& batch, const model::Lookup& lookup,
                        std::string_view text, const SeenContext* context) {
  if (!tells()) return;
  const std::uint64_t beside = context != nullptr ? context->seen.plans : 0;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const text::Example& example = chunk.examples[first + b];
    const std::uint64_t plans = lines_seen_.plans(example, batch, b);
    // Nearly all lines are so; the others take some times as long.
    if (plans != 0 && (context == nullptr || (beside != 0 && (beside & plans) == 0))) {
      plain_.add(plans | beside);
      const std::uint32_t to_chunk = chunk.runs[example.runs_begin].begin - batch.linear_begin(b);
      for (const std::uint32_t i : lookup.unknown_of(b)) add_unknown(chunk, example, i + to_chunk);
      if (context != nullptr) {
        for (const std::uint32_t f : context->seen.unknown) {
          add_unknown(context->chunk, context->chunk.examples[0], f);
        }
      }
    } else {
      if (context != nullptr) {
        ++line_;
        add({context->chunk, context->chunk.examples[0], context->seen.unknown, context->text}, 1);
      }
      ++line_;
      lines_seen_.see(chunk, example, batch, b, lookup, seen_line_);
      add({chunk, example, seen_line_.unknown, text}, 1);
    }
    if (++lines_ == kWindow) judge();
  }
}

void SkewCounter::finish() {
  if (lines_ >= kLeast) judge();
}

/// One of an example with SeenLine::plans, whose runs are one feature each.
void SkewCounter::add_unknown(const text::ExampleChunk& chunk, const text::Example& example,
                              std::uint32_t feature) {
  const std::uint32_t first = chunk.runs[example.runs_begin].begin;
  const text::NamespaceRun& run = chunk.runs[example.runs_begin + (feature - first)];
  InWindow& to = seen_[lines_seen_.places().of(run.name).plan];
  ++to.unknown;
  to.fresh += is_new(chunk.features[feature].hash);
}

/// Counts of what so many lines have.
void SkewCounter::add(const Part& part, std::uint64_t lines) {
  const text::ExampleChunk& chunk = part.chunk;
  auto unknown = part.unknown.begin();
  for (std::uint32_t r = part.example.runs_begin; r < part.example.runs_end; ++r) {
    const text::NamespaceRun& run = chunk.runs[r];
    const auto first_unknown = unknown;
    while (unknown != part.unknown.end() && *unknown < run.end) ++unknown;
    if (run.begin == run.end) continue;
    const model::NamespacePlace place = lines_seen_.places().of(run.name);
    if (place.plan == model::NamespacePlace::kNotCounted) continue;
    const bool known = place.is_known();
    InWindow& to = known ? seen_[place.plan] : strange(run, part.text).seen;
    if (std::exchange(to.last, line_) != line_) to.lines += lines;
    if (known && place.shard == model::NamespacePlace::kNoShard) continue;
    to.features += lines * (run.end - run.begin);
    const auto add_one = [&](std::uint32_t f) {
      to.unknown += lines;
      to.fresh += is_new(chunk.features[f].hash);
    };
    if (known) {
      std::for_each(first_unknown, unknown, add_one);
    } else {
      for (std::uint32_t f = run.begin; f < run.end; ++f) add_one(f);
    }
  }
}

/// To the others.
void SkewCounter::add_plain_lines() {
  const std::size_t plans = std::min<std::size_t>(seen_.size(), feature::FeatureBatch::kOtherPlans);
  for (std::uint32_t plan = 0; plan < plans; ++plan) {
    const std::uint64_t lines = plain_.of(plan);
    seen_[plan].lines += lines;
    if (lines_seen_.places().has_shard(plan)) seen_[plan].features += lines;
  }
  plain_ = {};
}

/// Whether it has not come in the window; of some that have the same mark one has.
bool SkewCounter::is_new(std::uint32_t hash) {
  const std::size_t mark = (hash * 0x9e3779b1u) >> 16;
  std::uint64_t& word = marks_[mark / 64];
  const std::uint64_t bit = std::uint64_t{1} << (mark % 64);
  return (std::exchange(word, word | bit) & bit) == 0;
}

SkewCounter::Strange& SkewCounter::strange(const text::NamespaceRun& run, std::string_view text) {
  const auto found = strange_.find(run.name);
  if (found != strange_.end()) {
    found->second.is_several |= found->second.hash != run.hash;
    return found->second;
  }
  Strange& made = strange_[run.name];
  made.hash = run.hash;
  const std::string_view name = names_.name(run.name);
  const bool shared = text::NamespaceNames::is_name_of_shared(name);
  made.name = shared ? find_name(text, run.hash) : std::string(name);
  made.name.resize(std::min(made.name.size(), SkewFinding::kMostName));
  return made;
}

/// In the text, if there is any: those that a model does not know are kept by their first letter
/// alone.
std::string SkewCounter::find_name(std::string_view text, std::uint32_t hash) const {
  const feature::FeatureOptions& options = model_->features().options();
  for (std::size_t bar = text.find('|'); bar < text.size(); bar = text.find('|', bar + 1)) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n:|", bar + 1), text.size());
    const std::string_view name = text.substr(bar + 1, end - bar - 1);
    if (text::hash_namespace(name, options.hash_seed, options.hash) == hash) {
      return std::string(name);
    }
  }
  return {};
}

void SkewCounter::find(SkewFinding finding) {
  skewed_ = true;
  if (told_.add(finding)) findings_.push_back(std::move(finding));
}

void SkewCounter::judge() {
  add_plain_lines();
  judge_strange();
  for (std::size_t plan = 0; plan < seen_.size(); ++plan) judge_namespace(plan);
  judge_all();
  counts_.lines += lines_;
  counts_.features += all_.features;
  counts_.unknown_features += all_.unknown;
  ++counts_.windows;
  counts_.skewed_windows += std::exchange(skewed_, false);
  lines_ = 0;
  all_ = {};
  std::ranges::fill(seen_, InWindow());
  std::ranges::fill(marks_, 0);
  strange_.clear();
}

void SkewCounter::judge_strange() {
  for (const auto& [id, strange] : strange_) {
    const std::uint64_t lines = std::min(strange.seen.lines, lines_);
    counts_.strange_namespaces += lines;
    all_.features += strange.seen.features;
    all_.unknown += strange.seen.unknown;
    if (lines < kFewLines || share(lines, lines_) < kStrangeLines) continue;
    const bool first_letter = strange.name.empty() || strange.is_several;
    std::string name = first_letter ? std::string(names_.name(id).substr(0, 1)) : strange.name;
    if (name == std::string(1, '\0')) name.clear();  // arrays say hashes alone
    find({Kind::kStrange, std::move(name), first_letter, lines_, share(lines, lines_), 0});
  }
}

void SkewCounter::judge_namespace(std::size_t plan) {
  if (plan >= learned_.seen.size()) return;
  const Seen& learned = learned_.seen[plan];
  const InWindow& now = seen_[plan];
  const std::string& name = model_->features().plans()[plan].name;
  all_.features += now.features;
  all_.unknown += now.unknown;
  const double usual = share(learned.examples, learned_.examples), has = share(now.lines, lines_);
  if (usual >= kUsual) {
    counts_.missing_namespaces += lines_ - std::min(now.lines, lines_);
    if (has < kLacks * usual) find({Kind::kMissing, name, false, lines_, has, usual});
  }
  if (learned.features < kLeastFeatures || now.features < kLeast / 2) return;
  const double fresh = share(learned.fresh, learned.features);
  const double unknown = share(now.unknown, now.features);
  // Data that comes in stretches (of a user, of an hour) has values that are all new, too, but few
  // of them.
  const double most = kFewValues + kComesFaster * fresh * static_cast<double>(now.features);
  if (1 - unknown < kKnowsLess * (1 - fresh) && static_cast<double>(now.fresh) >= most) {
    find({Kind::kUnknown, name, false, lines_, unknown, fresh});
  }
}

/// Behind all namespaces.
void SkewCounter::judge_all() {
  if (all_learned_.features < kLeastFeatures || all_.features < kLeast / 2) return;
  const double fresh = share(all_learned_.fresh, all_learned_.features);
  const double unknown = share(all_.unknown, all_.features);
  if (1 - unknown < kAllKnowLess * (1 - fresh)) {
    find({Kind::kUnknown, "", false, lines_, unknown, fresh});
  }
}

}  // namespace leveret::skew
