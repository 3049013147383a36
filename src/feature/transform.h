/// --transform: namespaces made from others, as the model's spec knows them (man/leveret.1,
/// "TRANSFORMS"). transform_run.h makes their features.
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

struct TransformSource {
  std::string name;     ///< a namespace's whole name
  bool digits = false;  ///< "#name": its number is its first feature's name, not its value

  bool operator==(const TransformSource&) const = default;
};

/// `name = kind(sources)(parameters)`.
struct Transform {
  std::string name;
  TransformKind kind;
  std::vector<TransformSource> sources;
  /// Binners: greater_than >= 0, resolution > 0, both always there. Weight: its factor. Finite.
  std::vector<float> parameters;

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

/// Indices such that each comes after those that it reads. Throws std::runtime_error naming the
/// namespaces of a cycle.
std::vector<std::size_t> transform_order(const std::vector<Transform>& transforms);

}  // namespace leveret::feature
