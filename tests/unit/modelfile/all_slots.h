/// A hashed table's sections as files had them before there was cells.keys.
#pragma once

#include <cstring>
#include <utility>

#include "modelfile/model_parts.h"

namespace leveret::modelfile {

/// The same file with all 2^bits slots, one after the other; it has those that are touched alone.
inline ModelParts with_all_slots(ModelParts parts, std::uint32_t bits) {
  const std::vector<std::byte> keys = parts.part("cells.keys").bytes;
  for (ModelParts::Part& part : parts.parts) {
    if (!part.name.starts_with("cells.") || part.name == "cells.keys") continue;
    const std::size_t size = store::dtype_bits(part.dtype) / 8;
    std::vector<std::byte> all(size << bits);
    for (std::size_t i = 0; i < part.shape[0]; ++i) {
      std::uint32_t slot;
      std::memcpy(&slot, keys.data() + i * sizeof slot, sizeof slot);
      std::memcpy(all.data() + slot * size, part.bytes.data() + i * size, size);
    }
    part.bytes = std::move(all);
    part.shape = {std::uint64_t{1} << bits};
  }
  parts.erase("cells.keys");
  return parts;
}

}  // namespace leveret::modelfile
