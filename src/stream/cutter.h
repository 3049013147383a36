/// From the bytes of a source to chunks of whole lines of VW text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "schema/row_reader.h"
#include "stream/byte_source.h"
#include "stream/stop_flag.h"
#include "text/example.h"

namespace leveret::stream {

/// Not thread safe.
class Cutter {
 public:
  virtual ~Cutter() = default;

  /// Begins a new source; no line goes over from the one before.
  virtual void start(ByteSource& source, std::uint32_t source_index) = 0;
  /// Fills `chunk` with the next lines: as many as fit, or those that are there when the source
  /// pauses. False at the end. The last line needs no line end, but a line that an error or the
  /// stop flag cut short is none, and is dropped; an error of the source is thrown once the lines
  /// before it are handed out.
  ///
  /// A line that is bad before it is parsed comes as a chunk of its own with one BadLine, one that
  /// is too long with its first kExcerpt bytes; such a chunk must not be parsed (parse_chunk in
  /// text_reader.h).
  virtual bool next(text::ExampleChunk& chunk) = 0;

  static constexpr std::size_t kExcerpt = 1024;
};

struct CutterOptions {
  std::size_t chunk_bytes = 64 << 10;  ///< a chunk is handed on when this full, or sooner
  std::size_t max_line = 64 << 20;     ///< bytes without the line end; at most kMaxMaxLine
  /// Raw rows, which become VW text; null: the source is VW text.
  std::shared_ptr<const schema::RowInput> rows = nullptr;
};

/// Offsets in a chunk have 32 bits, and a chunk may hold a long line and others.
inline constexpr std::size_t kMaxMaxLine = std::size_t{2} << 30;

/// LineCutter or RowCutter. `stop`, when given, must outlive it. std::runtime_error where an option
/// is out of range.
std::unique_ptr<Cutter> make_cutter(const CutterOptions& options, const StopFlag* stop);

}  // namespace leveret::stream
