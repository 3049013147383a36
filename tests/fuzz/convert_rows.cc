// Any bytes through every converter: nothing crashes, what comes out is VW text that our parser
// takes without a bad line, and it does not depend on how the bytes were cut.

#include <algorithm>
#include <cstdlib>

#include "convert/convert_avazu.h"
#include "convert/convert_criteo.h"
#include "convert/convert_kdd2012.h"
#include "convert/convert_libffm.h"
#include "text/parser.h"

namespace {

using namespace leveret;
using namespace leveret::convert;

std::unique_ptr<Converter> make(std::uint8_t kind, ConvertCallbacks callbacks) {
  auto form = static_cast<NumericForm>(kind / 8 % 3);
  CsvOptions csv;
  csv.delimiter = ",;\t|"[kind / 32 % 4];
  csv.columns = {"label", "n", "a b", "c"};
  csv.header_begins = "label";
  csv.numeric = {"n"};
  csv.missing = {"NA"};
  csv.quoted = kind < 128;
  csv.form = form;
  switch (kind % 8) {
    case 0:
      return std::make_unique<CriteoConverter>(form, std::move(callbacks));
    case 1:
      return std::make_unique<CsvConverter>(avazu_options(), std::move(callbacks));
    case 2:
      return std::make_unique<Kdd2012Converter>(std::move(callbacks));
    case 3:
      return std::make_unique<LibffmConverter>(LibffmFields{}, std::move(callbacks), 4096);
    case 4:
      return std::make_unique<LibffmConverter>(LibffmFields{true, {}}, std::move(callbacks));
    case 5: {
      LibffmFields fields{false, {{"u", 3}, {"i:", 100}}};
      return std::make_unique<LibffmConverter>(fields, std::move(callbacks));
    }
    case 6:
      csv.columns.clear();
      [[fallthrough]];
    default:
      return std::make_unique<CsvConverter>(csv, std::move(callbacks));
  }
}

struct Result {
  std::string text;
  std::uint64_t bad = 0, remarks = 0;
  bool ended = true;  ///< not by a ConvertError
  ConvertCounts counts;
};

Result converted(std::uint8_t kind, std::string_view bytes, std::size_t piece) {
  Result result;
  auto converter = make(kind, {[&](std::string_view text) { result.text += text; },
                               [&](const BadRow& row) {
                                 if (row.column == 0 || row.column > row.row.size() + 1)
                                   std::abort();
                                 ++result.bad;
                               },
                               [&](const ConvertRemark& remark) {
                                 if (remark.line == 0 && remark.column != 0) std::abort();
                                 ++result.remarks;
                               }});
  try {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      converter->feed(bytes.substr(0, piece));
    }
    converter->finish_source();
  } catch (const ConvertError&) {
    result.ended = false;
  }
  result.counts = converter->counts();
  return result;
}

void check_is_vw_text(const Result& result) {
  text::NamespaceNames names;
  text::Parser parser(names, {});
  text::ExampleChunk chunk;
  chunk.bytes = result.text;
  parser.parse(chunk);
  if (!chunk.bad.empty() || chunk.blank_lines != 0) std::abort();
  if (chunk.examples.size() != result.counts.examples) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  Result whole = converted(data[0], bytes, bytes.size() + 1);
  Result cut = converted(data[0], bytes, data[1] % 64 + 1);
  if (whole.ended != cut.ended || whole.bad != cut.bad) std::abort();
  if (whole.ended) {
    if (whole.text != cut.text || whole.remarks != cut.remarks) std::abort();
    check_is_vw_text(whole);
  }
  return 0;
}
