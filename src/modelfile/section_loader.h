/// Reads the sections of a file to where they belong in memory.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "modelfile/columns.h"
#include "store/model_file.h"
#include "table/arena.h"

namespace leveret::modelfile {

using Shape = std::vector<std::uint64_t>;
/// In a shape that is asked for: any number.
inline constexpr std::uint64_t kAnyLength = ~std::uint64_t{0};

[[noreturn]] inline void damaged(std::string_view what) {
  throw std::runtime_error(fmt::format("{}; the file is damaged", what));
}

/// Reads sections, or says that one is missing or of the wrong shape. Each is verified when it is
/// read, and those that nobody reads at the end.
class SectionLoader {
 public:
  explicit SectionLoader(const store::ModelFile& file)
      : file_(file), loaded_(file.sections().size()) {}

  bool has(const std::string& name) const { return file_.find(name) != nullptr; }

  const store::StoredSection& section(const std::string& name, store::Dtype dtype,
                                      const Shape& shape) const {
    const store::StoredSection* found = file_.find(name);
    if (found == nullptr || found->dtype != dtype) {
      throw std::runtime_error(
          fmt::format("has no section {} of type {}", name, store::dtype_name(dtype)));
    }
    bool fits = found->shape.size() == shape.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i) {
      fits = shape[i] == kAnyLength || shape[i] == found->shape[i];
    }
    if (!fits) {
      damaged(fmt::format("has section {} in a shape that its spec does not have", name));
    }
    return *found;
  }

  /// Calls visit with the numbers of a section, some at a time.
  template <class T, class Visit>
  void numbers(const store::StoredSection& stored, Visit visit) {
    set_loaded(stored);
    file_.scan(stored, [&](std::span<const std::byte> part) {
      visit(std::span(reinterpret_cast<const T*>(part.data()), part.size() / sizeof(T)));
    });
  }

  /// Puts the bytes of a section where at(0), at(1), … are, `piece_bytes` at each.
  template <class At>
  void pieces(const store::StoredSection& stored, std::size_t piece_bytes, At at) {
    set_loaded(stored);
    Pieces<At> to(piece_bytes, at);
    file_.scan(stored, [&](std::span<const std::byte> part) { to.write(part); });
  }

  /// A mapped section; an empty arena where it cannot be mapped.
  table::Arena map(const store::StoredSection& stored) {
    table::Arena arena(std::max<std::uint64_t>(stored.bytes, 1));
    if (!arena.map(file_.fd(), stored.offset, stored.bytes)) return {};
    set_loaded(stored);
    file_.verify_mapped(stored, arena.data());
    return arena;
  }

  /// `shape` holds as many floats as `to` has.
  void floats(const std::string& name, const Shape& shape, std::span<float> to) {
    const store::StoredSection& stored = section(name, store::Dtype::kF32, shape);
    set_loaded(stored);
    file_.read(stored, reinterpret_cast<std::byte*>(to.data()));
  }

  void verify_the_rest() const {
    for (std::size_t i = 0; i < loaded_.size(); ++i) {
      if (!loaded_[i]) file_.verify(file_.sections()[i]);
    }
  }

 private:
  void set_loaded(const store::StoredSection& stored) {
    loaded_[static_cast<std::size_t>(&stored - file_.sections().data())] = true;
  }

  const store::ModelFile& file_;
  std::vector<bool> loaded_;  ///< by section
};

}  // namespace leveret::modelfile
