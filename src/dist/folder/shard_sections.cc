#include "dist/folder/shard_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "modelfile/finite.h"
#include "modelfile/header.h"
#include "modelfile/parameters_io.h"
#include "modelfile/section_names.h"
#include "modelfile/sightings_io.h"
#include "modelfile/tables_io.h"
#include "spec/json.h"

namespace leveret::dist {
namespace {

using Json = nlohmann::ordered_json;
using modelfile::SectionLoader;
using store::Dtype;
using store::Role;
using store::SectionView;

void check_finite(std::size_t bad, const std::string& path) {
  if (bad == 0) return;
  throw std::runtime_error(fmt::format(
      "{}: not saved, {} weights are not finite; lower the learning rates or scale the features",
      path, bad));
}

/// Columns of layers: weights are parameters, what the optimizer keeps of them is state.
std::string columns_name(const Columns& columns, std::size_t array) {
  return fmt::format("columns.{}.{}.{}", columns.of_layer(),
                     columns.normalised() ? "normalised" : "others", array);
}
Role role_of_array(std::size_t array) { return array == 0 ? Role::kParameter : Role::kState; }

void add_columns(std::vector<SectionView>& sections, const Columns& columns) {
  std::size_t number = 0;
  columns.for_each([&](std::span<const float> values) {
    const std::size_t array = number++, size = columns.size(), width = columns.width();
    if (size == 0) return;
    sections.push_back(modelfile::section_of_pieces(
        columns_name(columns, array), Dtype::kF32, {values.size() / width, size},
        modelfile::declared(role_of_array(array)), size * sizeof(float),
        [at = values.data(), width] {
          return [at, width]() mutable {
            const auto* const piece = reinterpret_cast<const std::byte*>(at);
            at += width;
            return piece;
          };
        }));
  });
}

void read_columns(SectionLoader& sections, Columns& columns) {
  std::size_t number = 0;
  columns.for_each([&](std::span<float> values) {
    const std::size_t array = number++, size = columns.size(), width = columns.width();
    if (size == 0) return;
    SectionLoader::Numbers numbers(sections, columns_name(columns, array),
                                   {values.size() / width, size},
                                   modelfile::declared(role_of_array(array)));
    for (std::size_t at = 0; at < values.size(); at += width) {
      std::ranges::copy(numbers.next(1), values.begin() + static_cast<std::ptrdiff_t>(at));
    }
    numbers.finish();
  });
}

/// Features whose cells are on another shard, and which have been learned from there.
class Learned {
 public:
  void add(std::vector<SectionView>& sections, const table::Tables& tables) {
    keys_.resize(tables.size());
    for (std::size_t s = 0; s < tables.size(); ++s) {
      std::vector<table::Key>& keys = keys_[s];
      tables[s].for_each([&](const table::Slot& slot) {
        if (slot.ref.is_learned()) keys.push_back(slot.key);
      });
      if (keys.empty()) continue;
      std::ranges::sort(keys, table::Index::before);
      sections.push_back(store::make_section(name(s), Dtype::kU32, {keys.size()},
                                             modelfile::declared(Role::kIndex),
                                             std::span<const table::Key>(keys)));
    }
  }

  static void read(SectionLoader& sections, table::Tables& tables) {
    for (std::size_t s = 0; s < tables.size(); ++s) {
      if (!sections.has(name(s))) continue;
      const store::StoredSection& stored = sections.section(
          name(s), Dtype::kU32, {modelfile::kAnyLength}, modelfile::declared(Role::kIndex));
      std::vector<table::Key> keys(stored.shape[0]);
      sections.numbers(stored, std::span(keys));
      for (const table::Key key : keys) {
        if (tables[s].find(key) == nullptr) {
          modelfile::damaged("has learned from a feature that it does not know");
        }
        table::Slot& slot = *tables[s].load_key(key);
        slot.ref = slot.ref.learned();
      }
    }
  }

 private:
  static std::string name(std::size_t shard) { return modelfile::shard_prefix(shard) + "learned"; }
  std::vector<std::vector<table::Key>> keys_;  ///< what the sections read
};

template <class Read>
void read_file(const store::ModelFile& file, Read read) {
  if (file.kind() != store::Kind::kShard) {
    throw std::runtime_error(file.path() + ": is not a file of a folder of shards");
  }
  try {
    SectionLoader sections(file, model::Use::kLearn);
    read(Json::parse(file.header_json()), sections);
    sections.finish();
  } catch (const std::exception& error) {
    const std::string what = modelfile::header_error(error), prefix = file.path() + ": ";
    throw std::runtime_error(what.starts_with(prefix) ? what : prefix + what);
  }
}

}  // namespace

void write_frame(const Frame& frame, const Plan& plan, const std::string& path) {
  const tape::Parameters& parameters = frame.model().parameters();
  check_finite(modelfile::count_non_finite(parameters), path);
  std::vector<SectionView> sections;
  modelfile::add_parameters(sections, parameters);
  modelfile::add_sightings(sections, frame.model());
  Json header = modelfile::make_header(frame.model(), Json::array());
  header["plan"] = plan.words();
  store::write_model_file(path, store::Kind::kShard, header.dump(), sections);
}

void write_part(const Part& part, const Plan& plan, const std::string& path) {
  check_finite(
      modelfile::count_non_finite(part.tables()) + modelfile::count_non_finite(part.parameters()),
      path);
  std::vector<SectionView> sections;
  Json header = {{"shard", part.number()}, {"of", plan.shards()}};
  header["shards"] = modelfile::add_tables(sections, part.tables());
  modelfile::add_parameters(sections, part.parameters());
  for (const Columns& columns : part.columns()) add_columns(sections, columns);
  Learned learned;
  learned.add(sections, part.tables());
  store::write_model_file(path, store::Kind::kShard, header.dump(), sections);
}

void read_frame(const store::ModelFile& file, ShardedModel& model) {
  read_file(file, [&](const Json& header, SectionLoader& sections) {
    if (!header.contains("plan")) throw std::runtime_error("is not the frame of its folder");
    const std::vector<std::uint64_t> words = header.at("plan");
    model.resume(Plan(model.plan().shape(), words), spec::plans_from_json(header.at("namespaces")));
    tape::Parameters& parameters = model.frame().model().parameters();
    modelfile::read_identity(header, model.spec(), parameters.scalars);
    modelfile::load_parameters(parameters, sections);
    modelfile::load_sightings(model.frame().model(), sections);
    modelfile::read_schema(header, model.frame().model());
  });
}

void read_part(const store::ModelFile& file, Part& part) {
  read_file(file, [&](const Json& header, SectionLoader& sections) {
    if (!header.contains("shard") || header["shard"] != part.number()) {
      throw std::runtime_error("is another shard than the manifest says");
    }
    modelfile::load_tables(part.tables(), sections, header.at("shards"),
                           modelfile::LoadBy::kReading);
    modelfile::load_parameters(part.parameters(), sections);
    for (Columns& columns : part.columns()) read_columns(sections, columns);
    Learned::read(sections, part.tables());
  });
}

}  // namespace leveret::dist
