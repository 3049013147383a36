/// The plain oracle: every kernel as its comment in `kernels.h` says it, one component at a time.
/// Sums run in double, so that its rounding is far below that of the kernels tested against it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/tables.h"

namespace leveret::kernels {
namespace {

double dot_double(const float* a, const float* b, std::size_t length) {
  double sum = 0;
  for (std::size_t i = 0; i < length; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

float total(const float* x, std::size_t length) {
  double sum = 0;
  for (std::size_t i = 0; i < length; ++i) sum += x[i];
  return static_cast<float>(sum);
}

/// 1 / acc^power. Outside the normal range the nearest normal number stands for the accumulator,
/// so that the step is finite whatever the gradient was.
float shrink(float acc, float power) {
  if (power == 0.0f) return 1.0f;
  acc = std::clamp(acc, std::numeric_limits<float>::min(), std::numeric_limits<float>::max());
  return power == 0.5f ? 1.0f / std::sqrt(acc) : std::pow(acc, -power);
}

/// The gradient of one component with its L2 term.
float with_l2(float g, float w, const StepRule& rule) { return g == 0 ? 0 : g + rule.l2 * w; }

/// One component's step, after which the accumulator has forgotten all but `decay` of what it was.
void step(float& w, float& acc, float g, const StepRule& rule, float decay = 1) {
  if (g == 0) return;
  g = with_l2(g, w, rule);
  acc = decay * acc + g * g;
  w -= rule.rate * g * shrink(acc, rule.power);
}

void axpy(float x, const float* row, std::size_t length, float* row_sum) {
  for (std::size_t c = 0; c < length; ++c) row_sum[c] += x * row[c];
}

std::size_t pair_of(std::size_t i, std::size_t j) {
  return j < i ? i * (i - 1) / 2 + j : j * (j - 1) / 2 + i;
}

void mix_vectors(const float* w, const float* x, std::size_t n, std::size_t k, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < k; ++c) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) {
        if (j != i) sum += double{w[pair_of(i, j)]} * double{x[j * k + c]};
      }
      out[i * k + c] = static_cast<float>(sum);
    }
  }
}

void add_vector_dots(const float* x, std::size_t n, std::size_t k, float factor, float* dots) {
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      dots[pair_of(i, j)] += factor * static_cast<float>(dot_double(x + i * k, x + j * k, k));
    }
  }
}

void ffm_update(float* w, float* acc, const float* t, const float* delta, std::size_t slots,
                std::size_t k, StepRule rule) {
  for (std::size_t j = 0; j < slots; ++j) {
    for (std::size_t c = 0; c < k; ++c) {
      step(w[j * k + c], acc[j * k + c], delta[j] * t[j * k + c], rule);
    }
  }
}

void ffm_update_slice(float* w, float* acc, const float* t, const float* delta, std::size_t slots,
                      std::size_t k, StepRule rule) {
  for (std::size_t j = 0; j < slots; ++j) {
    float* slot = w + j * k;
    double squares = 0;
    for (std::size_t c = 0; c < k; ++c) {
      const double g = with_l2(delta[j] * t[j * k + c], slot[c], rule);
      squares += g * g;
    }
    acc[j] += static_cast<float>(squares / static_cast<double>(k));
    const float scale = rule.rate * shrink(acc[j], rule.power);
    for (std::size_t c = 0; c < k; ++c) {
      const float g = with_l2(delta[j] * t[j * k + c], slot[c], rule);
      if (g != 0) slot[c] -= scale * g;
    }
  }
}

/// Stores numbers, each with a noise of its own.
class Writer {
 public:
  Writer(Codec codec, std::uint32_t& noise) : codec_(codec), noise_(noise) {}
  void operator()(std::byte* array, std::size_t i, float x) {
    encode(codec_, array, i, x, noise_ += 0x9e3779b9u);
  }

 private:
  Codec codec_;
  std::uint32_t& noise_;
};

void decode_array(Codec codec, const std::byte* in, std::size_t length, float* out) {
  for (std::size_t i = 0; i < length; ++i) out[i] = decode(codec, in, i);
}

void add_numbers(Codec codec, const std::byte* in, float x, std::size_t length, float* out) {
  for (std::size_t i = 0; i < length; ++i) out[i] += x * decode(codec, in, i);
}

void encode_array(Codec codec, const float* in, std::size_t length, std::uint32_t noise,
                  std::byte* out) {
  Writer write(codec, noise);
  for (std::size_t i = 0; i < length; ++i) write(out, i, in[i]);
}

void add_changes(Codec codec, const std::byte* copy, const std::byte* before, std::size_t length,
                 std::uint32_t noise, std::byte* to) {
  Writer write(codec, noise);
  for (std::size_t i = 0; i < length; ++i) {
    const float now = decode(codec, copy, i), then = decode(codec, before, i);
    write(to, i, decode(codec, to, i) + (now == then ? 0.0f : now - then));
  }
}

float largest(const float* x, std::size_t length) {
  float best = 0;
  for (std::size_t i = 0; i < length; ++i) {
    if (!std::isfinite(x[i])) return std::fabs(x[i]);
    best = std::max(best, std::fabs(x[i]));
  }
  return best;
}

void quantize(const float* x, std::size_t length, float codes_in_one, int largest_code,
              std::int16_t* codes) {
  const auto end = static_cast<float>(largest_code);
  for (std::size_t i = 0; i < length; ++i) {
    const float code = std::nearbyint(std::clamp(x[i] * codes_in_one, -end, end));
    codes[i] = static_cast<std::int16_t>(code);
  }
}

float widen(Codec codec, const std::byte* array, std::size_t length, Fixed16* codes) {
  const std::byte* const first = array + (codec.is_scaled() ? Codec::kScaleBytes : 0);
  for (std::size_t i = 0; i < length; ++i) {
    codes[i] = {static_cast<std::int16_t>(code_at(codec, first, i))};
  }
  return codec.is_scaled() ? load_unaligned<float>(array) : 1.0f;
}

void narrow(Codec codec, const Fixed16* codes, std::size_t length, std::byte* array) {
  const int end = codec.largest_code();
  for (std::size_t i = 0; i < length; ++i) {
    put_code(codec, array, i, std::clamp<int>(codes[i].code, -end - 1, end));
  }
}

float fill_from(Codec, std::size_t, StepRule) { return 0.75f; }

float ffm_pairs(Codec weights, const std::byte* const* rows, const std::uint32_t* fields,
                std::size_t n, std::size_t k, float* pairs) {
  const float* const first = pairs;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < k; ++c) {
        sum += static_cast<double>(decode(weights, rows[i], fields[j] * k + c)) *
               decode(weights, rows[j], fields[i] * k + c);
      }
      *pairs++ = static_cast<float>(sum);
    }
    *pairs++ = 0;
  }
  return total(first, n * (n + 1) / 2);
}

float ffm_rectangle(Codec weights, const std::byte* const* rows, const std::byte* const* slots,
                    std::size_t m, const std::uint32_t* fields, std::size_t n, std::size_t k,
                    float* pairs) {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < k; ++c) {
        sum += static_cast<double>(decode(weights, rows[i], fields[j] * k + c)) *
               decode(weights, slots[i], j * k + c);
      }
      pairs[i * n + j] = static_cast<float>(sum);
    }
  }
  return total(pairs, m * n);
}

float ffm_listed_pairs(Codec weights, const std::byte* const* rows, const PairList& list,
                       std::size_t k, float* pairs) {
  const float* const first = pairs;
  for (std::size_t i = 0; i < list.n; ++i) {
    for (std::size_t j = 0; j < list.before[i]; ++j) {
      const PairList::Other& other = list.of(i)[j];
      double sum = 0;
      for (std::size_t c = 0; c < k; ++c) {
        sum += static_cast<double>(decode(weights, rows[i], j * k + c)) *
               decode(weights, rows[other.row], other.slot * k + c);
      }
      *pairs++ = static_cast<float>(sum);
    }
    if (list.has_own(i)) *pairs++ = 0;
  }
  return total(first, static_cast<std::size_t>(pairs - first));
}

void ffm_deltas(const float* d, float own, const float* x, std::size_t n, float* delta) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t at = i * (i + 1) / 2 + j;
      const float values = x[i] * x[j];
      delta[at] = values == 0 ? 0 : ((d != nullptr ? d[at] : 0) + own) * values;
    }
    delta[i * (i + 1) / 2 + i] = 0;
  }
}

void ffm_update_pairs(Codec weights, Codec state, std::byte* const* rows, std::byte* const* accs,
                      const std::uint32_t* fields, std::size_t n, std::size_t k, const float* delta,
                      StepRule rule, std::uint32_t noise) {
  Writer write(weights, noise), write_state(state, noise);
  for (std::size_t i = 0; i < n; ++i, ++delta) {
    for (std::size_t j = 0; j < i; ++j, ++delta) {
      const std::size_t at_i = fields[j] * k, at_j = fields[i] * k;
      const auto weight_i = [&](std::size_t c) { return decode(weights, rows[i], at_i + c); };
      const auto weight_j = [&](std::size_t c) { return decode(weights, rows[j], at_j + c); };
      float acc_i = decode(state, accs[i], fields[j]);
      float acc_j = decode(state, accs[j], fields[i]);
      const auto gradient = [&](float w_i, float w_j) { return with_l2(*delta * w_j, w_i, rule); };
      double squares_i = 0;
      double squares_j = 0;
      for (std::size_t c = 0; c < k; ++c) {
        const float w_i = weight_i(c), w_j = weight_j(c);
        squares_i += std::pow(static_cast<double>(gradient(w_i, w_j)), 2);
        squares_j += std::pow(static_cast<double>(gradient(w_j, w_i)), 2);
      }
      acc_i += static_cast<float>(squares_i / static_cast<double>(k));
      acc_j += static_cast<float>(squares_j / static_cast<double>(k));
      write_state(accs[i], fields[j], acc_i);
      write_state(accs[j], fields[i], acc_j);
      const float scale_i = rule.rate * shrink(acc_i, rule.power);
      const float scale_j = rule.rate * shrink(acc_j, rule.power);
      for (std::size_t c = 0; c < k; ++c) {
        const float w_i = weight_i(c), w_j = weight_j(c);
        write(rows[i], at_i + c, w_i - scale_i * gradient(w_i, w_j));
        write(rows[j], at_j + c, w_j - scale_j * gradient(w_j, w_i));
      }
    }
  }
}

void ffm_gradients(Codec weights, const std::byte* const* rows, const std::uint32_t* fields,
                   std::size_t n, std::size_t k, const float* delta, float* const* sums) {
  const auto add = [&](std::size_t i, std::size_t j, float d) {
    for (std::size_t c = 0; sums[i] != nullptr && c < k; ++c) {
      sums[i][fields[j] * k + c] += d * decode(weights, rows[j], fields[i] * k + c);
    }
  };
  for (std::size_t i = 0; i < n; ++i, ++delta) {
    for (std::size_t j = 0; j < i; ++j, ++delta) {
      add(i, j, *delta);
      add(j, i, *delta);
    }
  }
}

void ffm_listed_gradients(Codec weights, const std::byte* const* rows, const PairList& list,
                          std::size_t k, const float* delta, float* const* sums) {
  for (std::size_t i = 0; i < list.n; ++i) {
    for (std::size_t j = 0; sums[i] != nullptr && j < list.slots(i); ++j) {
      const PairList::Other& other = list.of(i)[j];
      for (std::size_t c = 0; c < k; ++c) {
        sums[i][j * k + c] +=
            delta[list.begin[i] + j] * decode(weights, rows[other.row], other.slot * k + c);
      }
    }
  }
}

void ffm_step_row(Codec weights, Codec state, std::byte* row, std::byte* accs, const float* g,
                  std::size_t slots, std::size_t k, StepRule rule, const RowNoise& noise) {
  for (std::size_t j = 0; j < slots; ++j) {
    const auto gradient = [&](std::size_t i) {
      return with_l2(g[i], decode(weights, row, i), rule);
    };
    double squares = 0;
    for (std::size_t i = j * k; i < (j + 1) * k; ++i) {
      squares += std::pow(static_cast<double>(gradient(i)), 2);
    }
    const float acc = decode(state, accs, j) + static_cast<float>(squares / static_cast<double>(k));
    encode(state, accs, j, acc, noise.of_slot(j));
    const float scale = rule.rate * shrink(acc, rule.power);
    for (std::size_t i = j * k; i < (j + 1) * k; ++i) {
      encode(weights, row, i, decode(weights, row, i) - scale * gradient(i), noise.of_number(i));
    }
  }
}

void step_vectors(Codec weights, Codec state, const VectorSteps& of, std::size_t k, StepRule rule) {
  std::vector<float> gradient(k);
  for (std::size_t i = 0; i < of.n; ++i) {
    for (std::size_t c = 0; c < k; ++c) gradient[c] = of.factors[i] * of.gradients[i][c];
    ffm_step_row(weights, state, of.rows[i], of.rows[i] + of.to_state, gradient.data(), 1, k, rule,
                 {of.noise_of(i)});
  }
}

void dense_forward(const float* w, const float* bias, const float* in, std::size_t inputs,
                   std::size_t outputs, std::size_t stride, std::size_t examples, float* out) {
  for (std::size_t e = 0; e < examples; ++e, in += inputs, out += outputs) {
    for (std::size_t o = 0; o < outputs; ++o) {
      out[o] = static_cast<float>(bias[o] + dot_double(w + o * stride, in, inputs));
    }
  }
}

void dense_backward(const float* w, const float* d_out, std::size_t inputs, std::size_t outputs,
                    std::size_t stride, float* d_in) {
  for (std::size_t i = 0; i < inputs; ++i) {
    double sum = 0;
    for (std::size_t o = 0; o < outputs; ++o) {
      if (d_out[o] != 0) sum += static_cast<double>(w[o * stride + i]) * d_out[o];
    }
    d_in[i] = static_cast<float>(sum);
  }
}

void dense_backward_update(float* w, float* acc, const float* in, const float* d_out,
                           std::size_t inputs, std::size_t outputs, std::size_t stride,
                           std::size_t examples, StepRule rule, float* d_in) {
  for (std::size_t e = 0; e < examples; ++e) {
    dense_backward(w, d_out + e * outputs, inputs, outputs, stride, d_in + e * inputs);
  }
  for (std::size_t o = 0; o < outputs; ++o) {
    // An example without gradient has no part, also where its input is not finite.
    std::size_t fired[kMostTogether], count = 0;
    for (std::size_t e = 0; e < examples; ++e) {
      if (d_out[e * outputs + o] != 0) fired[count++] = e;
    }
    for (std::size_t i = 0; count > 0 && i < inputs; ++i) {
      double g = 0;
      for (std::size_t f = 0; f < count; ++f) {
        const std::size_t e = fired[f];
        g += static_cast<double>(d_out[e * outputs + o]) * in[e * inputs + i];
      }
      const float decay = static_cast<float>(std::pow(double{rule.decay}, count));
      step(w[o * stride + i], acc[o * stride + i], static_cast<float>(g), rule, decay);
    }
  }
}

void update(float* w, float* acc, const float* g, std::size_t length, StepRule rule) {
  for (std::size_t i = 0; i < length; ++i) step(w[i], acc[i], g[i], rule, rule.decay);
}

void squares(const float* x, float scale, std::size_t length, float* g, float* squares) {
  for (std::size_t i = 0; i < length; ++i) {
    g[i] = scale * x[i];
    if (!(g[i] * g[i] <= kMaxSquare)) g[i] = 0;
    squares[i] = g[i] * g[i];
  }
}

void adagrad_deltas(const float* g, const float* acc, std::size_t length, float rate,
                    float* steps) {
  for (std::size_t i = 0; i < length; ++i) {
    steps[i] = acc[i] > 0 ? rate * g[i] / std::sqrt(acc[i]) : 0.0f;
  }
}

void adagrad_gather_scatter(float* const* weight_ptrs, const float* x, float scale,
                            std::size_t length, float init, float rate) {
  for (std::size_t i = 0; i < length; ++i) {
    float g, square, step;
    squares(x + i, scale, 1, &g, &square);
    const float sum = init + (weight_ptrs[i][1] += square);
    adagrad_deltas(&g, &sum, 1, rate, &step);
    weight_ptrs[i][0] -= step;
  }
}

void step_cells(float* const* cells, const float* x, std::size_t length, CellSteps steps) {
  for (std::size_t i = 0; i < length; ++i) {
    float g, g2, square, unused;
    squares(x + i, steps.d, 1, &g, &unused);
    squares(x + i, steps.d2, 1, &g2, &square);
    float* const cell = cells[i];
    const float sum = steps.init + (cell[1] += square);
    const float scale = sum > 0 ? steps.rate / std::sqrt(sum) : 0.0f;
    cell[0] -= scale * g;
    cell[2] -= scale * g2;
    cell[3] -= steps.fast * x[i];
  }
}

float centre(const float* x, std::size_t length, float mean, float* out) {
  for (std::size_t i = 0; i < length; ++i) out[i] = x[i] - mean;
  return static_cast<float>(dot_double(out, out, length));
}

void scale(const float* x, std::size_t length, float factor, float* out) {
  for (std::size_t i = 0; i < length; ++i) out[i] = factor * x[i];
}

void normalise_back(const float* x, std::size_t length, float mean, float along, float scale,
                    float* d) {
  for (std::size_t i = 0; i < length; ++i) d[i] = scale * (d[i] - mean - x[i] * along);
}

float dot(const float* a, const float* b, std::size_t length) {
  return static_cast<float>(dot_double(a, b, length));
}

void multiply_add(const SmallProduct& of, const float* a, const float* b, float* out) {
  for (std::size_t i = 0; i < of.rows; ++i) {
    for (std::size_t j = 0; j < of.columns; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < of.inner; ++c) {
        sum += double{a[i * of.a_row + c * of.a_column]} * double{b[c * of.b_row + j]};
      }
      out[i * of.out_row + j] += static_cast<float>(sum);
    }
  }
}

void softmax(std::size_t rows, std::size_t columns, float factor, float* x) {
  for (std::size_t r = 0; r < rows; ++r, x += columns) {
    const double most = columns > 0 ? *std::max_element(x, x + columns) : 0;
    const auto power = [&](std::size_t j) { return std::exp(double{factor} * (x[j] - most)); };
    double sum = 0;
    for (std::size_t j = 0; j < columns; ++j) sum += power(j);
    for (std::size_t j = 0; j < columns; ++j) x[j] = static_cast<float>(power(j) / sum);
  }
}

void softmax_back(const float* y, std::size_t rows, std::size_t columns, float factor, float* d) {
  for (std::size_t r = 0; r < rows; ++r, y += columns, d += columns) {
    const double mean = dot_double(y, d, columns);
    for (std::size_t j = 0; j < columns; ++j) {
      d[j] = static_cast<float>(factor * (y[j] * (d[j] - mean)));
    }
  }
}

void log(const float* x, std::size_t length, float* out) {
  for (std::size_t i = 0; i < length; ++i) out[i] = static_cast<float>(std::log(double{x[i]}));
}

}  // namespace

constinit const Kernels kReference = {
    .name = "reference",
    .axpy = axpy,
    .mix_vectors = mix_vectors,
    .add_vector_dots = add_vector_dots,
    .ffm_update = ffm_update,
    .ffm_update_slice = ffm_update_slice,
    .decode = decode_array,
    .add_numbers = add_numbers,
    .encode = encode_array,
    .add_changes = add_changes,
    .largest = largest,
    .quantize = quantize,
    .widen = widen,
    .narrow = narrow,
    .fill_from = fill_from,
    .ffm_pairs = ffm_pairs,
    .ffm_rectangle = ffm_rectangle,
    .ffm_listed_pairs = ffm_listed_pairs,
    .ffm_deltas = ffm_deltas,
    .ffm_update_pairs = ffm_update_pairs,
    .ffm_gradients = ffm_gradients,
    .ffm_listed_gradients = ffm_listed_gradients,
    .ffm_step_row = ffm_step_row,
    .step_vectors = step_vectors,
    .dense_forward = dense_forward,
    .dense_backward = dense_backward,
    .dense_backward_update = dense_backward_update,
    .multiply_add = multiply_add,
    .softmax = softmax,
    .softmax_back = softmax_back,
    .update = update,
    .squares = squares,
    .adagrad_deltas = adagrad_deltas,
    .adagrad_gather_scatter = adagrad_gather_scatter,
    .step_cells = step_cells,
    .total = total,
    .centre = centre,
    .scale = scale,
    .normalise_back = normalise_back,
    .dot = dot,
    .log = log,
    .text = &kReferenceText,
};

}  // namespace leveret::kernels
