/// Random tables, written as delimited text in every way that people do, and read back: what comes
/// out are their cells, and what is said about them stands where it is.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "convert/convert_csv.h"
#include "convert/convert_harness.h"
#include "convert/convert_libffm.h"
#include "convert/convert_vw.h"

namespace leveret::convert {
namespace {

using Catch::Matchers::Contains;

const std::string kMark = "\xef\xbb\xbf";

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t n) { return engine_() % n; }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  std::string text(const std::string& alphabet, std::uint32_t most) {
    std::string out;
    for (std::uint32_t n = below(most + 1); n > 0; --n) {
      out += alphabet[below(static_cast<std::uint32_t>(alphabet.size()))];
    }
    return out;
  }

 private:
  std::mt19937 engine_;
};

/// Writes rows as RFC 4180 has them, and notes the place of each quoted cell with line ends.
class Writer {
 public:
  struct Broken {
    std::uint64_t line, column, breaks;
  };

  Writer(char delimiter, Random& random) : delimiter_(delimiter), random_(random) {}

  std::string source;
  std::vector<Broken> broken;

  void mark() {
    source += kMark;
    ++marks_;
  }
  void cell(const std::string& text) {
    if (in_row_++ > 0) put(std::string(1, delimiter_));
    const bool must = text.find_first_of("\"\n\r") != std::string::npos ||
                      text.find(delimiter_) != std::string::npos;
    if (!must && !random_.one_in(3)) return put(text);
    const auto breaks = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    if (breaks > 0) broken.push_back({line, column(), breaks});
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    put(quoted + "\"");
  }
  void end_row() {
    put(random_.one_in(2) ? "\n" : "\r\n");
    in_row_ = 0;
  }
  void put(const std::string& text) {
    source += text;
    line += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    const std::size_t end = text.rfind('\n');
    if (end == std::string::npos) return;
    line_begin_ = source.size() - (text.size() - end - 1);
    marks_ = 0;
  }
  /// Of what is put next; marks do not count.
  std::uint64_t column() const { return source.size() - line_begin_ + 1 - marks_ * kMark.size(); }

  std::uint64_t line = 1;

 private:
  const char delimiter_;
  Random& random_;
  std::size_t line_begin_ = 0;
  std::uint64_t marks_ = 0;
  unsigned in_row_ = 0;
};

void header(Writer& writer, std::size_t columns) {
  writer.cell("label");
  for (std::size_t i = 0; i < columns; ++i) writer.cell("c" + std::to_string(i));
  writer.end_row();
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "1", escaped;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    escaped.resize(kEscapeGrowth * cells[i].size());
    escaped.resize(
        static_cast<std::size_t>(put_escaped(escaped.data(), cells[i]) - escaped.data()));
    line.append(" |c").append(std::to_string(i)).append(" ").append(escaped);
  }
  return line + (line == "1" ? " |\n" : "\n");
}

CsvOptions random_options(Random& random) {
  CsvOptions options;
  options.delimiter = ",;\t|"[random.below(4)];
  options.advises = false;
  return options;
}

TEST_CASE("tables: cells that span lines, marks at the start of any row, line ends of any kind") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const CsvOptions options = random_options(random);
    Writer writer(options.delimiter, random);
    const std::size_t columns = 1 + random.below(5);
    std::string want;
    if (random.one_in(2)) writer.mark();
    header(writer, columns);
    for (std::uint32_t row = 1 + random.below(6); row > 0; --row) {
      if (random.one_in(3)) writer.mark();
      writer.cell("1");
      std::vector<std::string> cells;
      for (std::size_t i = 0; i < columns; ++i) {
        cells.push_back(random.text("ab\",\n\n\r:| %\t;", 6));
        writer.cell(cells.back());
      }
      writer.end_row();
      want += line_of(cells);
    }
    const Converted got = convert_text(csv(options), writer.source, 1 + random.below(40));
    INFO(writer.source);
    REQUIRE(got.bad.empty());
    REQUIRE(got.text == want);
    if (writer.broken.empty()) {
      REQUIRE(got.remarks.empty());
      continue;
    }
    const auto longest =
        std::max_element(writer.broken.begin(), writer.broken.end(),
                         [](const auto& a, const auto& b) { return a.breaks < b.breaks; });
    REQUIRE(got.remarks.size() == 1);
    REQUIRE(got.remarks[0].line == longest->line);
    REQUIRE(got.remarks[0].column == longest->column);
    REQUIRE_THAT(got.remarks[0].what, Contains(std::to_string(longest->breaks + 1) + " lines") &&
                                          Contains("--quoting none"));
    if (writer.broken.size() > 1) {
      REQUIRE_THAT(got.remarks[0].what, Contains(std::to_string(writer.broken.size()) + " quoted"));
    }
  }
}

TEST_CASE("tables: a quote that is never closed is told where it was opened") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const CsvOptions options = random_options(random);
    Writer writer(options.delimiter, random);
    const std::size_t columns = 2 + random.below(4);
    header(writer, columns);
    std::string want;
    const auto fill = [&](std::size_t count) {
      std::vector<std::string> cells(count);
      for (std::string& cell : cells) cell = random.text("ab\n\"x", 4);
      if (random.one_in(3)) writer.mark();
      writer.cell("1");
      for (const std::string& cell : cells) writer.cell(cell);
      return cells;
    };
    for (std::uint32_t row = random.below(4); row > 0; --row) {
      want += line_of(fill(columns));
      writer.end_row();
    }
    fill(random.below(static_cast<std::uint32_t>(columns)));
    writer.put(std::string(1, options.delimiter));
    const std::uint64_t line = writer.line, column = writer.column();
    writer.put("\"");
    for (std::uint32_t row = random.below(5); row > 0; --row) {
      writer.put(random.text("ab,;\t|", 9) + "\n");
    }
    const bool limited = random.one_in(3);
    if (limited) writer.put(std::string(1000, 'x'));
    std::string text;
    CsvConverter converter(options, {[&](std::string_view t) { text += t; }, [](const BadRow&) {}},
                           limited ? 1000 : Converter::kMaxRow);
    INFO(writer.source);
    try {
      std::string_view rest = writer.source;
      for (const std::size_t piece = 1 + random.below(40); !rest.empty();) {
        converter.feed(rest.substr(0, piece));
        rest.remove_prefix(std::min(piece, rest.size()));
      }
      converter.finish_source();
      FAIL("no error");
    } catch (const ConvertError& error) {
      REQUIRE(error.line() == line);
      REQUIRE(error.column() == column);
      REQUIRE_THAT(error.what(), Contains(limited ? "within 1000 bytes" : "never closed") &&
                                     Contains("--quoting none"));
    }
    if (!limited) REQUIRE(text == want);
  }
}

TEST_CASE("tables: without quoting a row is a line, and quotes are bytes as others are") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    CsvOptions options = random_options(random);
    options.quoted = false;
    const std::size_t columns = 1 + random.below(5);
    std::string alphabet = "ab\"\" x:\r,;\t|";
    std::erase(alphabet, options.delimiter);
    std::string source = "label", want;
    for (std::size_t i = 0; i < columns; ++i) {
      source.append(1, options.delimiter).append("c").append(std::to_string(i));
    }
    source += "\n";
    for (std::uint32_t row = random.below(30); row > 0; --row) {
      if (random.one_in(4)) source += kMark;
      source += "1";
      std::vector<std::string> cells;
      for (std::size_t i = 0; i < columns; ++i) {
        cells.push_back(random.text(alphabet, 6) + (random.one_in(3) ? "" : "\""));
        source += options.delimiter + cells.back();
      }
      source += cells.back().ends_with('\r') ? "\r\n" : "\n";
      want += line_of(cells);
    }
    const Converted got = convert_text(csv(options), source, 1 + random.below(40));
    INFO(source);
    REQUIRE(got.bad.empty());
    REQUIRE(got.remarks.empty());
    REQUIRE(got.text == want);
  }
}

TEST_CASE("tables: files that are joined, with their marks and headers, are as they were alone") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    CsvOptions options = random_options(random);
    if (random.one_in(2)) options.positive = {"1", "yes"};
    if (random.one_in(3)) options.labels = CsvOptions::Labels::kNone;
    const std::size_t columns = 1 + random.below(3);
    std::string joined, alone, first;
    std::size_t headers = 0;
    for (std::uint32_t file = 2 + random.below(4); file > 0; --file, ++headers) {
      Writer writer(options.delimiter, random);
      if (first.empty()) {
        header(writer, columns);
        first = writer.source;
      } else {
        writer.put(first.substr(0, first.find_first_of("\r\n")) +
                   (random.one_in(2) ? "\n" : "\r\n"));
      }
      for (std::uint32_t row = random.below(4); row > 0; --row) {
        writer.cell(random.one_in(2) ? "1" : "0");
        for (std::size_t i = 0; i < columns; ++i) writer.cell(random.text("abc,\"", 3));
        writer.end_row();
      }
      joined += (random.one_in(2) ? kMark : "") + writer.source;
      alone += convert_text(csv(options), writer.source).text;
    }
    const Converted got = convert_text(csv(options), joined, 1 + random.below(40));
    INFO(joined);
    REQUIRE(got.bad.empty());
    REQUIRE(got.text == alone);
    REQUIRE(got.remarks.size() == 1);
    REQUIRE_THAT(got.remarks[0].what, Contains("the header and"));
  }
}

TEST_CASE("tables: lines that end with carriage returns alone are told") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const CsvOptions options = random_options(random);
    Writer writer(options.delimiter, random);
    const std::size_t columns = 1 + random.below(3);
    header(writer, columns);
    for (std::uint32_t row = 1 + random.below(4); row > 0; --row) {
      writer.cell("1");
      for (std::size_t i = 0; i < columns; ++i) writer.cell(random.text("abc,\"", 3));
      writer.end_row();
    }
    std::string table = writer.source;
    std::erase(table, '\n');
    std::erase(table, '\r');
    std::string old = writer.source;
    std::erase(old, '\r');
    std::replace(old.begin(), old.end(), '\n', '\r');
    if (random.one_in(2)) old += '\n';
    if (random.one_in(2)) old.insert(0, kMark);
    INFO(old);
    REQUIRE_THROWS_WITH(convert_text(csv(options), old, 1 + random.below(40)),
                        Contains("carriage returns alone") && Contains("tr '\\r' '\\n'"));
    std::string rows = random.one_in(2) ? "1 0:3:1\r0 0:4:1\r" : "1 5:1\r1 6:1\r1 7:2";
    if (random.one_in(2)) rows += '\n';
    const auto libffm = [&](ConvertCallbacks c) {
      return std::make_unique<LibffmConverter>(
          LibffmFields{}, std::move(c), random.one_in(2) ? std::size_t{9} : Converter::kMaxRow);
    };
    REQUIRE_THROWS_WITH(convert_text(libffm, rows, 1 + random.below(40)),
                        Contains("carriage returns alone"));
  }
  // Carriage returns of cells, and of line ends, are no such lines.
  CHECK(convert_text(csv(), "label,\"a\rb\"\r\n1,\"x\ry\"\r\n").bad.empty());
  CHECK(convert_text(csv(), "label,a\r\r\n1,x\n").text == "1 |a%0D x\n");
  CHECK(convert_text(csv(), "label,a\n1,x\ry\n").text == "1 |a x%0Dy\n");
  CsvOptions named;
  named.columns = {"label", "a"};
  CHECK(convert_text(csv(named), "1,\"x\ry\"").text == "1 |a x%0Dy\n");
}

TEST_CASE("tables: another delimiter than the file's is told") {
  const std::string all = ",\t;|";
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const char real = all[random.below(4)];
    CsvOptions options;
    do {
      options.delimiter = all[random.below(4)];
    } while (options.delimiter == real);
    const std::size_t columns = 1 + random.below(5);
    Writer writer(real, random);
    writer.cell("label");
    for (std::size_t i = 0; i < columns; ++i) writer.cell("c" + std::to_string(i));
    writer.end_row();
    std::string plain = writer.source;  // quotes that end in front of another delimiter are wrong
    std::erase(plain, '"');
    const std::string advice =
        "--delimiter " + (real == '\t' ? "tab" : std::string("'") + real + "'");
    INFO(writer.source);
    REQUIRE_THROWS_WITH(convert_text(csv(options), writer.source), Contains(advice));
    options.labels = CsvOptions::Labels::kNone;
    Converted got = convert_text(csv(options), plain);
    REQUIRE(got.remarks.size() == 1);
    REQUIRE_THAT(got.remarks[0].what, Contains("single column") && Contains(advice));
    options.columns = {"label", "a", "b"};
    got = convert_text(csv(options), plain);
    REQUIRE(got.bad.size() == 1);
    REQUIRE(got.remarks.size() == 1);
    options.columns.clear();
    options.delimiter = real;
    REQUIRE(convert_text(csv(options), plain).remarks.empty());
  }
  CsvOptions single;
  single.labels = CsvOptions::Labels::kNone;
  CHECK(convert_text(csv(single), "name\nx;y\n").remarks.empty());
}

TEST_CASE("tables: columns of many different numbers that become categories are told") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    CsvOptions options;
    options.labels = CsvOptions::Labels::kNone;
    options.missing = {"NA"};
    const std::size_t rows = 100 + random.below(400);
    const std::size_t columns = 1 + random.below(6);
    std::vector<std::uint32_t> kinds(columns);
    std::string header, names, body;
    for (std::size_t i = 0; i < columns; ++i) {
      kinds[i] = random.below(8);
      const std::string name = "c" + std::to_string(i);
      header += (i > 0 ? "," : "") + name;
      if (kinds[i] >= 6) names += (names.empty() ? "" : ",") + name;
    }
    for (std::size_t row = 0; row < rows; ++row) {
      const std::string n = std::to_string(row);
      for (std::size_t i = 0; i < columns; ++i) {
        body += i > 0 ? "," : "";
        if (row > 0 && random.one_in(4)) {
          body += random.one_in(2) ? "NA" : "";
          continue;
        }
        const std::string cells[] = {std::to_string(row % 30),                     // days
                                     "0" + n,                                      // codes
                                     row == 0 ? "x" : n,                           // words
                                     "1234567890123" + std::to_string(row + 100),  // ids
                                     std::to_string(row % 4) + ".5",               // marks
                                     n + "ab",                                     // words
                                     n,                                            // amounts
                                     "-" + n + ".25"};
        body += cells[kinds[i]];
      }
      body += "\n";
    }
    INFO(header);
    const Converted got = convert_text(csv(options), header + "\n" + body, 1 + random.below(999));
    REQUIRE(got.bad.empty());
    REQUIRE(got.remarks.size() == (names.empty() ? 0 : 1));
    if (names.empty()) continue;
    REQUIRE_THAT(got.remarks[0].what,
                 Contains(": " + names + ";") && Contains("--numeric " + names + " "));
    options.numeric = {names};
    REQUIRE(convert_text(csv(options), header + "\n" + body).remarks.empty());
  }
}

TEST_CASE("tables: numbers are told once for all sources, and while a long one goes on") {
  std::vector<std::string> remarks;
  CsvOptions options;
  options.labels = CsvOptions::Labels::kNone;
  CsvConverter converter(options,
                         {[](std::string_view) {}, [](const BadRow&) {},
                          [&](const ConvertRemark& remark) { remarks.push_back(remark.what); }});
  std::string text = "n\n";
  for (int i = 0; i < 9999; ++i) text += std::to_string(i % 50) + "\n";
  converter.feed(text);
  CHECK(remarks.empty());
  converter.feed("7\n");
  CHECK(remarks.size() == 1);
  converter.finish_source();
  converter.feed(text);
  converter.finish_source();
  CHECK(remarks.size() == 1);
}

}  // namespace
}  // namespace leveret::convert
