// The maths of the binners: small numbers stand for themselves, larger ones are pressed together by
// a root or a logarithm and fall into bins of width 1 / resolution. The names of the two kinds of
// bins differ ("=7" and "7"), so that they never share a weight.
#include "feature/transform_bins.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace leveret::feature {
namespace {

/// Bins are whole numbers that a double holds exactly.
constexpr double kLargestBin = 9007199254740992.0;

/// A bin's name, piece by piece.
class Writer {
 public:
  explicit Writer(Bin& bin) : bin_(bin) { bin_.size = 0; }

  void append(std::string_view text) {
    bin_.size += text.copy(bin_.text.data() + bin_.size, bin_.text.size() - bin_.size);
  }

  void append_whole(double number) {
    char digits[24];
    const auto whole =
        static_cast<long long>(std::clamp(std::floor(number), -kLargestBin, kLargestBin));
    append(
        {digits, static_cast<std::size_t>(std::to_chars(digits, digits + 24, whole).ptr - digits)});
  }

 private:
  Bin& bin_;
};

struct Frame {
  std::string_view before, after;
};

void add(Bins& bins, Frame frame, double number, double weight) {
  Bin& bin = bins.bins[bins.count++];
  bin.weight = static_cast<float>(weight);
  Writer writer(bin);
  writer.append(frame.before);
  if (std::isinf(number)) {  // ln 0
    writer.append("-inf");
  } else {
    writer.append_whole(number);
  }
  writer.append(frame.after);
}

/// Between two bins the nearer one weighs more: 5.4 is 0.6 of bin 5 and 0.4 of bin 6.
Bins spread(Frame frame, double y, bool interpolated) {
  Bins bins;
  const double part = y - std::floor(y);
  if (!interpolated || !std::isfinite(y) || static_cast<float>(part) == 0) {
    add(bins, frame, y, 1);
    return bins;
  }
  if (static_cast<float>(part) < 1) add(bins, frame, y, 1 - part);
  add(bins, frame, std::floor(y) + 1, part);
  return bins;
}

Bins itself(double a) {
  Bins bins;
  add(bins, {"=", ""}, a, 1);
  return bins;
}

Bins itself(double a, double b) {
  Bins bins;
  Bin& bin = bins.bins[bins.count++];
  bin.weight = 1;
  Writer writer(bin);
  writer.append("=");
  writer.append_whole(a);
  writer.append("/");
  writer.append_whole(b);
  return bins;
}

}  // namespace

Bins bins_of(const Transform& transform, double a, double b) {
  const double above = transform.parameters[0];
  const double resolution = transform.parameters[1];
  bool interpolated = false;
  switch (transform.kind) {
    case TransformKind::kBinnerSqrt:
      interpolated = true;
      [[fallthrough]];
    case TransformKind::kBinnerSqrtPlain:
      if (a < above) return itself(a);
      return spread({}, std::sqrt(a - above) * resolution, interpolated);
    case TransformKind::kBinnerLog:
      interpolated = true;
      [[fallthrough]];
    case TransformKind::kBinnerLogPlain:
      if (a < above) return itself(a);
      return spread({}, std::log(a - above) * resolution, interpolated);
    case TransformKind::kBinnerLogRatio:
      interpolated = true;
      [[fallthrough]];
    default:
      // A ratio with a negative number has no logarithm.
      if (a + b < above || a < 0 || b < 0) return itself(a, b);
      if (a == 0) return spread({"0/", ""}, std::log(b - above) * resolution, interpolated);
      if (b == 0) return spread({"", "/0"}, std::log(a - above) * resolution, interpolated);
      return spread({}, std::log(a / b) * resolution, interpolated);
  }
}

}  // namespace leveret::feature
