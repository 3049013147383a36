#include "cli/learn/hashed_table.h"

#include <fmt/format.h>

#include "cli/console.h"
#include "model/model.h"
#include "table/hashed_cells.h"

namespace leveret::cli {

void tell_of_hashed_table(const spec::Spec& spec) {
  const std::uint32_t bits = spec.bit_precision;
  const table::CellKind kind = model::cell_kind(spec);
  const std::uint64_t in_memory = table::HashedCells::stride(kind);
  const std::uint64_t in_file = sizeof(std::uint32_t) + table::HashedCells::number_bytes(kind);
  if (bits == 0 || in_memory << bits < std::uint64_t{64} << 20) return;
  say(fmt::format(
      "-b {0}: 2^{0} slots take {1} bytes each, {2} MB of memory from the start; each one in use "
      "takes {3} bytes of the model's file; without -b the table grows with the features",
      bits, in_memory, (in_memory << bits) >> 20, in_file));
}

}  // namespace leveret::cli
