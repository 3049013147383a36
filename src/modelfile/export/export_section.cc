#include "modelfile/export/export_section.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "kernels/dispatch.h"
#include "modelfile/old_section.h"
#include "modelfile/section_names.h"
#include "modelfile/section_numbers.h"
#include "table/slot.h"

namespace leveret::modelfile {
namespace {

using store::Coding;
using store::Dtype;
using What = SectionPlan::What;

/// The rows of a section that an export has, one block after the other.
class Rows {
 public:
  explicit Rows(const SectionSource& source) : source_(source) {
    const std::uint64_t rows = rows_of(source.section);
    if (source.keys == nullptr) {
      end_ = rows;
      return;
    }
    // Rows are those of the first keys, or of the last.
    const std::uint64_t keys = source.keys->size_before();
    first_key_ = source.section.declared.last_keys ? keys - rows : 0;
    begin_ = source.keys->kept_of_first(first_key_);
    end_ = source.keys->kept_of_first(first_key_ + rows);
  }

  std::uint64_t count() const { return end_ - begin_; }
  struct Stretch {
    std::span<const std::byte> bytes;
    std::uint64_t count;
    std::uint64_t from;   ///< number of the first row in the model
    std::uint64_t first;  ///< and in the export
  };
  /// Calls visit(stretch) for rows that follow each other in the model and in the export.
  template <class Visit>
  void for_each_stretch(Visit visit) const {
    const std::uint64_t rows = rows_of(source_.section);
    const std::uint64_t row_bytes = rows > 0 ? source_.section.bytes / rows : 0;
    std::uint64_t next = 0;
    for_each_rows(
        source_.model, source_.section, [&](std::span<const std::byte> part, std::uint64_t first) {
          const std::uint64_t end = first + part.size() / row_bytes;
          while (next < count() && row(next) < end) {
            const std::uint64_t from = row(next), begin = next++;
            while (next < count() && row(next) == from + (next - begin) && row(next) < end) ++next;
            const std::uint64_t rows_here = next - begin;
            visit(Stretch{part.subspan((from - first) * row_bytes, rows_here * row_bytes),
                          rows_here, from, begin});
          }
        });
  }
  /// The name of row i, whatever its place: its key.
  std::uint64_t name(std::uint64_t i) const {
    return source_.keys != nullptr ? source_.keys->keys()[begin_ + i] : i;
  }
  /// Its number in the older export, where it may be.
  std::uint64_t old_row(std::uint64_t i) const {
    return source_.keys != nullptr ? source_.keys->old_number(begin_ + i) : i;
  }

 private:
  std::uint64_t row(std::uint64_t i) const {
    return source_.keys != nullptr ? source_.keys->number(begin_ + i) - first_key_ : i;
  }

  const SectionSource& source_;
  std::uint64_t first_key_ = 0, begin_ = 0, end_ = 0;
};

class SectionExporter {
 public:
  SectionExporter(const SectionSource& source, const SectionPlan& plan, const Rounding& rounding)
      : source_(source),
        plan_(plan),
        rounding_(rounding),
        rows_(source),
        coder_(rounding, source.section.name),
        old_(rounding.tolerance > 0 || plan.what == What::kByRow ? source.previous : nullptr,
             source.section, plan),
        numbers_(numbers_of_row(source.section)) {}

  std::vector<ExportedSection> run() {
    out_ = declared_section();
    out_.bytes.resize(store::array_bytes(out_.dtype, out_.shape).value_or(0));
    row_bytes_ = rows_.count() > 0 ? out_.bytes.size() / rows_.count() : 0;
    if (plan_.what == What::kByRow) scales_.resize(rows_.count());
    codes_.resize(numbers_);
    if (plan_.what == What::kCopy) {
      rows_.for_each_stretch(
          [&](const Stretch& rows) { std::ranges::copy(rows.bytes, at(rows.first)); });
    } else {
      NumberDecoder decoder(source_.section, read_scales(source_.model, source_.section));
      rows_.for_each_stretch(
          [&](const Stretch& rows) { code(decoder.decode(rows.bytes, rows.from), rows); });
    }
    std::vector<ExportedSection> sections;
    sections.push_back(std::move(out_));
    if (plan_.what == What::kByRow) sections.push_back(scales_section(sections[0]));
    return sections;
  }

 private:
  using Stretch = Rows::Stretch;

  std::byte* at(std::uint64_t row) { return out_.bytes.data() + row * row_bytes_; }

  ExportedSection declared_section() const {
    const store::StoredSection& from = source_.section;
    ExportedSection out = {from.name, from.dtype, from.shape, from.declared, {}};
    if (!out.shape.empty()) out.shape[0] = rows_.count();
    const auto coded = [&](Coding coding, float scale) {
      out.dtype = plan_.dtype;
      out.declared.coding = coding;
      out.declared.scale = scale;
    };
    switch (plan_.what) {
      case What::kFixed:
        coded(Coding::kFixed, plan_.unit);
        break;
      case What::kCounts:
        coded(Coding::kLog, count_code().unit());
        break;
      case What::kByRow:
        coded(Coding::kFixedByRow, 1);
        break;
      default:
        break;
    }
    return out;
  }

  ExportedSection scales_section(const ExportedSection& codes) const {
    ExportedSection out = {
        scales_name(codes.name), Dtype::kF32, {codes.shape[0]}, codes.declared, {}};
    out.declared.coding = Coding::kPlain;
    const auto bytes = std::as_bytes(std::span(scales_));
    out.bytes.assign(bytes.begin(), bytes.end());
    return out;
  }

  /// Where nothing depends on the row, all of them at once.
  void code(std::span<const float> numbers, const Stretch& rows) {
    const bool alike = plan_.what != What::kByRow && !old_.exists() && !rounding_.stochastic;
    if (alike) return code_row(numbers, rows.first, {});
    for (std::uint64_t i = 0; i < rows.count; ++i) {
      const std::uint64_t old = rows_.old_row(rows.first + i);
      code_row(numbers.subspan(i * numbers_, numbers_), rows.first + i,
               old_.has_row(old) ? std::optional(old) : std::nullopt);
    }
  }

  void code_row(std::span<const float> numbers, std::uint64_t row,
                std::optional<std::uint64_t> old) {
    switch (plan_.what) {
      case What::kFloats:
      case What::kFloatCounts: {
        const std::span<float> to(reinterpret_cast<float*>(at(row)), numbers.size());
        const bool weights = plan_.what == What::kFloats;
        std::ranges::transform(numbers, to.begin(), [weights](float number) {
          return weights ? table::as_read(number) : number;
        });
        if (!old) return;
        if (plan_.what == What::kFloats) return coder_.keep(to, plan_.unit, old_.floats(*old));
        return coder_.keep(to, count_code(), old_.floats(*old));
      }
      case What::kCounts:
        return coder_.code(numbers, count_code(), old ? old_.codes(*old) : Codes(),
                           reinterpret_cast<std::uint16_t*>(at(row)));
      case What::kByRow: {
        const float scale = scale_of(numbers, old);
        scales_[row] = scale;
        return code_weights(numbers, scale, row,
                            old && old_.scale(*old) == scale ? old : std::nullopt);
      }
      default:
        return code_weights(numbers, plan_.unit, row, old);
    }
  }

  void code_weights(std::span<const float> numbers, float unit, std::uint64_t row,
                    std::optional<std::uint64_t> old) {
    if (codes_.size() < numbers.size()) codes_.resize(numbers.size());
    coder_.code(numbers, 1 / unit, largest_code(plan_.dtype), old ? old_.codes(*old) : Codes(),
                rows_.name(row), codes_.data());
    store_codes(plan_.dtype, std::span(codes_).first(numbers.size()), at(row));
  }

  /// The old one while it fits and is not much too large.
  float scale_of(std::span<const float> row, std::optional<std::uint64_t> old) const {
    const float largest = kernels::active().largest(row.data(), row.size());
    const auto end = static_cast<float>(largest_code(plan_.dtype));
    const float own = std::max(largest / end, kSmallestScale);
    if (!old) return own;
    const float before = old_.scale(*old);
    return largest <= before * (end + 0.5f) && own > before / 2 ? before : own;
  }

  using Codes = std::span<const std::int32_t>;
  /// The least scale, also that of a row of zeros.
  static constexpr float kSmallestScale = 0x1p-100f;

  const SectionSource& source_;
  const SectionPlan& plan_;
  const Rounding& rounding_;
  Rows rows_;
  RowCoder coder_;
  OldSection old_;
  std::uint64_t numbers_;  ///< of a row
  std::uint64_t row_bytes_ = 0;
  ExportedSection out_;
  std::vector<float> scales_;
  std::vector<std::int16_t> codes_;
};

}  // namespace

std::vector<ExportedSection> export_section(const SectionSource& source, const SectionPlan& plan,
                                            const Rounding& rounding) {
  return SectionExporter(source, plan, rounding).run();
}

}  // namespace leveret::modelfile
