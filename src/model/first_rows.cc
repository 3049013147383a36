#include "model/first_rows.h"

#include <stdexcept>
#include <utility>

#include "model/aligned.h"

namespace leveret::model {
namespace {

/// Empty where the system has no memory.
Arena huge_page() {
  try {
    Arena memory(FirstRows::kBytes);
    if (!memory.resize(FirstRows::kBytes)) return Arena();
    memory.use_huge_pages();
    return memory;
  } catch (const std::runtime_error&) {  // no addresses either
  }
  return Arena();
}

}  // namespace

void FirstRows::lend_to(std::vector<FieldTable>& tables) {
  if (tables.empty()) return;
  // The first rows of all fields are met together: an odd number of lines from one field to the
  // next keeps them from falling on few sets of the caches.
  const std::size_t lines = kBytes / tables.size() / kLineBytes;
  const std::size_t field_bytes = lines > 0 ? ((lines - 1) | 1) * kLineBytes : 0;
  const std::size_t rows = field_bytes / tables[0].shape().stride();
  if (rows == 0) {
    memory_ = Arena();
    return;
  }
  Arena memory = huge_page();
  if (memory.size() == 0) return;
  for (std::size_t f = 0; f < tables.size(); ++f) {
    tables[f].lend(memory.data() + f * field_bytes, static_cast<Row>(rows));
  }
  memory_ = std::move(memory);
}

}  // namespace leveret::model
