#include "row_writer.h"

#include <fmt/format.h>

#include <iterator>

#include "portable_math.h"

namespace leveret::synth {
namespace {

void append_hex(std::uint32_t token, std::string& out) {
  char text[8];
  for (int i = 0; i < 8; ++i) text[i] = "0123456789abcdef"[(token >> (28 - 4 * i)) & 15];
  out.append(text, 8);
}

void append_number(std::uint64_t value, std::string& out) {
  fmt::format_int text(value);
  out.append(text.data(), text.size());
}

}  // namespace

RowWriter::RowWriter(const Options& options) : options_(options) {
  std::uint32_t categorical = options.fields - options.numeric;
  bool letters = options.format == Format::kVw && options.numeric <= 26 && categorical <= 26;
  for (std::uint32_t f = 0; f < options.fields; ++f) {
    bool numeric = f < options.numeric;
    std::uint32_t i = numeric ? f : f - options.numeric;
    names_.push_back(letters ? std::string(1, static_cast<char>((numeric ? 'A' : 'a') + i))
                             : fmt::format("{}{}", numeric ? 'I' : 'C', i + 1));
  }
}

void RowWriter::header(std::string& out) const {
  if (options_.format != Format::kCsv) return;
  out += "label";
  for (const std::string& name : names_) (out += ',') += name;
  for (std::uint32_t i = 0; i < options_.numbers; ++i)
    fmt::format_to(std::back_inserter(out), ",N{}", i + 1);
  out += '\n';
}

void RowWriter::row(const PlantedModel& model, std::string& out) const {
  switch (options_.format) {
    case Format::kVw:
      return vw_row(model, out);
    case Format::kCriteo:
      return table_row(model, '\t', out);
    case Format::kCsv:
      return table_row(model, ',', out);
  }
}

void RowWriter::vw_row(const PlantedModel& model, std::string& out) const {
  out += model.clicked() ? "1" : "-1";
  for (std::size_t f = 0; f < names_.size(); ++f) {
    const Cell& cell = model.cells()[f];
    if (cell.missing) continue;
    ((out += " |") += names_[f]) += ' ';
    if (f >= options_.numeric) {
      append_hex(static_cast<std::uint32_t>(cell.value), out);
      continue;
    }
    if (options_.numeric_as != NumericAs::kValue) {
      append_number(log2_bucket(cell.value), out += 'b');
    }
    if (options_.numeric_as != NumericAs::kLog2Bucket) {
      if (options_.numeric_as == NumericAs::kBoth) out += ' ';
      double log = portable_log(static_cast<double>(cell.value) + 1);
      fmt::format_to(std::back_inserter(out), "v:{:.6g}", log);
    }
  }
  const std::vector<double>& numbers = model.numbers();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    fmt::format_to(std::back_inserter(out), " |N{} :{:.3f}", i + 1, numbers[i]);
  }
  out += '\n';
}

void RowWriter::table_row(const PlantedModel& model, char separator, std::string& out) const {
  out += model.clicked() ? '1' : '0';
  for (std::size_t f = 0; f < names_.size(); ++f) {
    const Cell& cell = model.cells()[f];
    out += separator;
    if (cell.missing) continue;
    if (f < options_.numeric) {
      append_number(cell.value, out);
    } else {
      append_hex(static_cast<std::uint32_t>(cell.value), out);
    }
  }
  for (const double number : model.numbers()) {
    fmt::format_to(std::back_inserter(out), "{}{:.3f}", separator, number);
  }
  out += '\n';
}

void append_probability(double p, std::string& out) {
  auto millionths = static_cast<std::uint32_t>(p * 1e6 + 0.5);
  char text[9] = {static_cast<char>('0' + millionths / 1000000), '.'};
  std::uint32_t rest = millionths % 1000000;
  for (int i = 7; i >= 2; --i, rest /= 10) text[i] = static_cast<char>('0' + rest % 10);
  text[8] = '\n';
  out.append(text, 9);
}

}  // namespace leveret::synth
