#include "dist/learn/batch_head.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "store/checksum.h"

namespace leveret::dist {
namespace {

/// Places in the head. A rank writes 1 for yes, and reads how many ranks did.
enum Head : std::size_t { kFailed, kStop, kChecked, kHash };

/// 16 bits at a time, so that floats add them up exactly.
template <std::size_t kParts>
std::array<float, kParts> hash_of(const tape::Parameters& parameters) {
  store::Checksummer all;
  parameters.for_each(
      [&]<class T>(const tape::ArrayValues<T>& values) { all.add(std::as_bytes(values.all())); });
  const tape::Scalars& scalars = parameters.scalars;
  all.add(std::as_bytes(std::span(&scalars.examples, 1)));
  all.add(std::as_bytes(std::span(&parameters.layout.fields, 1)));
  const std::uint64_t hash = all.get().low;
  std::array<float, kParts> parts;
  for (std::size_t i = 0; i < kParts; ++i) {
    parts[i] = static_cast<float>((hash >> (16 * i)) & 0xffff);
  }
  return parts;
}

}  // namespace

void BatchHead::write(BatchFlags flags, const tape::Parameters& common, bool checks,
                      std::span<float> head) {
  static_assert(kHash + kHashParts <= kFloats);
  head[kFailed] = flags.failed ? 1.0f : 0.0f;
  head[kStop] = flags.stop ? 1.0f : 0.0f;
  head[kChecked] = checks ? 1.0f : 0.0f;
  if (!checks) return;
  own_hash_ = hash_of<kHashParts>(common);
  std::ranges::copy(own_hash_, head.begin() + kHash);
}

BatchFlags BatchHead::read(std::span<const float> head, unsigned ranks,
                           std::uint64_t batches) const {
  const auto all = static_cast<float>(ranks);
  for (std::size_t i = 0; head[kChecked] > 0 && i < kHashParts; ++i) {
    if (head[kChecked] == all && head[kHash + i] == all * own_hash_[i]) continue;
    throw std::runtime_error("ranks no longer have the same mixers and layers, after " +
                             std::to_string(batches) +
                             " batches: start the same build of leveret-mpi on processors of one "
                             "kind");
  }
  return {head[kFailed] > 0, head[kStop] > 0};
}

}  // namespace leveret::dist
