/// A model file taken apart, to be put together again with other content and right checksums: what
/// stands behind the checksums must be checked too.
#pragma once

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "store/model_file.h"

namespace leveret::modelfile {

struct ModelParts {
  struct Part {
    std::string name;
    store::Dtype dtype;
    std::vector<std::uint64_t> shape;
    std::vector<std::byte> bytes;
  };

  explicit ModelParts(const std::string& path) {
    const store::ModelFile file = store::ModelFile::open(path);
    header = nlohmann::ordered_json::parse(file.header_json());
    for (const store::StoredSection& section : file.sections()) {
      parts.push_back({section.name, section.dtype, section.shape, file.read(section)});
    }
  }

  Part& part(const std::string& name) {
    for (Part& part : parts) {
      if (part.name == name) return part;
    }
    FAIL("no section " << name);
    return parts[0];
  }

  void write(const std::string& path, store::Kind kind = store::Kind::kModel) const {
    std::vector<store::SectionView> views;
    for (const Part& part : parts) {
      views.push_back({part.name, part.dtype, part.shape, part.bytes.data(), part.bytes.size()});
    }
    store::write_model_file(path, kind, text.empty() ? header.dump() : text, views);
  }

  nlohmann::ordered_json header;
  std::string text;  ///< when not empty: instead of the header
  std::vector<Part> parts;
};

}  // namespace leveret::modelfile
