#include "modelfile/export/export_model.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "modelfile/export/export_plan.h"
#include "modelfile/export/export_section.h"
#include "modelfile/header.h"
#include "modelfile/kept_keys.h"
#include "modelfile/section_loader.h"
#include "modelfile/section_names.h"
#include "modelfile/section_numbers.h"
#include "store/model_file.h"

namespace leveret::modelfile {
namespace {

using Json = nlohmann::ordered_json;
using store::Kind;
using store::ModelFile;
using store::StoredSection;
using What = SectionPlan::What;

class ModelExporter {
 public:
  ModelExporter(const ModelFile& model, const ModelFile* previous, const ExportOptions& options)
      : model_(model), previous_(previous), options_(options), plan_(model, previous, options) {}

  void save(const std::string& path, const Json& header) {
    choose_features();
    for (std::uint32_t number = 1; number <= model_.sections().size(); ++number) add(number);
    std::vector<store::SectionView> views;
    for (ExportedSection& section : sections_) {
      if (section.declared.keys > 0) section.declared.keys = new_numbers_.at(section.declared.keys);
      views.push_back({section.name,
                       section.dtype,
                       section.shape,
                       section.declared,
                       section.bytes.data(),
                       section.bytes.size(),
                       {}});
    }
    store::write_model_file(path, store::Kind::kExport, header.dump(), views);
  }

 private:
  /// Numbers are those of store::Declaration::keys: 1 is the first section.
  const StoredSection& section(std::uint32_t number) const { return model_.sections()[number - 1]; }

  void choose_features() {
    for (std::uint32_t number = 1; number <= model_.sections().size(); ++number) {
      const StoredSection& keys = section(number);
      if (keys.declared.keys != number) continue;
      KeptKeys& kept = keys_.emplace(number, KeptKeys(read_keys(model_, keys))).first->second;
      const std::string prefix = keys.name.substr(0, keys.name.rfind('.') + 1);
      if (prefix.ends_with(kLargest)) {
        const KeptKeys& features = keys_of(prefix.substr(0, prefix.size() - kLargest.size()));
        if (!features.all())
          kept.filter([&](std::uint32_t, table::Key key) { return features.contains(key); });
      } else {
        leave_out_features(prefix, kept);
      }
      const StoredSection* const old = previous_ != nullptr ? previous_->find(keys.name) : nullptr;
      if (old != nullptr) kept.match(read_keys(*previous_, *old));
    }
  }

  /// The keys of a shard; those of sections that come first are known.
  const KeptKeys& keys_of(const std::string& prefix) const {
    const StoredSection* const keys = model_.find(prefix + "keys");
    const auto found = keys == nullptr ? keys_.end() : keys_.find(keys->declared.keys);
    if (found == keys_.end()) damaged("has features without keys");
    return found->second;
  }

  void leave_out_features(const std::string& prefix, KeptKeys& kept) {
    const StoredSection* const rows = model_.find(weights_name(prefix, 0));
    const std::uint64_t with_row = rows != nullptr ? rows_of(*rows) : 0;
    if (options_.min_count > 0) {
      const auto least = static_cast<double>(options_.min_count);
      if (const StoredSection* const counts = model_.find(prefix + "count")) {
        const std::vector<float> seen = all_numbers(*counts, kept.size());
        const bool rounded = counts->declared.coding == store::Coding::kLog;
        kept.filter([&](std::uint32_t number, table::Key) {
          const double half = rounded ? (1 + seen[number]) * count_code().unit() / 2 : 0;
          return seen[number] + half >= least;
        });
      } else if (const StoredSection* const before = model_.find(prefix + "occurrences")) {
        // How often a feature with a row has been seen is not known any more.
        std::vector<std::uint32_t> seen(rows_of(*before));
        if (before->dtype != store::Dtype::kU32 || seen.size() + with_row != kept.size()) {
          damaged("has counts of keys that it does not have");
        }
        model_.read(*before, reinterpret_cast<std::byte*>(seen.data()));
        kept.filter([&](std::uint32_t number, table::Key) {
          return number < with_row || seen[number - with_row] >= least;
        });
      }
    } else if (model_.find(prefix + "weight") == nullptr &&
               model_.find(weights_name(overflow_prefix(prefix), 0)) == nullptr) {
      // Without linear weights (-b has them elsewhere) a feature is its row.
      kept.filter([&](std::uint32_t number, table::Key) { return number < with_row; });
    }
  }

  std::vector<float> all_numbers(const StoredSection& section, std::uint64_t count) const {
    if (!NumberDecoder::knows(section.dtype, section.declared) || !rows_are(section, count)) {
      damaged("has counts of keys that it does not have");
    }
    std::vector<float> all;
    NumberDecoder decoder(section);
    for_each_rows(model_, section, [&](std::span<const std::byte> rows, std::uint64_t first) {
      const std::span<const float> some = decoder.decode(rows, first);
      all.insert(all.end(), some.begin(), some.end());
    });
    return all;
  }
  static bool rows_are(const StoredSection& section, std::uint64_t count) {
    return section.shape.size() == 1 && section.shape[0] == count;
  }

  void add(std::uint32_t number) {
    const StoredSection& from = section(number);
    const SectionPlan& plan = plan_[number - 1];
    if (plan.what == What::kDrop) return model_.verify(from);
    const auto keys = keys_.find(from.declared.keys);
    const KeptKeys* const kept = keys == keys_.end() ? nullptr : &keys->second;
    new_numbers_[number] = static_cast<std::uint32_t>(sections_.size()) + 1;
    if (from.name.ends_with(kRefused) && kept == nullptr) return add_refused(from);
    for (ExportedSection& section :
         export_section({model_, previous_, from, kept}, plan, options_.rounding)) {
      sections_.push_back(std::move(section));
    }
  }

  /// The places of keys are others.
  void add_refused(const StoredSection& from) {
    const KeptKeys& keys = keys_of(from.name.substr(0, from.name.size() - kRefused.size()));
    std::vector<std::uint32_t> places(rows_of(from));
    if (from.dtype != store::Dtype::kU32) damaged("lists refused keys in another type");
    model_.read(from, reinterpret_cast<std::byte*>(places.data()));
    std::erase_if(places, [&](std::uint32_t place) {
      return keys.kept_of_first(place) == keys.kept_of_first(std::uint64_t{place} + 1);
    });
    for (std::uint32_t& place : places) {
      place = static_cast<std::uint32_t>(keys.kept_of_first(place));
    }
    const auto bytes = std::as_bytes(std::span(places));
    sections_.push_back(
        {from.name, from.dtype, {places.size()}, from.declared, {bytes.begin(), bytes.end()}});
  }

  static constexpr std::string_view kLargest = "largest.", kRefused = "refused";

  const ModelFile& model_;
  const ModelFile* previous_;
  const ExportOptions& options_;
  ExportPlan plan_;
  std::map<std::uint32_t, KeptKeys> keys_;  ///< by the number of their section
  std::map<std::uint32_t, std::uint32_t> new_numbers_;
  std::vector<ExportedSection> sections_;
};

Json read_header(const ModelFile& file) {
  try {
    return Json::parse(file.header_json());
  } catch (const Json::exception&) {
    damaged("has a header that is no JSON");
  }
}

/// An older export of the same line and the same bits.
void check_previous(const ModelFile& previous, const Json& header, int bits) {
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("{}: {}", previous.path(), why));
  };
  if (previous.kind() != store::Kind::kExport) {
    refuse("is not an export; --previous takes what export made before");
  }
  const Json old = read_header(previous);
  if (old.at("line") != header.at("line")) {
    refuse("is an export of another model: its options are others");
  }
  if (const int old_bits = old.at("export").at("bits").get<int>(); old_bits != bits) {
    refuse(fmt::format("has {} bits; --bits {} keeps them", old_bits, old_bits));
  }
}

void check_counts(const ModelFile& model) {
  if (model.find("cells.weight") != nullptr) {
    throw std::runtime_error("its features have no keys (-b): --min_count cannot tell them apart");
  }
  for (const StoredSection& section : model.sections()) {
    if (section.name.ends_with(".count") && section.declared.keys > 0) return;
    if (section.name.ends_with(".occurrences")) return;
  }
  throw std::runtime_error(
      "does not count its features (--heads one): --min_count does not know how often they were "
      "seen");
}

void export_file(const ModelFile& model, const std::string& to, const ExportOptions& options) {
  if (model.kind() != store::Kind::kModel && model.kind() != store::Kind::kExport) {
    throw std::runtime_error("is not a model; `leveret inspect` says what it is");
  }
  Json header = read_header(model);
  std::optional<ModelFile> previous;
  if (!options.previous.empty()) {
    previous = ModelFile::open(options.previous);
    // Only some are read, and some of these only in part.
    for (const StoredSection& section : previous->sections()) previous->verify(section);
    check_previous(*previous, header, options.bits);
  }
  if (options.min_count > 0) check_counts(model);
  header["export"] = {{"bits", options.bits},
                      {"rounding", options.rounding.stochastic ? "stochastic" : "nearest"},
                      {"min_count", options.min_count}};
  ModelExporter(model, previous ? &*previous : nullptr, options).save(to, header);
}

}  // namespace

void export_model(const std::string& model, const std::string& to, const ExportOptions& options) {
  try {
    export_file(ModelFile::open(model), to, options);
  } catch (const std::exception& error) {
    const std::string what = header_error(error);
    const auto names = [&](const std::string& path) {
      return !path.empty() && what.starts_with(path + ": ");
    };
    const bool named = names(model) || names(to) || names(options.previous);
    throw std::runtime_error(named ? what : model + ": " + what);
  }
}

}  // namespace leveret::modelfile
