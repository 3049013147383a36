#include "cli/look/experts_load.h"

#include <span>
#include <string_view>

#include "block/module/experts_module.h"

namespace leveret::cli {

std::vector<ExpertsLoad> experts_load(const tape::Parameters& parameters) {
  constexpr std::string_view kEnd = block::ExpertsModule::kLoad;
  std::vector<ExpertsLoad> all;
  for (const tape::TotalsDecl& of : parameters.declared().totals) {
    const double* const count = parameters.scalars.totals.data() + of.count;
    if (!of.name.ends_with(kEnd) || *count == 0) continue;
    const std::span<const double> means(count + 1, of.size);
    all.push_back({of.name.substr(0, of.name.size() - kEnd.size()), {means.begin(), means.end()}});
  }
  return all;
}

}  // namespace leveret::cli
