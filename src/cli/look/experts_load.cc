#include "cli/look/experts_load.h"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

std::string shares_text(std::span<const double> shares) {
  std::string text;
  for (const double share : shares) text += fmt::format(" {:.1f} %", 100 * share);
  return text;
}

nlohmann::ordered_json experts_json(const tape::Parameters& parameters) {
  nlohmann::ordered_json json;
  for (const ExpertsLoad& of : experts_load(parameters)) json[of.module] = of.shares;
  return json;
}

}  // namespace leveret::cli
