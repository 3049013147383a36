#include "schema/json_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "schema/schema.h"

namespace leveret::schema {
namespace {

using nlohmann::json;

/// Fills a row as it reads. The functions are those that nlohmann::json::sax_parse calls; false
/// ends it.
class Reader {
 public:
  Reader(std::string_view text, const FindColumn& find, Row& row, convert::Fault& fault)
      : text_(text), find_(find), row_(row), fault_(fault) {}

  bool null() {
    if (depth() == 0) return no_object();
    if (!in_list_) find_cell();  // a column, whose value is missing
    return true;
  }
  bool boolean(bool value) { return add(value ? "true" : "false"); }
  bool number_integer(json::number_integer_t value) { return add(fmt::format("{}", value)); }
  bool number_unsigned(json::number_unsigned_t value) { return add(fmt::format("{}", value)); }
  bool number_float(json::number_float_t, const std::string& text) { return add(text); }
  bool string(std::string& text) { return add(text); }
  bool binary(json::binary_t&) { return no_object(); }
  bool start_object(std::size_t) {
    if (in_list_) return fail("an object in a list");
    if (depth() == JsonRows::kMostDepth) return fail("objects in more than 8 others");
    ends_.push_back(name_.size());
    return true;
  }
  bool key(std::string& key) {
    name_.resize(ends_.back());
    if (depth() > 1) name_ += '.';
    name_ += key;
    return !name_.empty() || fail("a column without a name");
  }
  bool end_object() {
    name_.resize(ends_.back());
    ends_.pop_back();
    return true;
  }
  bool start_array(std::size_t) {
    if (depth() == 0) return no_object();
    if (in_list_) return fail("a list in a list");
    in_list_ = true;
    list_begin_ = row_.items.size();
    return true;
  }
  bool end_array() {
    in_list_ = false;
    if (list_begin_ == row_.items.size()) return true;  // empty: missing
    if (Cell* const cell = find_cell()) {
      *cell = {Cell::Type::kList, {}, list_begin_, row_.items.size()};
    }
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) {
    fault_ = {text_.data() + std::min(at == 0 ? 0 : at - 1, text_.size()), JsonRows::kNoJson};
    return false;
  }

 private:
  std::size_t depth() const { return ends_.size(); }
  bool fail(const char* what) {
    fault_ = {text_.data(), what};
    return false;
  }
  bool no_object() { return fail("no object of columns: {\"NAME\": VALUE, …}"); }

  Cell* find_cell() {
    const std::size_t column = find_(name_);
    if (column == Schema::kNone) return nullptr;
    if (column >= row_.cells.size()) row_.cells.resize(column + 1);
    return &row_.cells[column];
  }
  bool add(const std::string& value) {
    if (depth() == 0) return no_object();
    const std::size_t begin = row_.room.size();
    if (begin + value.size() > row_.room.capacity()) return fail("its values are too long");
    row_.room += value;
    const std::string_view text = std::string_view(row_.room).substr(begin);
    if (in_list_) {
      row_.items.push_back(text);
      return true;
    }
    if (Cell* const cell = find_cell()) {
      cell->type = text.empty() ? Cell::Type::kMissing : Cell::Type::kText;
      cell->text = text;
    }
    return true;
  }

  std::string_view text_;
  const FindColumn& find_;
  Row& row_;
  convert::Fault& fault_;
  std::string name_;               ///< OUTER.INNER
  std::vector<std::size_t> ends_;  ///< of the names around the object at hand
  bool in_list_ = false;
  std::size_t list_begin_ = 0;
};

}  // namespace

bool JsonRows::read(std::string_view text, const FindColumn& find, Row& row,
                    convert::Fault& fault) {
  row.room.clear();
  row.items.clear();
  // Views into it stay: no value is longer than its text.
  row.room.reserve(text.size() + 1);
  Reader reader(text, find, row, fault);
  return json::sax_parse(text.begin(), text.end(), &reader);
}

}  // namespace leveret::schema
