/// Chunks of whole lines from files, pipes and standard input, one after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stream/byte_source.h"
#include "stream/cutter.h"
#include "stream/folder_paths.h"
#include "stream/source_events.h"
#include "stream/stop_flag.h"
#include "text/example.h"

namespace leveret::stream {

/// The lines of two sources never join. One thread calls next(), the rest may be called from any,
/// stop() also from a signal handler.
class FileLines {
 public:
  /// `paths` may hold "-" (standard input) once; no path at all is standard input. Throws
  /// std::runtime_error when one is missing, a directory or not readable.
  /// `events`, when given, outlives it. With `follow_after` the one path is a folder that fills, of
  /// which the files with higher names are read as they appear, each to its end; a chunk without
  /// lines (ExampleChunk::ends_source) follows the last one of each, also of one that `events` does
  /// not want.
  FileLines(std::vector<std::string> paths, const CutterOptions& options,
            SourceEvents* events = nullptr,
            const std::optional<std::string>& follow_after = std::nullopt);
  FileLines(const FileLines&) = delete;
  FileLines& operator=(const FileLines&) = delete;

  /// Reads the next chunk; while the input pauses, one of the whole lines that are there. Sets
  /// bytes, source, first_line and place, and clears the rest. False at the end. Throws the error
  /// of a source after the lines before it, once; that only carriage returns end its lines is one.
  bool next(text::ExampleChunk& chunk);

  /// No more is read; the whole lines that were read are still handed out, then next is false.
  void stop() noexcept { stop_.raise(); }

  /// By ExampleChunk::source: the path, or "standard input".
  const std::string& source_name(std::uint32_t source) const;
  /// Bytes taken so far from the files themselves, packed as they are.
  std::uint64_t bytes_read() const;
  /// Their total, when all are regular files.
  std::optional<std::uint64_t> bytes_total() const { return bytes_total_; }

 private:
  std::optional<std::uint32_t> next_source(bool& wanted);
  void open(std::uint32_t source);
  void close();
  void end_source(text::ExampleChunk& chunk, std::uint32_t source);

  std::deque<std::string> paths_;  ///< so that they stay where they are
  std::deque<std::string> names_;
  std::optional<std::uint64_t> bytes_total_ = 0;
  SourceEvents* const events_;
  StopFlag stop_;
  std::optional<FolderPaths> folder_;
  std::unique_ptr<Cutter> cutter_;
  std::uint32_t next_source_ = 0;
  std::uint64_t next_block_ = 0;
  mutable std::mutex progress_mutex_;  // guards names_ and the two below while they change
  std::uint64_t bytes_done_ = 0;       ///< of sources that are closed
  std::unique_ptr<ByteSource> source_;
};

}  // namespace leveret::stream
