/// Rows of requests, one at a time: a context, which has some of the columns, and candidates, which
/// have the others. A candidate with its context is what a JSON row with the columns of both is: a
/// column that neither has is missing in each candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/json_rows.h"
#include "schema/names.h"
#include "schema/row_line.h"
#include "schema/schema.h"

namespace leveret::schema {

/// An object is no JSON.
struct NoJson : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One thread. Columns that the schema lacks are left out, and counted.
class RequestRows {
 public:
  explicit RequestRows(std::shared_ptr<const Schema> schema);

  // These append the line of VW text, with its end, that an object of columns becomes. False:
  // nothing is appended, and `why` says what is wrong with it. NoJson says at which byte.

  /// Candidates from now on are those of this context; its label and tag are not looked at.
  bool take_context(std::string_view object, std::string& line, std::string& why);
  /// Of the context; without one, a whole row.
  bool take(std::string_view object, std::string& line, std::string& why);
  void drop_context() { context_.assign(context_.size(), false); }

  /// Columns of objects that the schema lacks, since it was last asked.
  std::uint64_t take_unknown() { return std::exchange(unknown_, 0); }

 private:
  bool read(std::string_view object, std::string& why);
  bool make(std::size_t size, std::string& line, std::string& why,
            const std::vector<bool>& elsewhere);
  void forget(Kind kind);

  std::shared_ptr<const Schema> schema_;
  NameMap<std::size_t> index_;  ///< columns by their names
  RowLine line_;
  JsonRows format_;
  FindColumn find_;
  Row row_;
  std::vector<bool> named_;    ///< by the object at hand
  std::vector<bool> context_;  ///< by the context
  std::uint64_t unknown_ = 0;
};

}  // namespace leveret::schema
