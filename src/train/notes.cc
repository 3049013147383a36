#include "train/notes.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <utility>

#include "text/byte_characters.h"
#include "train/position_json.h"

namespace leveret::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kChunks = "learned.chunks";
constexpr const char* kUnwanted = "unwanted.chunks";
constexpr std::size_t kNumbers = 2;  // of a chunk

store::Declaration counted() {
  store::Declaration declared;
  declared.role = store::Role::kStatistic;
  return declared;
}

std::string widened(const std::string& bytes) { return text::to_characters(bytes); }

std::string narrowed(const std::string& characters) {
  if (auto bytes = text::from_characters(characters)) return *std::move(bytes);
  throw std::runtime_error("a name is none");
}

template <std::string Change(const std::string&)>
InputPosition with_names(InputPosition position) {
  for (std::string& name : position.data) name = Change(name);
  return position;
}

void read_header(std::string_view text, Notes& to) {
  const Json header = Json::parse(text);
  if (!header.is_object()) throw std::runtime_error("their header is no object");
  if (header.contains("followed")) to.followed = narrowed(header["followed"].get<std::string>());
  if (header.contains("without")) {
    for (const Json& name : header["without"]) {
      to.without.push_back(narrowed(name.get<std::string>()));
    }
  }
  if (header.contains("input")) {
    to.input = with_names<narrowed>(position_from_json(header["input"]));
  }
  if (header.contains("held_out")) to.best_pass = best_pass_from_json(header["held_out"]);
}

void read_chunks(const store::Notes& notes, const char* name, ChunkLedger& to) {
  const store::StoredSection* const section = notes.find(name);
  if (section == nullptr) return;
  if (section->dtype != store::Dtype::kU64 || section->shape.size() != 2 ||
      section->shape[1] != kNumbers) {
    throw std::runtime_error(std::string("they have ") + name + " in another shape");
  }
  std::vector<std::uint64_t> numbers(section->shape[0] * kNumbers);
  if (!numbers.empty()) std::memcpy(numbers.data(), notes.bytes(*section).data(), section->bytes);
  for (std::size_t i = 0; i < numbers.size(); i += kNumbers) {
    to.add_entry({numbers[i], static_cast<std::uint32_t>(numbers[i + 1]),
                  static_cast<std::uint32_t>(numbers[i + 1] >> 32)});
  }
}

std::vector<std::uint64_t> numbers_of(const ChunkLedger& chunks) {
  std::vector<std::uint64_t> numbers;
  for (const ChunkLedger::Entry& chunk : chunks.entries()) {
    numbers.insert(numbers.end(), {chunk.content, std::uint64_t{chunk.bytes} << 32 | chunk.head});
  }
  return numbers;
}

}  // namespace

std::vector<std::byte> to_bytes(const Notes& notes) {
  if (notes.chunks.empty() && notes.followed.empty() && notes.without.empty() && !notes.input) {
    return {};
  }
  Json header = Json::object();
  if (!notes.followed.empty()) header["followed"] = widened(notes.followed);
  for (const std::string& name : notes.without) header["without"].push_back(widened(name));
  if (notes.input) {
    header["input"] = to_json(with_names<widened>(*notes.input));
    if (notes.best_pass) header["held_out"] = to_json(*notes.best_pass);
  }
  const std::vector<std::uint64_t> learned = numbers_of(notes.chunks);
  const std::vector<std::uint64_t> unwanted = numbers_of(notes.unwanted);
  std::vector<store::SectionView> sections;
  const auto add = [&](const char* name, const std::vector<std::uint64_t>& numbers) {
    if (numbers.empty()) return;
    sections.push_back(store::make_section<std::uint64_t>(
        name, store::Dtype::kU64, {numbers.size() / kNumbers, kNumbers}, counted(), numbers));
  };
  add(kChunks, learned);
  add(kUnwanted, unwanted);
  return store::make_notes(header.dump(), sections);
}

namespace {

Notes read_notes(const store::ModelFile& file, bool chunks) {
  Notes notes;
  if (file.notes() == nullptr) return notes;
  const auto refuse = [&](const std::string& what) {
    throw std::runtime_error(file.path() + ": its notes cannot be read: " + what +
                             "; it was made by a newer leveret, or is damaged");
  };
  try {
    read_header(file.notes()->header_json(), notes);
    if (chunks) {
      read_chunks(*file.notes(), kChunks, notes.chunks);
      read_chunks(*file.notes(), kUnwanted, notes.unwanted);
    }
  } catch (const Json::exception&) {
    refuse("their header is not what it has to be");
  } catch (const std::runtime_error& error) {
    refuse(error.what());
  }
  return notes;
}

}  // namespace

Notes notes_of(const store::ModelFile& file) { return read_notes(file, true); }

std::string followed_of(const store::ModelFile& file) { return read_notes(file, false).followed; }

Notes notes_to_go_on(const store::ModelFile& file) {
  Notes notes = notes_of(file);
  notes.input.reset();
  notes.best_pass.reset();
  return notes;
}

}  // namespace leveret::train
