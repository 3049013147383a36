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

/// Of each column, whether a context has it; empty: there is no context.
using ContextColumns = std::vector<bool>;

/// One thread, which may be at several requests by turns. Columns that the schema lacks are left
/// out, and counted.
class RequestRows {
 public:
  explicit RequestRows(std::shared_ptr<const Schema> schema);

  // These append the line of VW text, with its end, that an object of columns becomes. False:
  // nothing is appended, and `why` says what is wrong with it. NoJson says at which byte.

  /// A context, whose label and tag are not looked at; `columns` become those that it has.
  bool take_context(std::string_view object, ContextColumns& columns, std::string& line,
                    std::string& why);
  /// A candidate of the context that has these columns; without one, a whole row.
  bool take(std::string_view object, const ContextColumns& context, std::string& line,
            std::string& why);

  /// Columns of objects that the schema lacks, since it was last asked.
  std::uint64_t take_unknown() { return std::exchange(unknown_, 0); }

 private:
  bool read(std::string_view object, std::string& why);
  bool make(std::size_t size, std::string& line, std::string& why,
            const std::vector<bool>* elsewhere);
  void forget(Kind kind);

  std::shared_ptr<const Schema> schema_;
  NameMap<std::size_t> index_;  ///< columns by their names
  RowLine line_;
  JsonRows format_;
  FindColumn find_;
  Row row_;
  std::vector<bool> named_;  ///< by the object at hand
  std::uint64_t unknown_ = 0;
};

}  // namespace leveret::schema
