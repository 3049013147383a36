#include "modelfile/header.h"

#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "model/expiry.h"
#include "schema/schema.h"
#include "spec/entries.h"
#include "spec/json.h"
#include "store/checksum.h"

namespace leveret::modelfile {

using Json = nlohmann::ordered_json;

std::string line_of(const spec::Spec& spec) {
  std::string text;
  for (const spec::SpecEntry& entry : spec::spec_entries()) {
    if (!entry.shape || !entry.of_line || !spec::is_stored(entry, spec)) continue;
    text += std::string(entry.name) + '\0' + entry.get(spec) + '\0';
  }
  return store::to_hex(store::checksum_of(std::as_bytes(std::span(text))));
}

std::string header_error(const std::exception& error) {
  const bool is_json = dynamic_cast<const Json::exception*>(&error) != nullptr;
  return is_json
             ? "its header lacks something, or has it in the wrong form; the file is damaged or "
               "of another version"
             : error.what();
}

Json make_header(const model::Model& model, const Json& shards) {
  const tape::Scalars& scalars = model.parameters().scalars;
  Json header;
  header["line"] = line_of(model.spec());
  header["sequence"] = scalars.examples;
  header["input"] = nullptr;
  header["spec"] = spec::to_json(model.spec());
  header["namespaces"] = spec::to_json(model.features().plans());
  header["state"] = {{"dropped_gradients", scalars.dropped_gradients}};
  if (model.spec().expire > 0) header["state"]["ticked_at"] = scalars.ticked_at;
  if (model.spec().evicts) {
    header["state"]["evictions"] = scalars.evictions;
    if (model::must_evict(model.spec(), scalars, model.tables())) {
      header["state"]["evicts_next"] = true;
    }
  }
  header["shards"] = shards;
  if (!model.plan().empty()) header["plan"] = model.plan();
  if (model.schema() != nullptr) header["schema"] = schema::to_text(*model.schema()->get());
  return header;
}

void read_schema(const Json& header, model::Model& model) {
  if (!header.contains("schema")) return;
  model.set_schema(std::make_shared<schema::SharedSchema>(
      schema::from_text(header["schema"].get<std::string>())));
}

void read_identity(const Json& header, const spec::Spec& spec, tape::Scalars& scalars) {
  if (header.at("line").get<std::string>() != line_of(spec)) {
    throw std::runtime_error("has a line that is not that of its spec; the file is damaged");
  }
  if (!header.at("input").is_null()) {
    throw std::runtime_error(
        "has a position in its input that this program does not know; it was made by a newer "
        "leveret: update this one");
  }
  header.at("sequence").get_to(scalars.examples);
  header.at("state").at("dropped_gradients").get_to(scalars.dropped_gradients);
  scalars.evicts_next = header.at("state").value("evicts_next", false);
  scalars.evictions = header.at("state").value("evictions", std::uint64_t{0});
  scalars.ticked_at = header.at("state").value("ticked_at", scalars.examples);
  if (scalars.ticked_at > scalars.examples) {
    throw std::runtime_error("forgets features in examples to come; the file is damaged");
  }
}

}  // namespace leveret::modelfile
