/// Which row of an old array each row of a new one comes from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace leveret::patch {

/// `count` rows from `begin` on.
struct RowRange {
  std::uint64_t begin, count;
  bool operator==(const RowRange&) const = default;
};

/// Runs of rows that come from consecutive old rows, or from none. Takes memory in proportion to
/// the number of runs.
class RowMap {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// The next `count` rows come from the old rows `from`…, or from none.
  void append(std::uint64_t count, std::uint64_t from) {
    if (count == 0) return;
    if (!continues(from)) runs_.push_back({rows_, from});
    rows_ += count;
  }
  std::uint64_t rows() const { return rows_; }

  /// Calls visit(begin, count, from) for the runs of the rows `begin`, … in order.
  template <class Visit>
  void visit(std::uint64_t begin, std::uint64_t count, Visit&& visit) const {
    const std::uint64_t end = begin + count;
    auto run = std::upper_bound(runs_.begin(), runs_.end(), begin,
                                [](std::uint64_t row, const Run& r) { return row < r.begin; });
    if (run != runs_.begin()) --run;
    while (begin < end && run != runs_.end()) {
      const auto next = run + 1;
      const std::uint64_t stop = std::min(end, next == runs_.end() ? rows_ : next->begin);
      visit(begin, stop - begin, run->from == kNone ? kNone : run->from + (begin - run->begin));
      begin = stop;
      run = next;
    }
  }

 private:
  struct Run {
    std::uint64_t begin, from;
  };

  bool continues(std::uint64_t from) const {
    if (runs_.empty()) return false;
    const Run& last = runs_.back();
    if (from == kNone || last.from == kNone) return from == last.from;
    return from == last.from + (rows_ - last.begin);
  }

  std::vector<Run> runs_;
  std::uint64_t rows_ = 0;
};

/// A set of rows: a bit for each.
class RowSet {
 public:
  RowSet() = default;
  explicit RowSet(std::uint64_t rows) : words_((rows + 63) / 64) {}

  void add(std::uint64_t row) { words_[row / 64] |= std::uint64_t{1} << (row % 64); }
  bool empty() const { return words_.empty(); }

  /// Calls visit(row) for the members from begin to end, in order.
  template <class Visit>
  void visit(std::uint64_t begin, std::uint64_t end, Visit&& visit) const {
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t word = words_[at / 64] >> (at % 64);
      if (word == 0) {
        at = (at / 64 + 1) * 64;
        continue;
      }
      at += static_cast<std::uint64_t>(__builtin_ctzll(word));
      if (at < end) visit(at);
      ++at;
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace leveret::patch
