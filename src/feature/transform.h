/// --transform: namespaces made from others, as the model's spec knows them
/// (leveret-transforms(7)). transform_run.h makes their features.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leveret::feature {

enum class TransformKind {
  kBinnerSqrt,
  kBinnerSqrtPlain,
  kBinnerLog,
  kBinnerLogPlain,
  kBinnerLogRatio,
  kBinnerLogRatioPlain,
  kCombine,
  kWeight,
};

/// `name = kind(sources)(parameters)`.
struct Transform {
  std::string name;
  TransformKind kind;
  std::vector<std::string> sources;  ///< namespaces by their whole names
  /// Binners: greater_than >= 0, resolution > 0, both always there. Weight: its factor. Finite.
  std::vector<float> parameters;

  /// Whether it reads numbers and not features.
  bool is_binner() const { return kind < TransformKind::kCombine; }
  bool operator==(const Transform&) const = default;
};

inline constexpr std::size_t kMaxTransforms = 1000;

/// Definitions one after the other, with or without blanks between their parts, in the order given.
/// Throws std::runtime_error that quotes the definition and names the column within it (from 1) and
/// what is wrong there, or the namespaces of a cycle.
std::vector<Transform> parse_transforms(std::string_view text);

/// Canonical text, which parse_transforms takes back to the same: no blanks within a definition,
/// one between two, no parameter left out.
std::string transforms_text(const std::vector<Transform>& transforms);

/// The name of a function, as in the text.
std::string_view transform_kind_name(TransformKind kind);

/// Indices such that each comes after those that it reads. Throws std::runtime_error naming the
/// namespaces of a cycle.
std::vector<std::size_t> transform_order(const std::vector<Transform>& transforms);

/// Where a binner's number comes from: a namespace of the data, and the factors of the Weights
/// between it and the binner.
struct NumberSource {
  std::string name;
  double factor = 1;
};

/// For each transform the origins of its sources' numbers; none for one that is no binner. The
/// transforms have no cycle. Throws std::runtime_error when a binner reads what has no number.
std::vector<std::vector<NumberSource>> number_sources(const std::vector<Transform>& transforms);

/// The namespaces of the data whose numbers are read (text::ParserOptions::numbers), each once, in
/// order of their bytes.
std::vector<std::string> number_namespaces(const std::vector<Transform>& transforms);

}  // namespace leveret::feature
