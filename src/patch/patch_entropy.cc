#include "patch/patch_entropy.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "patch/code_pairs.h"

namespace leveret::patch {
namespace {

template <class Histogram>
double entropy_of(const Histogram& histogram) {
  double all = 0, bits = 0;
  for (const auto& [value, count] : histogram) all += static_cast<double>(count);
  for (const auto& [value, count] : histogram) {
    bits += static_cast<double>(count) * std::log2(all / static_cast<double>(count));
  }
  return bits / 8;
}

/// Calls visit(old code, new code) for those of some rows.
template <class Visit>
void for_each_code(const PieceShape& shape, const std::vector<RowRange>& rows,
                   const std::byte* before, const std::byte* now, Visit&& visit) {
  const std::uint64_t bits = std::min<std::uint64_t>(store::dtype_bits(shape.dtype), 32);
  const std::uint64_t width = in_pairs(static_cast<unsigned>(bits)) ? bits / 4 : bits / 8;
  for (const RowRange& range : rows) {
    const std::uint64_t end = (range.begin + range.count) * shape.row_bytes;
    for (std::uint64_t at = range.begin * shape.row_bytes; at < end; at += width) {
      std::uint32_t was = 0, is = 0;
      std::memcpy(&was, before + at, width);
      std::memcpy(&is, now + at, width);
      if (in_pairs(static_cast<unsigned>(bits))) {
        const std::uint32_t mask = (1u << bits) - 1;
        visit(was & mask, is & mask);
        visit(was >> bits, is >> bits);
      } else {
        visit(was, is);
      }
    }
  }
}

}  // namespace

double choice_entropy(std::uint64_t some, std::uint64_t all) {
  if (some == 0 || some >= all) return 0;
  const auto n = static_cast<double>(all), k = static_cast<double>(some);
  return (k * std::log2(n / k) + (n - k) * std::log2(n / (n - k))) / 8;
}

EntropyMeter::Kind& EntropyMeter::of(const Column& column) {
  Kind& kind = kinds_[column.kind];
  kind.report.kind = column.kind;
  kind.is_wide = store::dtype_bits(column.now->dtype) >= 32;
  return kind;
}

void EntropyMeter::add(const Column& column, const Prediction& before,
                       const std::vector<std::byte>& now) {
  Kind& kind = of(column);
  const auto mask = static_cast<std::uint32_t>(
      (std::uint64_t{1} << std::min<std::uint64_t>(store::dtype_bits(column.now->dtype), 32)) - 1);
  for_each_code(before.shape, before.shape.changeable, before.rows.data(), now.data(),
                [&](std::uint32_t was, std::uint32_t is) {
                  ++kind.report.codes;
                  if (was == is) return;
                  ++kind.report.changes;
                  if (!kind.is_wide) ++kind.differences[(is - was) & mask];
                });
  for_each_code(before.shape, before.shape.fresh, before.rows.data(), now.data(),
                [&](std::uint32_t, std::uint32_t is) {
                  ++kind.report.fresh;
                  if (!kind.is_wide) ++kind.fresh[is];
                });
}

std::vector<KindReport> EntropyMeter::kinds() const {
  std::vector<KindReport> list;
  for (const auto& [name, kind] : kinds_) {
    list.push_back(kind.report);
    if (kind.is_wide) continue;
    list.back().entropy_bytes = entropy_of(kind.differences) + entropy_of(kind.fresh) +
                                choice_entropy(kind.report.changes, kind.report.codes);
  }
  return list;
}

}  // namespace leveret::patch
