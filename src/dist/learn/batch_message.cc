#include "dist/learn/batch_message.h"

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "dist/talk/narrow_numbers.h"
#include "files/bytes.h"
#include "spec/json.h"

namespace leveret::dist {
namespace {

using feature::FieldFeature;
using feature::kLinearElsewhere;
using feature::kNoLinear;
using files::BytesReader;
using files::put;
using files::put_array;
using files::put_text;

/// How the features of a field's run are told.
enum class Link : std::uint8_t {
  kEach,       ///< one by one
  kFollowing,  ///< linear features, one after the other, from where the run before ended
  kNone,       ///< all kNoLinear
  kElsewhere,  ///< all kLinearElsewhere
};

// ---- columns of numbers ----

/// A byte that says whether all are `usual`, and else all of them.
void put_floats(Bytes& to, std::span<const float> values, float usual) {
  const bool all = std::ranges::all_of(values, [&](float value) { return value == usual; });
  put(to, static_cast<std::uint8_t>(all));
  if (!all) put_array(to, values.data(), values.size());
}

std::vector<float> get_floats(BytesReader& from, std::size_t count, float usual) {
  if (from.get<std::uint8_t>() != 0) return std::vector<float>(count, usual);
  return from.get_array<float>(count);
}

// ---- growth ----

void put_growth(Bytes& to, const Growth& growth) {
  put_text(to, growth.namespaces.empty() ? "" : spec::to_json(growth.namespaces).dump());
  put(to, static_cast<std::uint32_t>(growth.fields.size()));
  put_array(to, growth.fields.data(), growth.fields.size());
  put(to, static_cast<std::uint32_t>(growth.sizes.size()));
  for (const FieldSize& size : growth.sizes) {
    put(to, size.features);
    put(to, size.rows);
  }
}

void get_growth(BytesReader& from, Growth& growth) {
  growth = {};
  const std::string_view json = from.get_text();
  if (!json.empty()) {
    growth.namespaces = spec::plans_from_json(nlohmann::ordered_json::parse(json));
  }
  growth.fields = from.get_array<std::uint32_t>(from.get_count(sizeof(std::uint32_t)));
  growth.sizes.resize(from.get_count(sizeof(FieldSize)));
  for (FieldSize& size : growth.sizes) {
    size.features = from.get<std::uint64_t>();
    size.rows = from.get<std::uint64_t>();
  }
}

// ---- what is of all examples ----

void put_examples(Bytes& to, const PartBatch& part) {
  const feature::FeatureBatch& batch = part.features;
  for (const float label : batch.label) put(to, static_cast<std::int8_t>(label));
  put_floats(to, batch.importance, 1);
  put_floats(to, batch.initial, 0);
  std::vector<std::uint32_t> counts(part.instance_features.begin(), part.instance_features.end());
  put(to, static_cast<std::uint8_t>(!counts.empty()));
  if (counts.empty()) return;
  put_numbers(to, counts);
  const bool same = part.instance_squares == part.instance_features;
  put(to, static_cast<std::uint8_t>(same));
  if (!same) put_array(to, part.instance_squares.data(), part.instance_squares.size());
}

void get_examples(BytesReader& from, std::size_t size, PartBatch& part) {
  feature::FeatureBatch& batch = part.features;
  for (const std::int8_t label : from.get_array<std::int8_t>(size)) batch.label.push_back(label);
  batch.importance = get_floats(from, size, 1);
  batch.initial = get_floats(from, size, 0);
  if (from.get<std::uint8_t>() == 0) return;
  const std::vector<std::uint32_t> counts = get_numbers(from, size);
  part.instance_features.assign(counts.begin(), counts.end());
  part.instance_squares = part.instance_features;
  if (from.get<std::uint8_t>() == 0) part.instance_squares = from.get_array<float>(size);
}

// ---- linear features ----

/// Differences of begins, one for each example.
std::vector<std::uint32_t> counts_of(std::span<const std::uint32_t> begins) {
  std::vector<std::uint32_t> counts;
  for (std::size_t b = 0; b + 1 < begins.size(); ++b) counts.push_back(begins[b + 1] - begins[b]);
  return counts;
}

std::vector<std::uint32_t> begins_of(std::span<const std::uint32_t> counts) {
  std::vector<std::uint32_t> begins = {0};
  for (const std::uint32_t count : counts) begins.push_back(begins.back() + count);
  return begins;
}

/// `runs` with the number that names each, and its length.
template <class Runs, class Number>
void put_runs(Bytes& to, const Runs& runs, std::span<const std::uint32_t> begins, Number number) {
  std::vector<std::uint32_t> numbers, lengths;
  for (const auto& run : runs) {
    numbers.push_back(run.*number);
    lengths.push_back(run.end - run.begin);
  }
  put_numbers(to, counts_of(begins));
  put_numbers(to, numbers);
  put_numbers(to, lengths);
}

template <class Runs>
void get_runs(BytesReader& from, std::size_t examples, Runs& runs,
              std::vector<std::uint32_t>& begins) {
  begins = begins_of(get_numbers(from, examples));
  const std::vector<std::uint32_t> numbers = get_numbers(from, begins.back());
  const std::vector<std::uint32_t> lengths = get_numbers(from, begins.back());
  std::uint32_t at = 0;
  for (std::size_t r = 0; r < numbers.size(); ++r) {
    runs.push_back({numbers[r], at, at + lengths[r]});
    at += lengths[r];
  }
}

template <class Features>
void put_features(Bytes& to, const Features& features) {
  std::vector<std::uint32_t> hashes;
  std::vector<float> values;
  for (const auto& feature : features) {
    hashes.push_back(feature.hash);
    values.push_back(feature.value);
  }
  put_array(to, hashes.data(), hashes.size());
  put_floats(to, values, 1);
}

std::vector<feature::Feature> get_features(BytesReader& from, std::size_t count) {
  const std::vector<std::uint32_t> hashes = from.get_array<std::uint32_t>(count);
  const std::vector<float> values = get_floats(from, count, 1);
  std::vector<feature::Feature> features(count);
  for (std::size_t i = 0; i < count; ++i) features[i] = {hashes[i], values[i]};
  return features;
}

// ---- features of fields ----

Link link_of(std::span<const FieldFeature> run, std::uint32_t following) {
  const auto all = [&](std::uint32_t linear) {
    return std::ranges::all_of(run, [&](const FieldFeature& f) { return f.linear == linear; });
  };
  if (all(kNoLinear)) return Link::kNone;
  if (all(kLinearElsewhere)) return Link::kElsewhere;
  for (const FieldFeature& feature : run) {
    if (feature.linear != following++) return Link::kEach;
  }
  return Link::kFollowing;
}

bool is_linked(std::uint32_t linear) { return linear != kNoLinear && linear != kLinearElsewhere; }

/// Where the linear feature of the next run is expected, after one of these features.
std::uint32_t after(std::span<const FieldFeature> run, std::uint32_t following) {
  for (const FieldFeature& feature : run) {
    if (is_linked(feature.linear)) following = feature.linear + 1;
  }
  return following;
}

void put_fields(Bytes& to, const feature::FeatureBatch& batch) {
  put_runs(to, batch.runs, batch.runs_begin, &feature::FieldRun::field);
  std::vector<std::uint32_t> links, each;
  std::vector<FieldFeature> unlinked;
  std::uint32_t following = 0;
  for (const feature::FieldRun& run : batch.runs) {
    const std::span features(batch.field_features.data() + run.begin, run.end - run.begin);
    const Link link = link_of(features, following);
    links.push_back(static_cast<std::uint32_t>(link));
    for (const FieldFeature& feature : features) {
      if (link == Link::kEach) each.push_back(feature.linear);
      if (!is_linked(feature.linear)) unlinked.push_back(feature);
    }
    following = after(features, following);
  }
  put_numbers(to, links);
  put(to, static_cast<std::uint32_t>(each.size()));
  put_array(to, each.data(), each.size());
  put(to, static_cast<std::uint32_t>(unlinked.size()));
  put_features(to, unlinked);
}

std::uint32_t linear_of(Link link, std::uint32_t following) {
  if (link == Link::kNone) return kNoLinear;
  return link == Link::kElsewhere ? kLinearElsewhere : following;
}

void get_fields(BytesReader& from, std::size_t size, feature::FeatureBatch& batch) {
  get_runs(from, size, batch.runs, batch.runs_begin);
  const std::vector<std::uint32_t> links = get_numbers(from, batch.runs.size());
  const std::vector<std::uint32_t> each =
      from.get_array<std::uint32_t>(from.get_count(sizeof(std::uint32_t)));
  const std::vector<feature::Feature> unlinked =
      get_features(from, from.get_count(sizeof(std::uint32_t)));
  std::size_t next_each = 0, next_unlinked = 0;
  std::uint32_t following = 0;
  for (std::size_t r = 0; r < batch.runs.size(); ++r) {
    const auto link = static_cast<Link>(links[r]);
    for (std::uint32_t i = batch.runs[r].begin; i < batch.runs[r].end; ++i) {
      from.check(link != Link::kEach || next_each < each.size(), "a link is missing");
      const std::uint32_t linear =
          link == Link::kEach ? each[next_each++] : linear_of(link, following);
      if (is_linked(linear)) {
        from.check(linear < batch.linear.size(), "a feature is beyond the linear ones");
        const feature::Feature& same = batch.linear[linear];
        batch.field_features.push_back({same.hash, same.value, linear});
        following = linear + 1;
      } else {
        from.check(next_unlinked < unlinked.size(), "a feature is missing");
        const feature::Feature& own = unlinked[next_unlinked++];
        batch.field_features.push_back({own.hash, own.value, linear});
      }
    }
  }
  batch.field_features_begin.assign(1, 0);
  for (std::size_t b = 0; b < size; ++b) {
    const std::uint32_t last = batch.runs_begin[b + 1];
    batch.field_features_begin.push_back(last > 0 ? batch.runs[last - 1].end : 0);
  }
}

// ---- a part ----

/// Runs of which other shards hold some features: the group's mean is over all of them.
bool has_partial_runs(const feature::FeatureBatch& batch) {
  return !std::ranges::all_of(batch.linear_runs, [&](const feature::LinearRun& run) {
    return batch.length(run) == run.end - run.begin;
  });
}

void put_lengths(Bytes& to, const feature::FeatureBatch& batch) {
  const bool partial = has_partial_runs(batch);
  put(to, static_cast<std::uint8_t>(partial));
  if (partial) put_numbers(to, batch.lengths);
}

void get_lengths(BytesReader& from, feature::FeatureBatch& batch) {
  if (from.get<std::uint8_t>() != 0) batch.lengths = get_numbers(from, batch.linear_runs.size());
}

void put_numeric(Bytes& to, const feature::FeatureBatch& batch) {
  put(to, static_cast<std::uint8_t>(!batch.numbers.empty()));
  if (batch.numbers.empty()) return;
  put(to, static_cast<std::uint32_t>(batch.numbers.size()));
  put_array(to, batch.numbers.data(), batch.numbers.size());
}

void get_numeric(BytesReader& from, std::size_t examples, feature::FeatureBatch& batch) {
  if (from.get<std::uint8_t>() == 0) return;
  batch.numbers = from.get_array<float>(from.get_count(sizeof(float)));
  from.check(examples > 0 && batch.numbers.size() % examples == 0, "its numbers are cut");
}

void put_part(Bytes& to, const feature::FeatureBatch& batch) {
  put(to, static_cast<std::uint8_t>(batch.groups));
  put_numeric(to, batch);
  put_runs(to, batch.linear_runs, batch.linear_runs_begin, &feature::LinearRun::group);
  put_lengths(to, batch);
  put(to, static_cast<std::uint32_t>(batch.linear.size()));
  put_features(to, batch.linear);
  put_fields(to, batch);
}

void get_part(BytesReader& from, std::size_t size, feature::FeatureBatch& batch) {
  batch.groups = from.get<std::uint8_t>() != 0;
  get_numeric(from, size, batch);
  get_runs(from, size, batch.linear_runs, batch.linear_runs_begin);
  get_lengths(from, batch);
  batch.linear.append(get_features(from, from.get_count(sizeof(std::uint32_t))));
  get_fields(from, size, batch);
}

void decode(BytesReader from, BatchMessage& message) {
  message.kind = static_cast<BatchMessage::Kind>(from.get<std::uint8_t>());
  if (message.kind == BatchMessage::Kind::kFailed) message.exit_code = from.get<std::uint8_t>();
  if (message.kind != BatchMessage::Kind::kBatch) return;
  message.examples = from.get<std::uint32_t>();
  message.ends_stretch = from.get<std::uint8_t>() != 0;
  const auto size = from.get<std::uint32_t>();
  get_growth(from, message.growth);
  message.parts.resize(from.get_count(1));
  for (PartBatch& part : message.parts) part.clear();
  PartBatch& first = message.parts.at(0);
  get_examples(from, size, first);
  for (PartBatch& part : message.parts) {
    if (&part != &first) {
      part.features.label = first.features.label;
      part.features.importance = first.features.importance;
      part.features.initial = first.features.initial;
      part.instance_features = first.instance_features;
      part.instance_squares = first.instance_squares;
    }
    get_part(from, size, part.features);
  }
}

}  // namespace

void encode_batch(const Growth& growth, std::span<const PartBatch> parts, std::size_t examples,
                  bool ends_stretch, Bytes& to) {
  assert(!parts.empty());
  to.clear();
  put(to, static_cast<std::uint8_t>(BatchMessage::Kind::kBatch));
  put(to, static_cast<std::uint32_t>(examples));
  put(to, static_cast<std::uint8_t>(ends_stretch));
  put(to, static_cast<std::uint32_t>(parts[0].size()));
  put_growth(to, growth);
  put(to, static_cast<std::uint32_t>(parts.size()));
  put_examples(to, parts[0]);
  for (const PartBatch& part : parts) put_part(to, part.features);
}

void encode_end(Bytes& to) {
  to.clear();
  put(to, static_cast<std::uint8_t>(BatchMessage::Kind::kEnd));
}

void encode_failed(int exit_code, Bytes& to) {
  to.clear();
  put(to, static_cast<std::uint8_t>(BatchMessage::Kind::kFailed));
  put(to, static_cast<std::uint8_t>(exit_code));
}

void decode(std::string_view bytes, BatchMessage& message) {
  try {
    decode(BytesReader(bytes), message);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("a batch came damaged: ") + error.what());
  }
}

std::uint64_t batch_bytes(std::span<const PartBatch> parts) {
  // An example's label and number of features; of each part its numbers of runs.
  std::uint64_t bytes = parts[0].size() * (parts[0].instance_features.empty() ? 1 : 2);
  for (const PartBatch& part : parts) {
    const feature::FeatureBatch& batch = part.features;
    bytes += 2 * part.size() + 2 * batch.linear_runs.size() + 3 * batch.runs.size();
    if (has_partial_runs(batch)) bytes += batch.lengths.size();
    bytes += batch.numbers.size() * sizeof(float);
    std::uint64_t features = batch.linear.size();
    std::uint32_t following = 0;
    for (const feature::FieldRun& run : batch.runs) {
      const std::span fields(batch.field_features.data() + run.begin, run.end - run.begin);
      // A namespace with several fields has its second one's features told one by one.
      if (link_of(fields, following) == Link::kEach) bytes += fields.size() * sizeof(std::uint32_t);
      features += static_cast<std::uint64_t>(std::ranges::count_if(
          fields, [](const FieldFeature& f) { return !is_linked(f.linear); }));
      following = after(fields, following);
    }
    const bool plain = std::ranges::all_of(
        batch.linear, [](const feature::Feature& feature) { return feature.value == 1; });
    bytes += features * (plain ? sizeof(std::uint32_t) : 2 * sizeof(std::uint32_t));
  }
  return bytes;
}

}  // namespace leveret::dist
