#include "modelfile/section_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "modelfile/section_names.h"
#include "store/finite.h"

namespace leveret::modelfile {

using store::Role;
using store::StoredSection;

namespace {

kernels::Codec row_codec(const StoredSection& section) {
  using kernels::Codec;
  const store::Declaration& declared = section.declared;
  if (declared.coding == store::Coding::kFixedByRow) {
    return Codec::scaled(section.dtype == store::Dtype::kI4 ? 4 : 8);
  }
  if (declared.coding == store::Coding::kPlain) return Codec::f32();
  const int shift = -std::ilogb(declared.scale);
  if (!is_scale(declared.scale) || shift > 100) damaged("has rows with an impossible scale");
  return fixed_codec(section.dtype, shift);
}

}  // namespace

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

const StoredSection& SectionLoader::find(const std::string& name, const Shape& shape) const {
  const std::uint32_t number = number_of(name);
  if (number == 0) throw std::runtime_error(fmt::format("has no section {}", name));
  const StoredSection& found = file_.sections()[number - 1];
  bool fits = found.shape.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] == kAnyLength || shape[i] == found.shape[i];
  }
  if (!fits) damaged(fmt::format("has section {} in a shape that its spec does not have", name));
  return found;
}

const StoredSection& SectionLoader::section(const std::string& name, store::Dtype dtype,
                                            const Shape& shape,
                                            const store::Declaration& declared) const {
  const StoredSection& found = find(name, shape);
  if (found.dtype != dtype) {
    throw std::runtime_error(
        fmt::format("has no section {} of type {}", name, store::dtype_name(dtype)));
  }
  if (found.declared != declared) {
    damaged(fmt::format("has section {} with a role, keys or scale that are not its own", name));
  }
  return found;
}

const StoredSection& SectionLoader::numbers_section(const std::string& name, const Shape& shape,
                                                    const store::Declaration& declared) const {
  if (file_.kind() != store::Kind::kExport) {
    return section(name, store::Dtype::kF32, shape, declared);
  }
  const StoredSection& found = find(name, shape);
  store::Declaration coded = declared;
  coded.coding = found.declared.coding;
  coded.scale = found.declared.scale;
  if (!NumberDecoder::knows(found.dtype, coded) || found.declared != coded ||
      !is_scale(coded.scale)) {
    damaged(fmt::format("has section {} with a role, keys or codes that are not its own", name));
  }
  return found;
}

std::vector<float> SectionLoader::scales(const StoredSection& codes) {
  if (codes.declared.coding != store::Coding::kFixedByRow) return {};
  std::vector<float> scales(rows_of(codes));
  numbers(section(scales_name(codes.name), store::Dtype::kF32, {scales.size()},
                  declared(codes.declared.role, codes.declared.keys)),
          std::span(scales));
  if (!std::ranges::all_of(scales, is_scale)) damaged("has an impossible scale");
  return scales;
}

std::vector<kernels::Codec> SectionLoader::row_codecs() const {
  std::vector<kernels::Codec> codecs;
  if (file_.kind() == store::Kind::kModel) return codecs;
  while (true) {
    const auto& sections = file_.sections();
    const std::string name = weights_name("", codecs.size());
    const auto found = std::ranges::find_if(
        sections, [&](const StoredSection& section) { return section.name.ends_with(name); });
    if (found == sections.end()) return codecs;
    codecs.push_back(row_codec(*found));
  }
}

SectionLoader::Numbers::Numbers(SectionLoader& loader, const std::string& name, const Shape& shape,
                                const store::Declaration& declared)
    : Numbers(loader, loader.numbers_section(name, shape, declared)) {}

SectionLoader::Numbers::Numbers(SectionLoader& loader, const StoredSection& section)
    : stream_(loader, section), decoder_(section, loader.scales(section)) {}

std::span<const float> SectionLoader::Numbers::next(std::uint64_t rows) {
  const std::uint64_t first = row_;
  row_ += rows;
  return decoder_.decode(stream_.next(rows * decoder_.row_bytes()), first);
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
        "{} of its weights are not finite (NaN or infinite), so no prediction is possible; go back "
        "to an older model",
        not_finite_));
  }
}

}  // namespace leveret::modelfile
