#include "toy/toy_block.h"

#include <algorithm>

#include "block/linear_block.h"
#include "net/make_blocks.h"
#include "rules/kinds.h"

namespace leveret::toy {
namespace {

constexpr float kSquares = 0.1f;  ///< c

float dot(const ToyBlock::Vector& a, const ToyBlock::Vector& b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add_scaled(float x, const ToyBlock::Vector& from, ToyBlock::Vector& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += x * from[i];
}

rules::RulePtr adagrad(float rate) { return rules::make_rule({.part = {rate, 0.5f, 1.0f}}); }

ToyBlock::Vector vector_at(const float* from) {
  ToyBlock::Vector v;
  std::copy_n(from, v.size(), v.begin());
  return v;
}

}  // namespace

void ToyBlock::declare(const tape::Extent&, tape::Declarations& declarations) {
  tape::LearnedArray matrix{
      "toy.matrix", table::Learned::kParameter, tape::Merge::kAdd, {kDim * kDim}};
  matrix.first = [](std::uint32_t, std::uint32_t i) { return i % (kDim + 1) == 0 ? 1.0f : 0.1f; };
  matrix_ = declarations.weights(std::move(matrix), adagrad(0.05f));
  const auto tensor = [&](const char* name, std::uint32_t size) {
    return declarations.add(tape::Tensor{.name = name, .size = size});
  };
  w_ = tensor("toy.w", kDim);
  t_ = tensor("toy.t", kDim);
  q_ = tensor("toy.q", kDim);
  d_w_ = tensor("toy.d_w", kDim);
  score_ = tensor("toy.score", 1);
  head_ = {declarations.add_residual("toy", 0.3f, true), config_.mixed};
}

void ToyBlock::declare_rows(std::vector<block::Rows>& parts) {
  part_ = parts.size();
  block::Rows rows;
  rows.kind = block::Rows::Kind::kOwn;
  rows.part.slots = 1;
  rows.part.by_field = false;
  rows.part.k = rows.part.used_k = kDim;
  rows.part.codec = kernels::Codec::f32();
  rows.part.init_width = 0.2f;
  rows.learn_by(adagrad(0.1f));
  if (part_ < config_.rows.size()) rows = config_.rows[part_];
  row_ = rows.part;
  parts.push_back(rows);
}

void ToyBlock::declare_sums(const tape::Extent&, std::uint32_t, const tape::Declarations&,
                            tape::SumDecls& sums) {
  const auto sum = [&](const char* name, std::uint32_t floats, std::uint32_t round) {
    tape::SumDecl declared{name, "toy", floats};
    declared.round = round;
    return sums.add(declared);
  };
  sums_ = {sum("toy.u", kDim, 0), sum("toy.w", kDim, 0), sum("toy.squares", 1, 1),
           sum("toy.along", kDim, 1)};
}

void ToyBlock::open(const tape::Parameters&, std::size_t, tape::Tape& tape) const {
  tape.open_gradient(matrix_, kDim * kDim);
}

/// take(feature, whether of field a, x v).
template <class Take>
void ToyBlock::for_each_vector(const tape::Tape& tape, std::size_t b, Take take) const {
  for (const feature::FieldRun& run : tape.field_runs(b)) {
    if (run.field > 1 || !tape.has_part(run.field, part_)) continue;
    const std::size_t at = tape.layout_of(run.field).weights(part_).begin;
    for (std::uint32_t i = run.begin; i < run.end; ++i) {
      if (tape.rows[i] == nullptr) continue;
      Vector v;
      for (std::size_t c = 0; c < kDim; ++c) {
        v[c] = tape.field_values[i] * kernels::decode(row_.codec, tape.rows[i] + at, c);
      }
      take(i, run.field == 0, v);
    }
  }
}

ToyBlock::First ToyBlock::first(const tape::Tape& tape, std::size_t b) const {
  First of;
  for_each_vector(tape, b, [&](std::uint32_t, bool is_a, const Vector& v) {
    add_scaled(1, v, is_a ? of.u : of.w);
  });
  return of;
}

ToyBlock::Second ToyBlock::second(const tape::Tape& tape, std::size_t b, const Vector& t) const {
  Second of;
  for_each_vector(tape, b, [&](std::uint32_t, bool is_a, const Vector& v) {
    if (!is_a) return;
    const float s = dot(v, t);
    of.squares += s * s;
    add_scaled(s, v, of.along);
  });
  return of;
}

ToyBlock::Vector ToyBlock::make_t(const tape::Parameters& parameters, const Vector& w) const {
  Vector t;
  for (std::size_t r = 0; r < kDim; ++r) t[r] = dot(vector_at(&parameters[matrix_][r * kDim]), w);
  return t;
}

void ToyBlock::put(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                   const First& of, const Second& more) const {
  const Vector t = make_t(parameters, of.w);
  Vector q = of.u;
  add_scaled(2 * kSquares, more.along, q);
  std::ranges::copy(of.w, tape[w_].at(b));
  std::ranges::copy(t, tape[t_].at(b));
  std::ranges::copy(q, tape[q_].at(b));
  tape[score_].values[b] = dot(of.u, t) + kSquares * more.squares;
  put_score(tape, b);
}

void ToyBlock::put_score(tape::Tape& tape, std::size_t b) const {
  head_.put(tape, b, head_.before(tape, b) + tape[score_].values[b]);
}

void ToyBlock::forward(const block::Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const First of = first(run.tape, b);
    put(run.parameters, run.tape, b, of, second(run.tape, b, make_t(run.parameters, of.w)));
  }
}

void ToyBlock::partial(const block::Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const tape::SumsOf of = run.sums_of(b);
    if (run.sums->round() == 0) {
      const First mine = first(run.tape, b);
      std::ranges::copy(mine.u, of.all(sums_.u).begin());
      std::ranges::copy(mine.w, of.all(sums_.w).begin());
    } else {
      const Vector w = vector_at(of.all(sums_.w).data());
      const Second mine = second(run.tape, b, make_t(run.parameters, w));
      of[sums_.squares] = mine.squares;
      std::ranges::copy(mine.along, of.all(sums_.along).begin());
    }
  }
}

void ToyBlock::finish(const block::Run& run) const {
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const tape::SumsOf of = run.sums_of(b);
    put(run.parameters, run.tape, b,
        {vector_at(of.all(sums_.u).data()), vector_at(of.all(sums_.w).data())},
        {of[sums_.squares], vector_at(of.all(sums_.along).data())});
  }
}

void ToyBlock::finish_back(const block::Run& run) const {
  float* const gradient = run.tape.gradient(matrix_);
  std::fill_n(gradient, kDim * kDim, 0.0f);
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    const float d = head_.errors(run.tape)[b];
    const float *const q = run.tape[q_].at(b), *const w = run.tape[w_].at(b);
    float* const d_w = run.tape[d_w_].at(b);
    std::fill_n(d_w, kDim, 0.0f);
    for (std::size_t r = 0; r < kDim && d != 0; ++r) {
      for (std::size_t c = 0; c < kDim; ++c) {
        gradient[r * kDim + c] += d * q[r] * w[c];
        d_w[c] += d * run.parameters[matrix_][r * kDim + c] * q[r];
      }
    }
  }
  if (run.tape.sink != nullptr) run.tape.sink->array(matrix_, gradient);
}

void ToyBlock::partial_back(const block::Run& run) const {
  if (run.tape.sink != nullptr) run.tape.sink->rows(part_, *this);
}

template <class Take>
void ToyBlock::for_each_gradient(const tape::Tape& tape, std::size_t b, Take take) const {
  const float d = head_.errors(tape)[b];
  const Vector t = vector_at(tape[t_].at(b)), d_w = vector_at(tape[d_w_].at(b));
  for_each_vector(tape, b, [&](std::uint32_t i, bool is_a, const Vector& v) {
    const float x = tape.field_values[i];
    Vector g{};
    if (is_a) {
      add_scaled(d * x * (1 + 2 * kSquares * dot(v, t)), t, g);
    } else {
      add_scaled(x, d_w, g);
    }
    take(i, g);
  });
}

void ToyBlock::add(const tape::Parameters&, tape::Tape& tape, std::size_t b,
                   float* const* sums) const {
  const std::uint32_t begin = tape.field_begin(b);
  for_each_gradient(tape, b, [&](std::uint32_t i, const Vector& g) {
    for (std::size_t c = 0; c < kDim; ++c) sums[i - begin][c] += g[c];
  });
}

/// All of them before the first row moves, as several features may share one.
void ToyBlock::each(const tape::Parameters&, tape::Tape& tape, tape::RowVisitor& visitor) const {
  std::vector<std::pair<std::uint32_t, Vector>> all;
  for_each_gradient(tape, 0, [&](std::uint32_t i, const Vector& g) { all.emplace_back(i, g); });
  const float one = 1.0f;
  for (const auto& [feature, gradient] : all) visitor.visit(feature, gradient.data(), &one);
}

}  // namespace leveret::toy

namespace leveret::net {

std::span<const BlockKind> extra_kinds() {
  static constexpr BlockKind kKinds[] = {block_kind<toy::ToyBlock>("toy")};
  return kKinds;
}

}  // namespace leveret::net
