#include "store/layout.h"

namespace leveret::store {

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kModel:
      return "model";
    case Kind::kExport:
      return "export";
    case Kind::kPatch:
      return "patch";
    case Kind::kCache:
      return "cache";
    case Kind::kShard:
      return "shard";
    case Kind::kNotes:
      return "notes";
  }
  return "unknown";
}

}  // namespace leveret::store
