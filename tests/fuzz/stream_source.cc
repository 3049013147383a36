// A file of any bytes, through everything: recognised, unpacked, cut, parsed.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "stream/example_reader.h"

using namespace leveret;
using namespace leveret::stream;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int fd = memfd_create("source", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) < 0) std::abort();
  try {
    text::NamespaceNames names;
    ExampleReader reader({path}, {.chunk_bytes = 4096, .max_line = 1 << 16}, names, {});
    text::ExampleChunk chunk;
    for (std::size_t total = 0; total < 4 << 20 && reader.next(chunk);) total += chunk.bytes.size();
  } catch (const std::runtime_error&) {
  }
  return 0;
}
