#include "optim/optimizer.h"

namespace leveret::optim {

void Handed::clear() {
  rows.clear();
  cells = {};
  arrays.clear();
}

void Handed::put_rows(std::size_t part, const tape::RowGradients& gradients) {
  if (rows.size() <= part) rows.resize(part + 1, nullptr);
  rows[part] = &gradients;
}

}  // namespace leveret::optim
