// gzip and zstd decoders: any bytes, cut anywhere, give the same output and the same verdict.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "stream/decoder.h"

using namespace leveret::stream;

namespace {

constexpr std::size_t kMostOutput = 1 << 20;  // a bomb is cut here

std::string decode(Decoder& decoder, std::string_view bytes, std::size_t step, bool* whole) {
  std::string all;
  char out[4096];
  while (!bytes.empty() && !decoder.error() && all.size() < kMostOutput) {
    std::string_view in = bytes.substr(0, step);
    bytes.remove_prefix(in.size());
    while (const std::size_t size = decoder.decode(in, out, step < 64 ? 7 : sizeof out)) {
      all.append(out, size);
      if (all.size() >= kMostOutput) return all.substr(0, kMostOutput);
    }
    if (!in.empty() && !decoder.error()) std::abort();  // input left behind, and no reason given
  }
  *whole = !decoder.error() && decoder.complete();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto make = [&] { return data[0] & 1 ? make_zstd_decoder(20) : make_gzip_decoder(); };
  const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  bool whole = false, whole_in_steps = false;
  const std::string at_once = decode(*make(), bytes, size, &whole);
  const std::string in_steps = decode(*make(), bytes, 1 + data[1] % 63, &whole_in_steps);
  // Of the block with the fault, one may have seen more than the other.
  const bool same =
      whole ? at_once == in_steps : at_once.starts_with(in_steps) || in_steps.starts_with(at_once);
  if (!same || whole != whole_in_steps) std::abort();
  return 0;
}
