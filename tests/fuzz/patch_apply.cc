// Describes the input as a patch and applies it to a model, as it is and with its checksums made
// right: whatever it says, what comes out is the file that it names, or nothing.
#include <cstdint>
#include <stdexcept>

#include "patch/small_patch.h"

using namespace leveret;

namespace {

void read(const patch::SmallPatch& sample, std::span<const std::byte> patch) try {
  files::write_bytes(sample.folder / "fuzzed", patch);
  patch::describe_patch(sample.folder / "fuzzed");
  patch::PatchChain patches({sample.folder / "fuzzed"});
  patch::apply_patches(sample.folder / "old", patches, "/dev/null", 1);
} catch (const std::runtime_error&) {
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const patch::SmallPatch sample(patch::PatchKind::kSections);
  std::vector<std::byte> patch(size);
  std::ranges::copy(std::as_bytes(std::span(data, size)), patch.begin());
  read(sample, patch);
  patch::repair_patch(patch);
  read(sample, patch);
  return 0;
}
