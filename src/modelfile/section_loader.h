/// Reads the sections of a model's file, or says that one is missing or not what it has to be. Each
/// is verified, those that nobody reads at the end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/rows/codec.h"
#include "model/model.h"
#include "modelfile/columns.h"
#include "modelfile/number_decoder.h"
#include "store/declarations.h"
#include "store/model_file.h"
#include "table/arena.h"

namespace leveret::modelfile {

/// In a shape that is asked for: any number.
inline constexpr std::uint64_t kAnyLength = ~std::uint64_t{0};

/// std::runtime_error.
[[noreturn]] void damaged(std::string_view what);

class SectionLoader {
 public:
  /// To predict, sections that are states are not asked for, and not loaded.
  SectionLoader(const store::ModelFile& file, model::Use use);

  bool has(const std::string& name) const { return numbers_.contains(name); }
  /// Whether sections of this role are loaded.
  bool wants(store::Role role) const {
    return use_ == model::Use::kLearn || role != store::Role::kState;
  }
  /// As store::Declaration::keys has it; 0 when there is no such section.
  std::uint32_t number_of(const std::string& name) const;

  /// How the weights of each part of an export's rows are stored; those of a model as its spec
  /// says, and this is empty.
  std::vector<kernels::Codec> row_codecs() const;

  /// The section, which is to be of this type, shape and declaration.
  const store::StoredSection& section(const std::string& name, store::Dtype dtype,
                                      const Shape& shape, const store::Declaration& declared) const;

  /// A section that is read part after part, side by side with others.
  class Stream {
   public:
    Stream(SectionLoader& loader, const store::StoredSection& section);
    std::span<const std::byte> next(std::uint64_t bytes);
    void finish() const { stream_.finish(); }

   private:
    SectionLoader& loader_;
    store::Dtype dtype_;
    store::ModelFile::Stream stream_;
  };

  /// Floats that are read row after row, whatever an export has made of them.
  class Numbers {
   public:
    Numbers(SectionLoader& loader, const std::string& name, const Shape& shape,
            const store::Declaration& declared);
    std::span<const float> next(std::uint64_t rows);
    void finish() const { stream_.finish(); }

   private:
    Numbers(SectionLoader& loader, const store::StoredSection& section);
    Stream stream_;
    NumberDecoder decoder_;
    std::uint64_t row_ = 0;
  };

  /// Reads as many numbers as `to` has; the shape says so, too.
  template <class T>
  void numbers(const store::StoredSection& stored, std::span<T> to) {
    read(stored, std::as_writable_bytes(to));
  }

  /// A mapped section, with room for `more` bytes behind it; an empty arena where it cannot be
  /// mapped.
  table::Arena map(const store::StoredSection& stored, std::uint64_t more);

  /// Refuses sections that are not known, but for optional ones, and verifies all that nobody has
  /// read; refuses numbers that are not finite.
  void finish() const;

 private:
  const store::StoredSection& find(const std::string& name, const Shape& shape) const;
  const store::StoredSection& numbers_section(const std::string& name, const Shape& shape,
                                              const store::Declaration& declared) const;
  std::vector<float> scales(const store::StoredSection& codes);
  void read(const store::StoredSection& stored, std::span<std::byte> to);
  void set_loaded(const store::StoredSection& stored) {
    loaded_[static_cast<std::size_t>(&stored - file_.sections().data())] = true;
  }

  const store::ModelFile& file_;
  model::Use use_;
  store::SectionNumbers numbers_;
  std::vector<bool> loaded_;  ///< by section
  std::uint64_t not_finite_ = 0;
};

}  // namespace leveret::modelfile
