#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "modelfile/columns.h"
#include "modelfile/finite.h"
#include "modelfile/header.h"
#include "modelfile/model_io.h"
#include "modelfile/parameters_io.h"
#include "modelfile/section_names.h"
#include "modelfile/sightings_io.h"
#include "modelfile/tables_io.h"
#include "spec/json.h"

namespace leveret::modelfile {

using store::SectionView;

void add_parameters(std::vector<SectionView>& sections, const tape::Parameters& parameters) {
  parameters.for_each([&]<class T>(const tape::ArrayValues<T>& values) {
    sections.push_back(section_of_pieces(
        values.array.name, dtype_of<T>(), values.array.shape, declared(role_of(values.array.kind)),
        values.piece * sizeof(T), [at = values.first, step = values.step] {
          return [at, step]() mutable {
            const auto* const piece = reinterpret_cast<const std::byte*>(at);
            at += step;
            return piece;
          };
        }));
  });
}

void save_model(const model::Model& model, const std::string& path,
                std::span<const std::byte> notes) {
  begin_save(model, path, notes).commit();
}

files::AtomicFile begin_save(const model::Model& model, const std::string& path,
                             std::span<const std::byte> notes) {
  if (const std::size_t bad = count_non_finite(model); bad > 0) {
    throw std::runtime_error(fmt::format(
        "{}: not saved, {} weights are not finite; lower the learning rates or scale the features",
        path, bad));
  }
  std::vector<SectionView> sections;
  const nlohmann::ordered_json shards = add_tables(sections, model.tables());
  add_parameters(sections, model.parameters());
  add_sightings(sections, model);
  return store::begin_model_file(path, store::Kind::kModel, make_header(model, shards).dump(),
                                 sections, notes);
}

}  // namespace leveret::modelfile
