#include "modelfile/kept_keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "modelfile/section_loader.h"
#include "table/index.h"

namespace leveret::modelfile {
namespace {

using table::Index;
using table::Key;

/// Where the second ascending run begins; the end when there is none.
std::size_t second_run(std::span<const Key> keys, std::size_t from = 0) {
  for (std::size_t i = from + 1; i < keys.size(); ++i) {
    if (!Index::before(keys[i - 1], keys[i])) return i;
  }
  return keys.size();
}

struct Run {
  std::size_t begin, end;
};
std::array<Run, 2> runs_of(std::size_t second, std::size_t size) {
  return {{{0, second}, {second, size}}};
}

}  // namespace

std::vector<Key> read_keys(const store::ModelFile& file, const store::StoredSection& section) {
  std::vector<Key> keys(section.shape[0]);
  file.read(section, reinterpret_cast<std::byte*>(keys.data()));
  const std::size_t second = second_run(keys);
  if (second < keys.size() && second_run(keys, second) < keys.size()) {
    damaged("has keys in the wrong order");
  }
  return keys;
}

KeptKeys::KeptKeys(std::vector<Key> keys) : keys_(std::move(keys)), before_(keys_.size()) {
  find_second_run();
}

void KeptKeys::find_second_run() { second_ = second_run(keys_); }

/// Runs are walked through side by side, each with each: a feature may have got a row, or lost it.
void KeptKeys::match(std::span<const Key> old) {
  old_.assign(keys_.size(), kNoKeyNumber);
  for (const Run run : runs_of(second_, keys_.size())) {
    for (const Run old_run : runs_of(second_run(old), old.size())) {
      std::size_t i = run.begin, o = old_run.begin;
      while (i < run.end && o < old_run.end) {
        if (keys_[i] == old[o]) {
          old_[i++] = static_cast<std::uint32_t>(o++);
        } else if (Index::before(keys_[i], old[o])) {
          ++i;
        } else {
          ++o;
        }
      }
    }
  }
}

std::uint64_t KeptKeys::kept_of_first(std::uint64_t count) const {
  if (numbers_.empty() && all()) return count;
  return static_cast<std::uint64_t>(std::ranges::lower_bound(numbers_, count) - numbers_.begin());
}

bool KeptKeys::contains(Key key) const {
  for (const Run run : runs_of(second_, keys_.size())) {
    const auto keys = std::span(keys_).subspan(run.begin, run.end - run.begin);
    if (std::ranges::binary_search(keys, key, Index::before)) return true;
  }
  return false;
}

}  // namespace leveret::modelfile
