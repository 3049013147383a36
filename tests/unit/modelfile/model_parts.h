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
    store::Declaration declared;
    std::vector<std::byte> bytes;
  };

  explicit ModelParts(const std::string& path) {
    const store::ModelFile file = store::ModelFile::open(path);
    header = nlohmann::ordered_json::parse(file.header_json());
    for (const store::StoredSection& section : file.sections()) {
      parts.push_back(
          {section.name, section.dtype, section.shape, section.declared, file.read(section)});
    }
  }

  Part& part(const std::string& name) {
    for (Part& part : parts) {
      if (part.name == name) return part;
    }
    FAIL("no section " << name);
    return parts[0];
  }

  /// Without a section; who named it, or one behind it, as where the keys are, names it still.
  void erase(std::size_t number) {
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(number));
    for (Part& part : parts) {
      if (part.declared.keys == number + 1) {
        part.declared.keys = 0;
        part.declared.last_keys = false;
      } else if (part.declared.keys > number + 1) {
        --part.declared.keys;
      }
    }
  }

  void erase(const std::string& name) {
    part(name);
    for (std::size_t i = parts.size(); i-- > 0;) {
      if (parts[i].name == name) erase(i);
    }
  }

  void write(const std::string& path, store::Kind kind = store::Kind::kModel) const {
    std::vector<store::SectionView> views;
    for (const Part& part : parts) {
      views.push_back(
          {part.name, part.dtype, part.shape, part.declared, part.bytes.data(), part.bytes.size()});
    }
    store::write_model_file(path, kind, text.empty() ? header.dump() : text, views);
  }

  nlohmann::ordered_json header;
  std::string text;  ///< when not empty: instead of the header
  std::vector<Part> parts;
};

}  // namespace leveret::modelfile
