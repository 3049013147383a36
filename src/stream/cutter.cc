#include "stream/cutter.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "stream/line_cutter.h"
#include "stream/row_cutter.h"

namespace leveret::stream {

std::unique_ptr<Cutter> make_cutter(const CutterOptions& options, const StopFlag* stop) {
  if (options.max_line < 1 || options.max_line > kMaxMaxLine) {
    throw std::runtime_error(fmt::format("--max_line {} is out of range; give 1 to {} bytes",
                                         options.max_line, kMaxMaxLine));
  }
  CutterOptions usable = options;
  usable.chunk_bytes = std::clamp(usable.chunk_bytes, std::size_t{16}, kMaxMaxLine);
  if (usable.rows != nullptr) return std::make_unique<RowCutter>(usable, stop);
  return std::make_unique<LineCutter>(usable, stop);
}

}  // namespace leveret::stream
