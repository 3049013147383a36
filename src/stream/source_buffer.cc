#include "stream/source_buffer.h"

#include <cstring>
#include <utility>

namespace leveret::stream {

void SourceBuffer::start(ByteSource& of, std::size_t room) {
  source_ = &of;
  bytes.resize(room);
  filled = 0;
  paused = ended = false;
  error = nullptr;
}

void SourceBuffer::read_more(Patience patience) {
  try {
    char* const to = bytes.data() + filled;
    const std::size_t room = bytes.size() - filled;
    auto got = source_->try_read(to, room);
    if (!got && !patience) {
      got = source_->read(to, room);
    } else if (!got && patience != kNoPatience) {
      source_->wait(patience);
      got = source_->try_read(to, room);
    }
    paused = !got;
    if (!got) return;
    filled += *got;
    ended = *got == 0;
  } catch (...) {
    error = std::current_exception();
    ended = true;
  }
}

void SourceBuffer::shrink(std::size_t room) {
  std::string fresh(room, '\0');
  std::memcpy(fresh.data(), bytes.data(), filled);
  bytes = std::move(fresh);
}

}  // namespace leveret::stream
