/// --by and --top: figures of slices.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "metrics/slices.h"
#include "options/cli11_fwd.h"
#include "publish/line_slices.h"

namespace leveret::cli {

struct SliceOptions {
  std::string by;  ///< a namespace; empty: no slices
  std::size_t top = 20;
};

/// `more`: for the help of --by.
void add_slice_options(CLI::App& verb, SliceOptions& options, const std::string& more = "");

/// The largest slices. std::runtime_error where no line has the namespace.
std::vector<metrics::Slice> take_slices(publish::LineSlices& slices, const SliceOptions& options);

}  // namespace leveret::cli
