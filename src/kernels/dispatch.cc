#include "kernels/dispatch.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "kernels/tables.h"

namespace leveret::kernels {
namespace {

std::string choices() {
  std::string names;
  for (const Kernels* k : all()) {
    if (!runs_here(*k)) continue;
    if (!names.empty()) names += ", ";
    names += k->name;
  }
  return names;
}

const Kernels& choose() {
  const char* forced = std::getenv("LEVERET_SIMD");
  if (forced != nullptr && *forced != '\0') {
    const std::string wanted = "LEVERET_SIMD=" + std::string(forced);
    const Kernels* k = find(forced);
    if (k == nullptr) {
      throw std::runtime_error(wanted + ": no such instruction set; choose one of " + choices() +
                               ", or unset it to take the fastest");
    }
    if (!runs_here(*k)) {
      throw std::runtime_error(wanted + ": this machine cannot run it; choose one of " + choices() +
                               ", or unset it to take the fastest");
    }
    return *k;
  }
  const Kernels* best = &kReference;
  for (const Kernels* k : all()) {
    if (runs_here(*k)) best = k;
  }
  return *best;
}

}  // namespace

std::span<const Kernels* const> all() { return built_tables(); }

bool runs_here(const Kernels& k) { return cpu_runs(k); }

const Kernels* find(std::string_view name) {
  for (const Kernels* k : all()) {
    if (name == k->name) return k;
  }
  return nullptr;
}

const Kernels& active() {
  // A throwing initialisation is tried again at the next call, so the error is never lost.
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace leveret::kernels
