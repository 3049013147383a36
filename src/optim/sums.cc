#include "optim/sums.h"

#include <cassert>
#include <stdexcept>
#include <utility>
#include <vector>

#include "optim/counting.h"
#include "optim/warmup.h"

namespace leveret::optim {
namespace {

/// Places of what is counted, before the layers' sums.
enum Common : std::size_t { kLearned, kDropped, kConstant, kLayers };

/// Calls visit(id, place) for each array of weights beside the layers, behind whose sums its own
/// are. Returns the place behind them.
template <class Visit>
std::size_t for_each_array(const tape::Parameters& parameters, Visit visit) {
  std::size_t place = kLayers + LayerOptimizer::sum_floats(parameters);
  for (const tape::ArrayId id : parameters.declared().weights_beside_layers()) {
    visit(id, place);
    place += parameters[id].size();
  }
  return place;
}

/// Totals come last.
std::size_t totals_begin(const tape::Parameters& parameters) {
  return for_each_array(parameters, [](tape::ArrayId, std::size_t) {});
}

}  // namespace

// Neither is inline, as those of Steps.
Sums::Sums(Optimizer& optimizer, tape::Parameters& parameters, tape::Tape& tape,
           std::span<float> common)
    : optimizer_(optimizer), parameters_(parameters), tape_(tape), common_(common) {
  tape.sink = this;
}

Sums::~Sums() {
  tape_.sink = nullptr;
  optimizer_.handed().clear();
}

void Sums::layer(const tape::LayerGradient& gradient) {
  optimizer_.layers().sum(parameters_, tape_, gradient, common_.subspan(kLayers));
}

void Sums::columns(const tape::ColumnsGradient&) {
  throw std::logic_error("optim::Sums has no place for columns of a layer");
}

void Sums::rows(std::size_t part, const tape::RowGradients& gradients) {
  optimizer_.handed().put_rows(part, gradients);
}

void Sums::cells(const tape::CellGradients& gradients) { optimizer_.handed().cells = gradients; }

void Sums::array(tape::ArrayId id, const float* gradient) {
  const std::size_t count = std::as_const(parameters_)[id].size();
  for_each_array(parameters_, [&](tape::ArrayId at, std::size_t place) {
    for (std::size_t i = 0; at == id && i < count; ++i) common_[place + i] += gradient[i];
  });
}

std::size_t Sums::common_floats(const tape::Parameters& parameters) {
  return totals_begin(parameters) + total_floats(parameters);
}

void Sums::add_common() {
  const Counted counted = counted_of(tape_, 0, tape_.size);
  common_[kLearned] += static_cast<float>(counted.learned);
  common_[kDropped] += static_cast<float>(counted.dropped);
  common_[kConstant] += optimizer_.handed().cells.d_constant.linear;
  sum_totals(parameters_, tape_, common_.subspan(totals_begin(parameters_)));
}

void Sums::visit_cells(const std::function<void(const table::Cell&, float)>& visit) {
  const tape::CellGradients& cells = optimizer_.handed().cells;
  if (cells.errors != nullptr) optimizer_.cells().visit_sums(parameters_, tape_, cells, visit);
}

void Sums::visit_rows(
    const std::function<void(std::size_t, const std::byte*, const float*)>& visit) {
  const Handed& handed = optimizer_.handed();
  for (std::size_t part = 0; part < handed.rows.size(); ++part) {
    if (handed.rows[part] == nullptr) continue;
    const auto of_part = [&](const std::byte* row, const float* sums) { visit(part, row, sums); };
    optimizer_.rows().visit_sums(parameters_, tape_, part, *handed.rows[part], of_part);
  }
}

/// In the order of Steps: layers first.
void step_common(Optimizer& optimizer, tape::Parameters& parameters, std::span<const float> sums) {
  assert(!optimizer.config().mixed);
  tape::Scalars& scalars = parameters.scalars;
  const float share = warmth(scalars, optimizer.config());
  optimizer.layers().step_by_sums(parameters, sums.subspan(kLayers));
  scalars.examples += static_cast<std::uint64_t>(sums[kLearned]);
  scalars.dropped_gradients += static_cast<std::uint64_t>(sums[kDropped]);
  if (sums[kLearned] == 0.0f) return;
  optimizer.cells().step_constants(scalars, {.linear = sums[kConstant]});
  for_each_array(parameters, [&](tape::ArrayId id, std::size_t place) {
    optimizer.arrays().step(parameters, id, sums.subspan(place).data(), share);
  });
  take_totals(parameters, sums.subspan(totals_begin(parameters)));
}

}  // namespace leveret::optim
