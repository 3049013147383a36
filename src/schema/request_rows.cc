#include "schema/request_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace leveret::schema {

RequestRows::RequestRows(std::shared_ptr<const Schema> schema)
    : schema_(std::move(schema)), line_(schema_) {
  for (std::size_t i = 0; i < schema_->columns.size(); ++i) {
    index_.emplace(schema_->columns[i].name, i);
  }
  find_ = [this](std::string_view name) {
    const auto found = index_.find(name);
    if (found == index_.end()) {
      ++unknown_;
      return Schema::kNone;
    }
    named_[found->second] = true;
    return found->second;
  };
}

bool RequestRows::read(std::string_view object, std::string& why) {
  row_.cells.assign(schema_->columns.size(), {});
  named_.assign(schema_->columns.size(), false);
  convert::Fault fault;
  if (format_.read(object, find_, row_, fault)) return true;
  if (fault.what == JsonRows::kNoJson) {
    throw NoJson(fmt::format("byte {}: {}", fault.at - object.data() + 1, fault.what));
  }
  why = fault.what;
  return false;
}

bool RequestRows::make(std::size_t size, std::string& line, std::string& why,
                       const std::vector<bool>* elsewhere) {
  convert::Fault fault;
  if (line_.append(row_, size, line, fault, elsewhere)) return true;
  why = fmt::format("column \"{}\": {}", line_.bad_column().name, fault.what);
  return false;
}

void RequestRows::forget(Kind kind) {
  const std::size_t column = schema_->find(kind);
  if (column != Schema::kNone) row_.cells[column] = {};
}

bool RequestRows::take_context(std::string_view object, ContextColumns& columns, std::string& line,
                               std::string& why) {
  columns.clear();
  if (!read(object, why)) return false;
  forget(Kind::kLabel);
  forget(Kind::kTag);
  std::vector<bool> elsewhere = named_;
  elsewhere.flip();
  if (!make(object.size(), line, why, &elsewhere)) return false;
  columns = named_;
  return true;
}

bool RequestRows::take(std::string_view object, const ContextColumns& context, std::string& line,
                       std::string& why) {
  if (!read(object, why)) return false;
  for (std::size_t i = 0; i < context.size(); ++i) {
    if (!named_[i] || !context[i] || !schema_->columns[i].is_feature()) continue;
    why = fmt::format("column \"{}\" is in the context, too", schema_->columns[i].name);
    return false;
  }
  return make(object.size(), line, why, context.empty() ? nullptr : &context);
}

}  // namespace leveret::schema
