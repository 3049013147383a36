#include "optim/steps.h"

#include <algorithm>
#include <span>
#include <utility>

#include "optim/counting.h"
#include "optim/warmup.h"

namespace leveret::optim {

// Neither is inline: GCC 14 would take the tape's pointer for one that outlives its object
// (-Wdangling-pointer).
Steps::Steps(Optimizer& optimizer, table::Tables& tables, tape::Parameters& parameters,
             tape::Tape& tape, std::vector<tape::LearnedDense> columns)
    : optimizer_(optimizer),
      tables_(tables),
      parameters_(parameters),
      tape_(tape),
      columns_(std::move(columns)),
      warmth_(warmth(parameters.scalars, optimizer.config())) {
  tape.sink = this;
}

Steps::~Steps() {
  tape_.sink = nullptr;
  optimizer_.handed().clear();
}

void Steps::layer(const tape::LayerGradient& gradient) {
  optimizer_.layers().step(parameters_, tape_, gradient);
}

void Steps::rows(std::size_t part, const tape::RowGradients& gradients) {
  optimizer_.handed().put_rows(part, gradients);
}

void Steps::cells(const tape::CellGradients& gradients) { optimizer_.handed().cells = gradients; }

void Steps::array(tape::ArrayId id, const float* gradient) {
  optimizer_.handed().arrays.emplace_back(id, gradient);
}

void Steps::columns(const tape::ColumnsGradient& of) {
  const LayerPart part{columns_.at(of.columns), of.rows, of.d_out};
  optimizer_.layers().step_part(parameters_.scalars, tape_, part);
}

void Steps::finish() {
  warmth_ = warmth(parameters_.scalars, optimizer_.config());
  if (count_examples(0, tape_.size)) {
    step_rows();
    step_rest(0, tape_.size, tape_.is_single());
  }
  optimizer_.handed().clear();
}

void Steps::finish_example(std::size_t b) {
  if (count_examples(b, b + 1)) step_rest(b, b + 1, true);
  optimizer_.handed().clear();
}

void Steps::finish_after_examples() {
  const std::span learn = std::span(tape_.learn).first(tape_.size);
  if (std::ranges::find(learn, 1) != learn.end()) {
    step_rows();
    step_arrays();
  }
  optimizer_.handed().clear();
}

/// Whether any is learned from.
bool Steps::count_examples(std::size_t begin, std::size_t end) {
  const Counted counted = counted_of(tape_, begin, end);
  parameters_.scalars.examples += counted.learned;
  parameters_.scalars.dropped_gradients += counted.dropped;
  return counted.learned > 0;
}

/// Moves what the examples of a batch move together, but for layers.
void Steps::step_rows() {
  const Handed& handed = optimizer_.handed();
  for (std::size_t part = 0; part < handed.rows.size(); ++part) {
    if (handed.rows[part] == nullptr) continue;
    optimizer_.rows().step(parameters_, tape_, part, *handed.rows[part]);
  }
}

/// Arrays that have been handed on by now: with per-example updates, each time those of other
/// blocks.
void Steps::step_arrays() {
  for (const auto& [id, gradient] : optimizer_.handed().arrays) {
    optimizer_.arrays().step(parameters_, id, gradient, warmth_);
  }
}

/// Cells, arrays, mixers, and what is counted, by examples [begin, end). `alone`: it is one, whose
/// cells step without sums.
void Steps::step_rest(std::size_t begin, std::size_t end, bool alone) {
  const Handed& handed = optimizer_.handed();
  CellOptimizer& cells = optimizer_.cells();
  if (handed.cells.errors != nullptr) {
    alone ? cells.step_one(tape_, handed.cells, begin)
          : cells.step_batch(parameters_, tape_, handed.cells);
    cells.step_constants(parameters_.scalars, handed.cells.d_constant);
  }
  step_arrays();
  add_totals(parameters_, tape_, begin, end);
  if (!optimizer_.config().mixed) return;
  step_mixers(parameters_, tape_, optimizer_.config(), begin, end);
  count_features(tables_, parameters_, tape_, optimizer_.config(), begin, end);
}

}  // namespace leveret::optim
