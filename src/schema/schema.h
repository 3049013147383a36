/// How the rows of a source are read: its columns. A model that learned raw rows keeps it in its
/// header, as text, a line for each column:
///
///     clicked label
///     age number:edges=18+25+33+47+90
///     device category
///
/// Plain data; a schema that several threads use is in a SharedSchema.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/column.h"

namespace leveret::schema {

inline constexpr std::size_t kMostColumns = 10'000;

struct Schema {
  /// In the order in which their features stand in a line of VW text. No two have the same name;
  /// one label at most, one weight, one tag.
  std::vector<Column> columns;

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  /// Its index, or kNone.
  std::size_t find(std::string_view name) const;
  /// The first one of this kind, or kNone.
  std::size_t find(Kind kind) const;
  bool has_open() const;
  bool operator==(const Schema&) const = default;
};

/// std::runtime_error where the column would be a second label, weight or tag.
void check_once(const Schema& schema, const Column& column);

/// Whether rows that were read by `now` can be read on by `later`: the same columns, of which those
/// that were open may have become something.
bool is_continued(const Schema& now, const Schema& later);

/// std::runtime_error where a date's age is to be told at a column that is not there.
void check_ages(const Schema& schema);

std::string to_text(const Schema& schema);
/// std::runtime_error names the line (from 1) and what is wrong with it. Blank lines and those that
/// begin with # are passed over.
Schema from_text(std::string_view text);

/// A schema that may still become more: its columns get their kinds as values come. Any thread.
class SharedSchema {
 public:
  explicit SharedSchema(Schema schema = {})
      : schema_(std::make_shared<const Schema>(std::move(schema))) {}

  std::shared_ptr<const Schema> get() const {
    const std::lock_guard lock(mutex_);
    return schema_;
  }
  void set(std::shared_ptr<const Schema> schema) {
    const std::lock_guard lock(mutex_);
    schema_ = std::move(schema);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Schema> schema_;
};

}  // namespace leveret::schema
