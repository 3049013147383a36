#include "block/module/experts_module.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "block/dense/relu.h"

namespace leveret::block {
namespace {

/// The number of the largest score of those not yet chosen, which are marked by a share below 0.
std::size_t largest_left(const float* scores, const float* shares, std::size_t count) {
  std::size_t best = count;
  for (std::size_t e = 0; e < count; ++e) {
    if (shares[e] >= 0.0f) continue;
    if (best == count || scores[e] > scores[best]) best = e;
  }
  return best;
}

/// Softmax over the `top` largest scores; 0 of all others.
void share_out(const float* scores, std::size_t count, std::size_t top, float* shares) {
  std::fill_n(shares, count, -1.0f);
  float most = 0, sum = 0;
  for (std::size_t i = 0; i < top; ++i) {
    const std::size_t e = largest_left(scores, shares, count);
    if (i == 0) most = scores[e];
    sum += shares[e] = std::exp(scores[e] - most);
  }
  for (std::size_t e = 0; e < count; ++e) shares[e] = shares[e] < 0.0f ? 0.0f : shares[e] / sum;
}

}  // namespace

struct ExpertsModule::Routes final : tape::Memory {
  std::vector<std::size_t> begins;      ///< by expert, and one behind the last
  std::vector<std::uint32_t> examples;  ///< of each row; ascending in an expert
  std::vector<float> in, hidden, made;  ///< by row
  std::vector<float> d_hidden, d_made, d_in;
};

ExpertsModule::ExpertsModule(const ModulePlace& place, std::uint32_t experts, std::uint32_t top)
    : place_(place),
      top_(top),
      width_(place.setting("width")),
      experts_(experts, {DenseRows(*place.kernels), DenseRows(*place.kernels)}),
      gate_(*place.kernels) {}

Tokens ExpertsModule::declare(const Tokens& in, const tape::Extent& extent,
                              tape::Declarations& declarations) {
  in_ = in;
  const auto count = static_cast<std::uint32_t>(experts_.size());
  const std::uint32_t made = place_.tokens * in.width;
  const auto tensor = [&](const std::string& name, std::uint32_t size) {
    return declarations.add(tape::Tensor{.name = name, .size = size, .gradient = true});
  };
  if (count > 1) {
    scores_ = tensor(place_.name + ".scores", count);
    shares_ = tensor(place_.name + ".shares", count);
    declarations.add_totals(place_.name + kLoad, shares_, /*rests=*/true);
  }
  // The layers' declarations name what they read; rows of experts are in Routes.
  const tape::TensorId hidden = declarations.add(
      tape::Tensor{.name = place_.name + ".hidden", .size = width_, .only_if_read = true});
  for (std::uint32_t e = 0; e < count; ++e) {
    const std::string name = place_.name + ".expert" + std::to_string(e);
    experts_[e].widen.declare(name + ".u", in.id, in.size(extent), width_, 2.0f, *place_.config,
                              declarations);
    experts_[e].narrow.declare(name + ".v", hidden, width_, made, 1.0f, *place_.config,
                               declarations);
  }
  if (count > 1) {  // behind the experts, before which its way back comes
    gate_.declare(place_.name + ".gate", in.id, in.size(extent), count, 1.0f, *place_.config,
                  declarations);
  }
  routes_ = declarations.add_memory();
  const std::uint64_t of_row = 2 * (std::uint64_t{in.size(extent)} + width_ + made);
  declarations.working.push_back({place_.name, top_ * of_row});
  out_ = {tensor(place_.name, made), in.width, place_.tokens};
  return out_;
}

float ExpertsModule::share(const Run& run, std::size_t b, std::size_t e) const {
  return experts_.size() > 1 ? run.tape[shares_].at(b)[e] : 1.0f;
}

/// Chooses the experts of each example, and numbers the rows.
void ExpertsModule::choose(const Run& run, Routes& routes) const {
  const std::size_t count = experts_.size();
  routes.begins.assign(1, 0);
  routes.examples.clear();
  if (count > 1) {
    const tape::TensorPlace& scores = run.tape[scores_];
    gate_.forward(run, 1, run.tape[in_.id].values, scores.values);
    for (std::size_t b = 0; b < run.tape.size; ++b) {
      share_out(scores.at(b), count, top_, run.tape[shares_].at(b));
    }
  }
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t b = 0; b < run.tape.size; ++b) {
      if (count > 1 && run.tape[shares_].at(b)[e] == 0.0f) continue;
      routes.examples.push_back(static_cast<std::uint32_t>(b));
    }
    routes.begins.push_back(routes.examples.size());
  }
}

void ExpertsModule::gather(const Run& run, Routes& routes) const {
  const std::size_t numbers = in_.size(run.parameters.layout);
  routes.in.resize(routes.examples.size() * numbers);
  for (std::size_t r = 0; r < routes.examples.size(); ++r) {
    std::copy_n(run.tape[in_.id].at(routes.examples[r]), numbers, routes.in.data() + r * numbers);
  }
}

void ExpertsModule::forward(const Run& run) const {
  auto& routes = run.tape.memory<Routes>(routes_);
  choose(run, routes);
  gather(run, routes);
  const std::size_t numbers = in_.size(run.parameters.layout);
  const std::size_t made = run.tape[out_.id].stride;
  routes.hidden.resize(routes.examples.size() * width_);
  routes.made.resize(routes.examples.size() * made);
  std::fill_n(run.tape[out_.id].values, run.tape.size * made, 0.0f);
  for (std::size_t e = 0; e < experts_.size(); ++e) {
    const std::size_t begin = routes.begins[e], count = routes.begins[e + 1] - begin;
    if (count == 0) continue;
    float* const hidden = routes.hidden.data() + begin * width_;
    float* const y = routes.made.data() + begin * made;
    experts_[e].widen.forward_rows(run, count, routes.in.data() + begin * numbers, hidden);
    relu(hidden, count * width_);
    experts_[e].narrow.forward_rows(run, count, hidden, y);
    for (std::size_t r = 0; r < count; ++r) {
      const std::uint32_t b = routes.examples[begin + r];
      place_.kernels->axpy(share(run, b, e), y + r * made, made, run.tape[out_.id].at(b));
    }
  }
}

void ExpertsModule::backward(const Run& run, float* d_in) const {
  auto& routes = run.tape.memory<Routes>(routes_);
  gather(run, routes);  // again: what is not learned is 0 by now
  const std::size_t numbers = in_.size(run.parameters.layout);
  routes.d_hidden.resize(routes.hidden.size());
  routes.d_made.resize(routes.made.size());
  routes.d_in.resize(routes.in.size());
  make_d_of_experts(run, routes);
  std::fill_n(d_in, run.tape.size * numbers, 0.0f);
  if (experts_.size() > 1) gate_back(run, d_in);
  for (std::size_t e = experts_.size(); e-- > 0;) {
    const std::size_t begin = routes.begins[e], count = routes.begins[e + 1] - begin;
    const std::uint32_t* const examples = routes.examples.data() + begin;
    float* const hidden = routes.hidden.data() + begin * width_;
    float* const d_hidden = routes.d_hidden.data() + begin * width_;
    float* const d_x = routes.d_in.data() + begin * numbers;
    experts_[e].narrow.backward_rows(run, count, examples, hidden,
                                     routes.d_made.data() + begin * run.tape[out_.id].stride,
                                     d_hidden);
    relu_back(hidden, count * width_, d_hidden);
    experts_[e].widen.backward_rows(run, count, examples, routes.in.data() + begin * numbers,
                                    d_hidden, d_x);
    for (std::size_t r = 0; r < count; ++r) {
      place_.kernels->axpy(1.0f, d_x + r * numbers, numbers, d_in + examples[r] * numbers);
    }
  }
}

/// d y of each row, and <D, y_e> in the gradients of shares.
void ExpertsModule::make_d_of_experts(const Run& run, Routes& routes) const {
  const std::size_t made = run.tape[out_.id].stride;
  for (std::size_t e = 0; e < experts_.size(); ++e) {
    for (std::size_t r = routes.begins[e]; r < routes.begins[e + 1]; ++r) {
      const std::uint32_t b = routes.examples[r];
      float* const hidden = routes.hidden.data() + r * width_;
      float* const d_y = routes.d_made.data() + r * made;
      if (!run.tape.learn[b]) {
        std::fill_n(hidden, width_, 0.0f);
        std::fill_n(d_y, made, 0.0f);
        continue;
      }
      const float* const d_out = run.tape[out_.id].d_at(b);
      place_.kernels->scale(d_out, made, share(run, b, e), d_y);
      if (experts_.size() == 1) continue;
      run.tape[shares_].d_at(b)[e] =
          place_.kernels->dot(d_out, routes.made.data() + r * made, made);
    }
  }
}

void ExpertsModule::gate_back(const Run& run, float* d_in) const {
  const std::size_t count = experts_.size();
  const tape::TensorPlace &scores = run.tape[scores_], &shares = run.tape[shares_];
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    const float *const g = shares.at(b), *const d_g = shares.d_at(b);
    float* const d_s = run.tape[scores_].d_at(b);
    float mean = 0;
    for (std::size_t e = 0; e < count; ++e) mean += g[e] != 0.0f ? g[e] * d_g[e] : 0.0f;
    for (std::size_t e = 0; e < count; ++e) d_s[e] = g[e] != 0.0f ? g[e] * (d_g[e] - mean) : 0.0f;
  }
  gate_.backward(run, 1, run.tape[in_.id].values, scores.gradient, d_in);
}

}  // namespace leveret::block
