// Optimizer: parts of rows whose gradients stand on the tape, one vector a feature.
#include "optim/optimizer.h"
#include "table/mix.h"

namespace leveret::optim {

/// Of several occurrences of a row in a batch the gradients are summed first, in their order; the
/// noise of its step is by its name (meet_rows).
void Optimizer::apply_row_vectors(const Parameters& parameters, const Tape& tape) {
  if (tape.row_layout == nullptr || parameters.layout.fields == 0) return;
  const std::vector<table::RowPart>& parts = tape.row_layout->parts();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].by_field) continue;  // FFM slots
    seed_noise_of_vectors(parameters, p);
    const bool one = tape.is_single();
    one ? step_vectors(tape, p) : step_summed_vectors(tape, p);
  }
}

void Optimizer::step_vectors(const Tape& tape, std::size_t part) {
  if (!tape.learn[0]) return;
  const std::size_t k = tape.row_layout->parts()[part].k;
  const float* gradient = tape.row_gradients[part].data();
  for (std::uint32_t i = tape.field_begin(0); i < tape.field_begin(1); ++i, gradient += k) {
    if (std::byte* const row = tape.to_learn.rows[i]) {
      step_vector(*tape.row_layout, part, row, gradient);
    }
  }
}

void Optimizer::step_summed_vectors(const Tape& tape, std::size_t part) {
  sum_vectors(tape, part, [&](const BatchRow& row, const float* sum) {
    step_vector_by_sum(tape.layout_of(row.field), part, row, sum);
  });
}

void Optimizer::step_vector_by_sum(const table::RowLayout& layout, std::size_t part,
                                   const BatchRow& row, const float* sum) {
  noise_ = row.noise;
  step_vector(layout, part, row.row, sum);
}

void Optimizer::seed_noise_of_vectors(const Parameters& parameters, std::size_t part) {
  seed_noise(parameters);
  noise_ = table::mix(noise_ + part + 1);
}

void Optimizer::sum_vectors(const Tape& tape, std::size_t part, const VisitRow& visit) {
  const std::size_t k = tape.row_layout->parts()[part].k;
  const std::uint32_t first = tape.field_begin(0);
  const float* const gradients = tape.row_gradients[part].data();
  meet_rows(tape);
  row_sums_.assign(rows_.size() * k, 0.0f);
  for (std::size_t b = 0; b < tape.size; ++b) {
    if (!tape.learn[b]) continue;
    for (const feature::FieldRun& run : tape.field_runs(b)) {
      if (!tape.has_part(run.field, part)) continue;
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        if (tape.to_learn.rows[i] == nullptr) continue;
        kernels_->axpy(1.0f, gradients + (i - first) * k, k,
                       row_sums_.data() + row_numbers_[i] * k);
      }
    }
  }
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    const BatchRow& row = rows_[number];
    if (!tape.has_part(row.field, part)) continue;
    visit(row, row_sums_.data() + number * k);
  }
}

/// What has no gradient stays as it is: a weight or accumulator that was read is rounded to itself.
void Optimizer::step_vector(const table::RowLayout& layout, std::size_t part, std::byte* row,
                            const float* gradient) {
  const float one = 1.0f;
  step_part(layout, part, config_.fm_rule, row, gradient, &one);
}

}  // namespace leveret::optim
