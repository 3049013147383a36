/// leveret convert FORMAT -i MODEL: raw rows to the VW text that the model reads them as.
#pragma once

#include <string>

#include "cli/input.h"
#include "schema/row_format.h"

namespace leveret::cli {

/// To standard output; bad rows as everywhere. `quiet`: no summary.
void convert_by_schema(const std::string& model, const InputOptions& input,
                       const schema::FormatWord& format, bool quiet);

}  // namespace leveret::cli
