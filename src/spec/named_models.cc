#include "spec/named_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "feature/selector.h"
#include "spec/entries.h"
#include "spec/settings.h"
#include "text/plain_number.h"

namespace leveret::spec {
namespace {

// Rates and dimensions were chosen by scripts/accuracy/models.sh.
constexpr std::array<NamedModel, 14> kModels = {{
    {"lr", "--ffm_k 0 --learning_rate .15",
     "logistic regression: little memory, or a first figure to compare with"},
    {"fm", "--ffm_k 0 --embedding_dim 8 --tower fm:pairs=all",
     "pairs of features, when memory is short"},
    {"fwfm", "--ffm_k 0 --embedding_dim 8 --tower fwfm",
     "pairs of fields with a weight each, when memory is short"},
    {"ffm", "--ffm_k 4 --hidden none", "pairs of features by field, when prediction must be fast"},
    {"deepffm", "--ffm_k 4 --hidden 32", "the default: best on most data"},
    {"wide_deep", "--ffm_k 0 --embedding_dim 8 --tower mlp:hidden=64+32",
     "Wide & Deep: large batches and few fields"},
    {"deepfm", "--ffm_k 0 --embedding_dim 8 --tower fm --tower mlp:hidden=64+32",
     "DeepFM: Wide & Deep with pairs of features"},
    {"dcn", "--ffm_k 0 --embedding_dim 8 --tower cross:layers=3 --tower mlp:hidden=64+32",
     "DCN: products of more than two fields"},
    {"dcnv2",
     "--ffm_k 0 --embedding_dim 8 --tower cross2:layers=2,rank=16 --tower mlp:hidden=64+32",
     "DCNv2: DCN with more weights, for long streams"},
    {"pnn", "--ffm_k 0 --embedding_dim 8 --ffm_learning_rate .3 --tower dot:hidden=64+32",
     "PNN: products of fields as further inputs of layers"},
    {"dlrm", "--ffm_k 0 --embedding_dim 8 --tower dot:keep=products,hidden=64+32",
     "DLRM: products of fields, and of the numbers of --numeric"},
    {"autoint", "--ffm_k 0 --embedding_dim 8 --tower autoint:layers=2,heads=2,dim=8",
     "AutoInt: attention of the fields to each other"},
    {"moe",
     "--ffm_k 0 --embedding_dim 8 --learning_rate .02 --ffm_learning_rate .2 "
     "--nn_learning_rate .05 "
     "--tower dhen:layers=1,modules=experts,tokens=4,shortcut=no,norm=no",
     "mixture of experts: parts of the data follow rules of their own"},
    {"dhen", "--ffm_k 0 --embedding_dim 8 --batch_size 64 --tower dhen",
     "DHEN: products of fields and mixed fields side by side"},
}};

const SpecEntry& entry_of(const std::string& option) {
  return *std::ranges::find_if(spec_entries(),
                               [&](const SpecEntry& of) { return option.substr(2) == of.name; });
}

/// The options that the name stands for.
std::vector<Setting> options_of(const NamedModel& model) {
  const std::vector<std::string> words = feature::split(model.options, ' ');
  std::vector<Setting> settings;
  for (std::size_t i = 0; i + 1 < words.size();) {
    const std::string& option = words[i];
    std::vector<std::string> values;
    for (; i + 1 < words.size() && words[i] == option; i += 2) values.push_back(words[i + 1]);
    const std::vector<Setting> given = settings_of(entry_of(option), values);
    settings.insert(settings.end(), given.begin(), given.end());
  }
  return settings;
}

const NamedModel& find_named(const std::string& name) {
  const auto* const found = std::ranges::find(kModels, name, &NamedModel::name);
  if (found != kModels.end()) return *found;
  std::vector<std::string_view> names;
  for (const NamedModel& model : kModels) names.push_back(model.name);
  throw std::runtime_error(
      fmt::format("--model {}: expected one of {}; `leveret help models` says when to take which",
                  text::shown(name), fmt::join(names, ", ")));
}

}  // namespace

std::span<const NamedModel> named_models() { return kModels; }

void set_named_model(Spec& spec, const std::string& name) {
  spec.named = name;
  if (name.empty()) return;
  for (const Setting& setting : options_of(find_named(name))) setting.set(spec);
}

bool is_named_model(const Spec& spec, const std::string& name) {
  return std::ranges::all_of(options_of(find_named(name)), [&](const Setting& setting) {
    Spec wanted;
    setting.set(wanted);
    return !setting.entry->shape || setting.entry->get(wanted) == setting.entry->get(spec);
  });
}

}  // namespace leveret::spec
