#include "spec/towers.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "block/ffm_block.h"
#include "text/plain_number.h"

namespace leveret::spec {

namespace {

constexpr TowerInput kInputs[] = {
    {TowerSpec::kEmbeddings, block::kEmbeddings,
     [](const Spec& spec) { return spec.embedding_dim > 0; },
     "the embeddings of all fields (--embedding_dim)",
     "reads embeddings, and there are none: add --embedding_dim 8"},
    {TowerSpec::kMerged, block::kMergedInputs, [](const Spec& spec) { return spec.has_ffm(); },
     "linear sums and pairs, normalised together, as --hidden has them",
     "reads linear sums and pairs, and there are none: add --ffm_k 4"},
    {"pairs", block::FfmBlock::kPairs, [](const Spec& spec) { return spec.has_ffm(); },
     "the FFM's pairs as they are (--ffm_k)",
     "reads the FFM's pairs, and there are none: add --ffm_k 4"},
    {TowerSpec::kNumbers, block::kNumbers,
     [](const Spec& spec) { return !spec.features.numeric.empty(); },
     "the numbers of --numeric; where no mlp says so, all have them",
     "reads numbers, and there are none: add --numeric NS,…"},
};

void check(const Spec& spec, const TowerSpec& tower) {
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("--tower {}{}", tower.kind->word, why));
  };
  for (const std::string& word : tower.in) {
    const TowerInput& input = *find_input(word);
    if (!input.is_there(spec)) refuse(std::string(" ") + input.missing);
  }
  const std::vector<std::uint32_t> fields = chosen_fields(spec, tower);
  const bool over_others = tower.reads(TowerSpec::kMerged) || tower.reads("pairs");
  if (tower.own_loss && (over_others || !tower.reads(TowerSpec::kEmbeddings))) {
    refuse(":loss=own is for towers over embeddings");
  }
  if (tower.own_loss && !spec.mixed()) {
    refuse(":loss=own is for --heads mixed: one sum has one loss");
  }
  if (tower.kind->fault != nullptr) {
    block::Tower made{
        .name = {}, .inputs = {}, .fields = fields, .kind = tower.kind, .options = tower.options};
    if (tower.kind->takes_numbers && !spec.features.numeric.empty()) {
      made.inputs.emplace_back(block::kNumbers);
    }
    const std::string fault = tower.kind->fault(made, spec.embedding_dim);
    if (!fault.empty()) refuse(":" + fault);
  }
  if (tower.kind->has_layers && !tower.kind->in_groups && spec.nn_batch_size > 1) {
    throw std::runtime_error(fmt::format(
        "--nn_batch_size is not for --tower {}: give --nn_batch_size 1, or --batch_size",
        tower.kind->word));
  }
}

}  // namespace

std::span<const TowerInput> tower_inputs() { return kInputs; }

const TowerInput* find_input(std::string_view word) {
  const auto* const found =
      std::ranges::find_if(kInputs, [&](const TowerInput& of) { return of.word == word; });
  return found != std::end(kInputs) ? found : nullptr;
}

std::vector<std::uint32_t> chosen_fields(const Spec& spec, const TowerSpec& tower) {
  std::vector<bool> chosen(spec.features.fields.size());
  for (const std::string& name : tower.namespaces) {
    bool found = false;
    for (std::size_t f = 0; f < chosen.size(); ++f) {
      const bool has =
          std::ranges::find(spec.features.fields[f], name) != spec.features.fields[f].end();
      found |= has;
      if (has) chosen[f] = true;
    }
    if (found) continue;
    throw std::runtime_error(
        fmt::format("--tower {}:in={}: no --field has namespace {}; list all fields with --field",
                    tower.kind->word, fmt::join(tower.namespaces, "+"), text::shown(name)));
  }
  std::vector<std::uint32_t> fields;
  for (std::size_t f = 0; f < chosen.size(); ++f) {
    if (chosen[f]) fields.push_back(static_cast<std::uint32_t>(f));
  }
  return fields;
}

void check_towers(const Spec& spec) {
  if (!spec.features.numeric.empty() && !spec.some_tower_reads(TowerSpec::kNumbers)) {
    throw std::runtime_error(
        "--numeric does nothing without layers that read numbers: give --hidden, or --tower mlp, "
        "autoint, dot or dhen");
  }
  const std::vector<std::string>& names = spec.features.numeric;
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) == name) continue;
    throw std::runtime_error("--numeric has namespace " + *name + " twice");
  }
  for (const feature::Transform& made : spec.features.transforms) {
    if (std::ranges::find(names, made.name) == names.end()) continue;
    throw std::runtime_error("--numeric " + made.name +
                             ": what --transform makes has features; name a namespace of the data");
  }
  for (const TowerSpec& tower : spec.more_towers) check(spec, tower);
}

}  // namespace leveret::spec
