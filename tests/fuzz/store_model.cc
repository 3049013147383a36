// Opens the input as a model file, as it is and with its first checksum made right, and touches all
// that the reader lets through.
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "store/layout.h"
#include "store/layout_bytes.h"

using namespace leveret::store;

namespace {

// Where the results of touching go; volatile, so that the touching stays.
volatile unsigned sink;

std::span<const std::byte> bytes_of(std::span<const std::byte> file, const StoredSection& section) {
  return file.subspan(section.offset, section.bytes);
}

void read(std::span<const std::byte> file) try {
  const Layout layout = read_layout(file, file.size(), "fuzz");
  for (const StoredSection& section : layout.sections) {
    for (const std::byte b : bytes_of(file, section)) sink = static_cast<unsigned>(b);
  }
  for (const char c : layout.header_json) sink = static_cast<unsigned>(c);
  for (const StoredSection& section : layout.sections) {
    check_checksum(section, checksum_of(bytes_of(file, section)), "fuzz");
    check_padding(section, file.subspan(section.offset + section.bytes, section.padding), "fuzz");
  }
} catch (const std::runtime_error&) {
}

/// Without this, no mutation would get past the checksum of header and table.
void repair(std::span<std::byte> file) {
  const auto header = get<std::uint64_t>(file, preamble::kHeaderBytes);
  const std::uint64_t sections = get<std::uint32_t>(file, preamble::kSections);
  const std::uint64_t end = (preamble::kBytes + header + 7) / 8 * 8 + sections * entry::kBytes;
  if (header > file.size() || end > file.size()) return;
  const Checksum checksum = checksum_of(file.subspan(preamble::kChecked, end - preamble::kChecked));
  put(file, preamble::kFileBytes, std::uint64_t{file.size()});
  put(file, preamble::kChecksum, checksum.low);
  put(file, preamble::kChecksum + 8, checksum.high);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read(bytes);
  std::vector<std::byte> repaired(bytes.begin(), bytes.end());
  if (repaired.size() >= preamble::kBytes) repair(repaired);
  read(repaired);
  return 0;
}
