#include "modelfile/section_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "store/finite.h"

namespace leveret::modelfile {

using store::Role;
using store::StoredSection;

void damaged(std::string_view what) {
  throw std::runtime_error(fmt::format("{}; the file is damaged", what));
}

SectionLoader::SectionLoader(const store::ModelFile& file, model::Use use)
    : file_(file), use_(use), loaded_(file.sections().size()) {
  for (const StoredSection& section : file.sections()) {
    numbers_.emplace(section.name, numbers_.size());
  }
}

std::uint32_t SectionLoader::number_of(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? 0 : static_cast<std::uint32_t>(found->second) + 1;
}

const StoredSection& SectionLoader::section(const std::string& name, store::Dtype dtype,
                                            const Shape& shape,
                                            const store::Declaration& declared) const {
  const std::uint32_t number = number_of(name);
  const StoredSection* const found = number == 0 ? nullptr : &file_.sections()[number - 1];
  if (found == nullptr || found->dtype != dtype) {
    throw std::runtime_error(
        fmt::format("has no section {} of type {}", name, store::dtype_name(dtype)));
  }
  bool fits = found->shape.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] == kAnyLength || shape[i] == found->shape[i];
  }
  if (!fits) damaged(fmt::format("has section {} in a shape that its spec does not have", name));
  if (found->declared != declared) {
    damaged(fmt::format("has section {} with a role, keys or scale that are not its own", name));
  }
  return *found;
}

SectionLoader::Stream::Stream(SectionLoader& loader, const StoredSection& section)
    : loader_(loader), dtype_(section.dtype), stream_(loader.file_, section) {
  loader.set_loaded(section);
}

std::span<const std::byte> SectionLoader::Stream::next(std::uint64_t bytes) {
  const std::span<const std::byte> part = stream_.next(bytes);
  loader_.not_finite_ += store::count_non_finite(dtype_, part);
  return part;
}

void SectionLoader::read(const StoredSection& stored, std::span<std::byte> to) {
  set_loaded(stored);
  file_.read(stored, to.data());
  not_finite_ += store::count_non_finite(stored.dtype, to);
}

table::Arena SectionLoader::map(const StoredSection& stored, std::uint64_t more) {
  table::Arena arena(stored.bytes + more);
  if (!arena.map(file_.fd(), stored.offset, stored.bytes)) return {};
  set_loaded(stored);
  const std::span<const std::byte> mapped(arena.data(), stored.bytes);
  file_.verify_mapped(stored, arena.data());
  not_finite_ += store::count_non_finite(stored.dtype, mapped);
  if (!arena.resize(stored.bytes + more)) return {};
  return arena;
}

void SectionLoader::finish() const {
  for (std::size_t i = 0; i < loaded_.size(); ++i) {
    if (loaded_[i]) continue;
    const StoredSection& section = file_.sections()[i];
    if (!section.declared.optional && wants(section.declared.role)) {
      throw std::runtime_error(fmt::format(
          "has a section {} that this program does not know; it was made by a newer leveret: "
          "update this one",
          section.name));
    }
    file_.verify(section);
  }
  // Such a file is made by hand or by another program: ours are not saved.
  if (not_finite_ > 0) {
    throw std::runtime_error(fmt::format(
        "{} of its weights are not finite (NaN or infinite), which no prediction survives; go back "
        "to an older model",
        not_finite_));
  }
}

}  // namespace leveret::modelfile
