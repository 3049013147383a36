/// The kind that a column most likely is.
#pragma once

#include <string>
#include <string_view>

#include "schema/column.h"
#include "schema/sample.h"

namespace leveret::schema {

struct Guess {
  Kind kind;
  std::string why;
};

/// By its name and its first values. kOpen: there is no value yet.
Guess guess(std::string_view name, const Sample& sample);

/// Whether a column of this name is the label where nobody names one.
bool is_label_name(std::string_view name);

}  // namespace leveret::schema
