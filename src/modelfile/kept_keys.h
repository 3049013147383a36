/// Which features of a shard an export has, and where an older export has them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/model_file.h"
#include "table/slot.h"

namespace leveret::modelfile {

/// Number of a key that is not there.
inline constexpr std::uint32_t kNoKeyNumber = 0xffffffffu;

/// The keys of a section. std::runtime_error when they are not at most two ascending runs, those
/// with a row and those without.
std::vector<table::Key> read_keys(const store::ModelFile& file,
                                  const store::StoredSection& section);

class KeptKeys {
 public:
  KeptKeys() = default;
  /// All of them.
  explicit KeptKeys(std::vector<table::Key> keys);

  /// Leaves out those for which keep(number, key) is false.
  template <class Keep>
  void filter(Keep keep);
  /// Looks for the kept ones among those of an older export.
  void match(std::span<const table::Key> old);

  /// How many there are, and how many there were.
  std::uint64_t size() const { return keys_.size(); }
  std::uint64_t size_before() const { return before_; }
  bool all() const { return size() == size_before(); }
  std::span<const table::Key> keys() const { return keys_; }
  /// The number that kept key i had.
  std::uint32_t number(std::uint64_t i) const {
    return numbers_.empty() ? static_cast<std::uint32_t>(i) : numbers_[i];
  }
  /// Its number in the older export, or kNoKeyNumber.
  std::uint32_t old_number(std::uint64_t i) const { return old_.empty() ? kNoKeyNumber : old_[i]; }
  /// How many of the first `count` keys are kept.
  std::uint64_t kept_of_first(std::uint64_t count) const;
  bool contains(table::Key key) const;

 private:
  void find_second_run();

  std::vector<table::Key> keys_;
  std::size_t second_ = 0;              ///< where the second ascending run begins
  std::vector<std::uint32_t> numbers_;  ///< empty: all are kept
  std::vector<std::uint32_t> old_;      ///< empty: there is no older export
  std::uint64_t before_ = 0;
};

template <class Keep>
void KeptKeys::filter(Keep keep) {
  std::vector<table::Key> kept;
  std::vector<std::uint32_t> numbers;
  for (std::uint64_t i = 0; i < keys_.size(); ++i) {
    if (!keep(number(i), keys_[i])) continue;
    kept.push_back(keys_[i]);
    numbers.push_back(number(i));
  }
  keys_ = std::move(kept);
  numbers_ = std::move(numbers);
  find_second_run();
}

}  // namespace leveret::modelfile
