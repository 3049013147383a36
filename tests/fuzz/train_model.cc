// What a model file says behind its checksums: header and sections of a small good model, or of an
// export of it, changed. What loads must predict, learn and be saved without a crash; and it is
// exported, or the reason is told.
//
// Input: a byte that chooses the kind of model (2 bits) and of export (2 more), changes of sections
// of 8 bytes each (struct Change) up to one whose `what` is kEnd, then a JSON merge patch (RFC
// 7396) of the header.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "kernels/dispatch.h"
#include "modelfile/export/export_model.h"
#include "modelfile/model_io.h"
#include "predict/predictor.h"
#include "store/model_file.h"
#include "text/parser.h"
#include "train/learner.h"

using namespace leveret;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxSection = 1 << 20;

struct Change {
  enum What : std::uint8_t { kWord, kLength, kMissing, kType, kDeclared, kEnd };
  std::uint8_t section, what;
  std::uint16_t at;
  std::uint32_t value;
};

struct Parts {
  store::Kind kind = store::Kind::kModel;
  Json header;
  std::vector<store::SectionView> sections;
  std::vector<std::vector<std::byte>> bytes;
};

/// A file in memory.
class MemoryFile {
 public:
  const std::string& path() const { return path_; }
  /// To be written: what is written to a descriptor comes behind what it has.
  const std::string& emptied() const {
    if (ftruncate(fd_, 0) != 0 || lseek(fd_, 0, SEEK_SET) != 0) std::abort();
    return path_;
  }

 private:
  const int fd_ = memfd_create("model", 0);
  const std::string path_ = "/proc/self/fd/" + std::to_string(fd_);
};

/// A model that is read, and what is made of it.
const MemoryFile& given() {
  static const MemoryFile file;
  return file;
}
const MemoryFile& made() {
  static const MemoryFile file;
  return file;
}

void use(model::Model given, model::Use how = model::Use::kLearn) {
  const auto shared = std::make_shared<model::Model>(std::move(given));
  model::Model& model = *shared;
  text::NamespaceNames names;
  text::ExampleChunk chunk;
  chunk.bytes = "1 |a x y:2 |b z |c 1\n-1 |b z |new q\n|a x |a y |d\n1 |a y |b w |c 2 |d e\n";
  text::Parser(names, {}).parse(chunk);
  predict::Outcomes outcomes;
  predict::Predictor(shared, names, kernels::active())
      .predict(chunk, 0, chunk.examples.size(), outcomes);
  if (how == model::Use::kPredict) return;
  train::Learner learner(model, names, kernels::active());
  learner.learn(chunk, 0, chunk.examples.size(), outcomes);
  learner.finish(outcomes);
  modelfile::save_model(model, made().emptied());
}

spec::Spec spec_of(unsigned kind) {
  spec::Spec spec;
  spec.admit = 1;
  spec.hidden = {3, 2};
  if (kind % 4 == 1) spec.heads = spec::Heads::kOne;
  if (kind % 4 == 2) spec.bit_precision = 5;
  if (kind % 4 == 3) {
    spec.features.fields = {{"a", "b"}, {"c"}, {"b"}};
    spec.features.interactions = {{"a", "b"}, {":", ":", "c"}};
  }
  return spec;
}

void export_from(const MemoryFile& from, const MemoryFile& to, int bits) {
  modelfile::ExportOptions options;
  options.bits = bits;
  modelfile::export_model(from.path(), to.emptied(), options);
}

/// A good model of this kind, or an export of it.
const Parts& good_parts(unsigned kind) {
  static constexpr int kBits[] = {0, 16, 8, 4};
  static Parts all[16];
  Parts& parts = all[kind % 16];
  if (!parts.sections.empty()) return parts;
  use(model::Model(spec_of(kind), kMemory));
  if (const int bits = kBits[kind / 4 % 4]; bits > 0) {
    export_from(made(), given(), bits);
    parts.kind = store::Kind::kExport;
  }
  const store::ModelFile file =
      store::ModelFile::open((parts.kind == store::Kind::kExport ? given() : made()).path());
  parts.header = Json::parse(file.header_json());
  for (const store::StoredSection& section : file.sections()) {
    parts.bytes.push_back(file.read(section));
    parts.sections.push_back(
        {section.name, section.dtype, section.shape, section.declared, nullptr, section.bytes});
  }
  return parts;
}

void apply(const Change& change, Parts& parts) {
  const std::size_t i = change.section % parts.sections.size();
  store::SectionView& section = parts.sections[i];
  std::vector<std::byte>& bytes = parts.bytes[i];
  const std::size_t at = 4 * std::size_t{change.at};
  if (change.what == Change::kWord && at + 4 <= bytes.size()) {
    std::memcpy(bytes.data() + at, &change.value, 4);
  } else if (change.what == Change::kLength && !section.shape.empty()) {
    section.shape[change.at % section.shape.size()] = change.value;
    const auto size = store::array_bytes(section.dtype, section.shape);
    if (size && *size <= kMaxSection) bytes.resize(*size);
  } else if (change.what == Change::kMissing) {
    section.name = "missing";
  } else if (change.what == Change::kType) {
    section.dtype = static_cast<store::Dtype>(change.value);
  } else if (change.what == Change::kDeclared) {
    section.declared.role = static_cast<store::Role>(change.value & 7);
    section.declared.optional = (change.value & 8) != 0;
    section.declared.last_keys = (change.value & 16) != 0;
    section.declared.coding = static_cast<store::Coding>((change.value >> 5) & 3);
    section.declared.keys = change.at;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Parts parts = good_parts(data[0]);
  Change change;
  std::size_t at = 1;
  for (; at + sizeof change <= size; at += sizeof change) {
    std::memcpy(&change, data + at, sizeof change);
    if (change.what >= Change::kEnd) {
      at += sizeof change;
      break;
    }
    apply(change, parts);
  }
  const Json patch = Json::parse(data + at, data + size, nullptr, false);
  if (patch.is_object()) parts.header.merge_patch(patch);
  for (std::size_t i = 0; i < parts.sections.size(); ++i) {
    parts.sections[i].data = parts.bytes[i].data();
    parts.sections[i].bytes = parts.bytes[i].size();
  }
  try {
    store::write_model_file(given().emptied(), parts.kind, parts.header.dump(), parts.sections);
    export_from(given(), made(), 4);
  } catch (const std::exception&) {
  }
  try {
    store::write_model_file(given().emptied(), parts.kind, parts.header.dump(), parts.sections);
    using modelfile::LoadBy;
    for (const auto& [how, by] : {std::pair(model::Use::kPredict, LoadBy::kMapping),
                                  std::pair(model::Use::kPredict, LoadBy::kReading),
                                  std::pair(model::Use::kLearn, LoadBy::kReading)}) {
      use(modelfile::load_model(given().path(), kMemory, how, by), how);
    }
  } catch (const std::exception&) {
  }
  return 0;
}
