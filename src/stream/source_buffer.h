/// The bytes of a source that a cutter has read and has not handed out yet.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

#include "stream/byte_source.h"

namespace leveret::stream {

struct SourceBuffer {
  std::string bytes;       ///< its size is its room; bytes [0, filled) are input
  std::size_t filled = 0;  ///< bytes of input
  bool paused = false;     ///< the last read found nothing
  bool ended = false;
  std::exception_ptr error;  ///< why it ended, to be thrown after what is good

  /// Empty, with so much room, for the bytes of this source, which outlives the reading.
  void start(ByteSource& of, std::size_t room);
  /// Fills the room once; sets `paused` where nothing has come when patience ends.
  void read_more(Patience patience);
  /// So much room, which the input fits into.
  void shrink(std::size_t room);
  const std::string& name() const { return source_->name(); }

 private:
  ByteSource* source_ = nullptr;
};

}  // namespace leveret::stream
