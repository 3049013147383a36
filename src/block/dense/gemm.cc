#include "block/dense/gemm.h"

#include <cblas.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "kernels/dispatch.h"

// What OpenBLAS runs when it is loaded and left, of builds that pick their code at run time.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace leveret::block {
namespace {

/// For an OpenBLAS with one working memory (gemm.h).
std::mutex one_at_a_time;

/// The turn of a call: at once where several may run side by side (gemm.h).
std::unique_lock<std::mutex> turn() {
  constexpr int kPthreads = 1;  // 0: it has no threads, 2: those of OpenMP
  if (openblas_get_parallel() == kPthreads) return {};
  return std::unique_lock(one_at_a_time);
}

blasint size(std::size_t n) { return static_cast<blasint>(n); }

void forward(const GemmShape& s, const float* w, const float* in, float* out) {
  const auto lock = turn();
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, size(s.examples), size(s.outputs),
              size(s.inputs), 1.0f, in, size(s.inputs), w, size(s.stride), 1.0f, out,
              size(s.outputs));
}

void backward(const GemmShape& s, const float* w, const float* d_out, float* d_in) {
  const auto lock = turn();
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(s.examples), size(s.inputs),
              size(s.outputs), 1.0f, d_out, size(s.outputs), w, size(s.stride), 0.0f, d_in,
              size(s.inputs));
}

void weight_gradient(const GemmShape& s, const float* d_out, const float* in, float* d_w) {
  const auto lock = turn();
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, size(s.outputs), size(s.inputs),
              size(s.examples), 1.0f, d_out, size(s.outputs), in, size(s.inputs), 0.0f, d_w,
              size(s.stride));
}

bool runs_here(std::string_view set) {
  const kernels::Kernels* const kernels = kernels::find(set);
  return kernels != nullptr && kernels::runs_here(*kernels);
}

/// A processor that is younger than the library is a Prescott to it, whose code of 2004 takes
/// several times as long. To be deleted when no OpenBLAS in use asks for the processor's model.
void pick_for_strange_processors() {
  if (std::string_view(openblas_get_corename()) != "Prescott" || !runs_here("avx2") ||
      std::getenv("OPENBLAS_CORETYPE") != nullptr || gotoblas_dynamic_init == nullptr ||
      gotoblas_dynamic_quit == nullptr) {
    return;
  }
  setenv("OPENBLAS_CORETYPE", runs_here("avx512") ? "SkylakeX" : "Haswell", 0);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv("OPENBLAS_CORETYPE");
}

}  // namespace

const Gemm& openblas() {
  static const Gemm gemm = [] {
    pick_for_strange_processors();
    openblas_set_num_threads(1);  // of a build with threads; each of ours learns on its own
    return Gemm{openblas_get_corename(), forward, backward, weight_gradient};
  }();
  return gemm;
}

}  // namespace leveret::block
