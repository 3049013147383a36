#include "dist/mesh/gather.h"

#include <algorithm>
#include <stdexcept>

#include "dist/folder/copy_rows.h"
#include "dist/talk/agreement.h"
#include "files/bytes.h"

namespace leveret::dist {
namespace {

using files::put;

void put_shard(const table::Shard& shard, Bytes& to) {
  put(to, static_cast<std::uint64_t>(shard.index().size()));
  shard.for_each([&](const table::Slot& slot) {
    put(to, slot.key);
    put(to, slot.ref.word());
    to.append(reinterpret_cast<const char*>(table::cell_of(&slot)),
              table::cell_bytes(shard.cells()));
    if (!slot.ref.has_row()) return;
    to.append(reinterpret_cast<const char*>(shard.rows().at(slot.ref.row())),
              shard.rows().layout().used_bytes());
  });
}

void add_shard(files::BytesReader& from, table::Shard& shard) {
  const auto no_memory = [] {
    throw std::runtime_error("there is no memory for all of the model in one place");
  };
  const auto count = from.get<std::uint64_t>();
  shard.reserve_to_load(shard.index().size() + count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto key = from.get<table::Key>();
    const table::RowRef ref = table::RowRef::from_word(from.get<std::uint32_t>());
    table::Slot* const slot = shard.load_key(key);
    if (slot == nullptr) no_memory();
    const std::string_view cell = from.take(table::cell_bytes(shard.cells()));
    std::memcpy(static_cast<void*>(table::cell_of(slot)), cell.data(), cell.size());
    if (!ref.has_row()) {
      slot->ref = ref;
      continue;
    }
    const table::Row row = shard.rows().make(key, true);
    if (row == table::kNoRow) no_memory();
    const std::string_view bytes = from.take(shard.rows().layout().used_bytes());
    std::memcpy(shard.rows().at(row), bytes.data(), bytes.size());
    slot->ref = table::RowRef().with_row(row);
  }
}

}  // namespace

std::optional<model::Model> gather_mesh(const model::Model& mine, Communicator& ranks,
                                        std::uint64_t memory_limit) {
  Bytes own;
  together(ranks, [&] {
    if (mine.tables().overflow_lookups() > 0) {
      throw std::runtime_error(
          "memory for tables has run out; a mesh then saves no model: give it more --max_memory");
    }
    for (std::size_t s = 0; s < mine.tables().size(); ++s) put_shard(mine.tables()[s], own);
  });
  const std::vector<Bytes> all = ranks.gather(own);
  if (!ranks.is_root()) return std::nullopt;
  model::Model whole(mine.spec(), mine.features().plans(), memory_limit);
  for (const Bytes& bytes : all) {
    files::BytesReader reader(bytes);
    for (std::size_t s = 0; s < whole.tables().size(); ++s) add_shard(reader, whole.tables()[s]);
  }
  tape::Parameters& to = whole.parameters();
  to.scalars = mine.parameters().scalars;
  whole.sightings().set(mine.sightings().get());
  whole.set_schema(mine.schema());
  for (std::size_t i = 0; i < to.declared().arrays.size(); ++i) {
    const auto id = static_cast<tape::ArrayId>(i);
    if (!to.declared()[id].in_scalars()) std::ranges::copy(mine.parameters()[id], to[id].begin());
  }
  return whole;
}

}  // namespace leveret::dist
