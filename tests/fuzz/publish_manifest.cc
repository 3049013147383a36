// The manifest of a published folder, whatever is in it: refused in words, or one whose every step
// can be made again, and which is written as it is read. Input: its text, whose checksum is made
// right.
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>

#include "publish/manifest.h"

using namespace leveret;

namespace {

void repair(std::string& text) {
  const std::string key = "\"checksum\"";
  const std::size_t at = text.rfind(key);
  const std::size_t value = at == std::string::npos ? at : text.find('"', at + key.size());
  if (value == std::string::npos || text.size() - value < 34) return;
  const store::Checksum sum = store::checksum_of(std::as_bytes(std::span(text).first(at)));
  text.replace(value + 1, 32, store::to_hex(sum));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  repair(text);
  publish::Manifest manifest;
  try {
    manifest = publish::manifest_from_text(text, "manifest.json");
  } catch (const std::runtime_error&) {
    return 0;
  }
  for (const publish::Entry& entry : manifest.entries) {
    if (manifest.files_for(entry.step).empty()) std::abort();
  }
  const publish::Manifest again =
      publish::manifest_from_text(publish::to_text(manifest), "manifest.json");
  if (again.entries != manifest.entries || again.retired != manifest.retired) std::abort();
  return 0;
}
