#include "patch/key_change.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "patch/number_coder.h"
#include "store/key_order.h"

namespace leveret::patch {
namespace {

using Keys = std::span<const std::uint32_t>;

/// The place of no key: it comes after all.
constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

/// A run of keys that is read from its front.
struct Run {
  Keys keys;
  std::uint32_t at, end;

  std::uint64_t place() const { return at < end ? store::key_place(keys[at]) : kEnd; }
};

/// How many keys the first of at most two ascending runs has; nothing where there are more.
std::optional<std::uint32_t> first_run(Keys keys) {
  if (keys.size() > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  std::size_t first = keys.size();
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (store::key_place(keys[i - 1]) < store::key_place(keys[i])) continue;
    if (first != keys.size()) return std::nullopt;
    first = i;
  }
  return static_cast<std::uint32_t>(first);
}

std::array<Run, kKeyRuns> runs_of(Keys keys, std::uint32_t first) {
  const auto size = static_cast<std::uint32_t>(keys.size());
  return {Run{keys, 0, first}, Run{keys, first, size}};
}

/// Codes keys in ascending order: the gap in mixed value, and which of the keys that have it. With
/// `plain` they are written as they are.
template <class Coder>
void code_inserted(Coder& coder, std::vector<std::uint32_t>& keys, bool plain) {
  NumberModels gaps;
  std::array<BitModel, 16> choice;
  std::uint32_t mixed = 0;
  for (std::uint32_t& key : keys) {
    if (plain) {
      key = static_cast<std::uint32_t>(code_raw(coder, 32, key));
      continue;
    }
    const std::uint64_t gap = gaps.code(coder, store::mixed_value(key) - mixed);
    if (gap > ~mixed) throw CorruptCode();
    mixed += static_cast<std::uint32_t>(gap);
    std::array<std::uint32_t, choice.size()> candidates;
    std::size_t count = 0, chosen = 0;
    store::keys_of_mixed_value(mixed, [&](std::uint32_t k) { candidates[count++] = k; });
    if (count == 0) throw CorruptCode();
    while (chosen + 1 < count && coder.bit(choice[chosen], candidates[chosen] != key)) ++chosen;
    key = candidates[chosen];
  }
}

/// Codes where keys are gone from a run of `end` - `begin` keys.
template <class Coder>
void code_gone(Coder& coder, std::vector<KeyChange::Gone>& list, std::uint32_t begin,
               std::uint32_t end) {
  NumberModels gaps;
  BitModel moved;
  std::uint64_t next = begin;
  for (KeyChange::Gone& gone : list) {
    const std::uint64_t gap = gaps.code(coder, gone.position - next);
    if (gap >= end - next) throw CorruptCode();
    gone.position = static_cast<std::uint32_t>(next + gap);
    gone.moved = coder.bit(moved, gone.moved);
    next = std::uint64_t{gone.position} + 1;
  }
}

/// At least so many bits a key, so that what is read never takes more than a multiple of the bytes
/// that say it.
constexpr std::size_t kLeastKeyBits = 4;

std::size_t bytes_of(const std::vector<std::uint32_t>& keys) {
  RangeEncoder trial;
  std::vector<std::uint32_t> copy = keys;
  code_inserted(trial, copy, false);
  return trial.finish().size();
}

/// The old keys of `positions` and the new ones of a run, merged into those that stay.
class RunMerger {
 public:
  RunMerger(Keys before, KeyMap& to) : before_(before), to_(to) {}

  void merge(Run stays, const std::vector<KeyChange::Gone>& gone,
             const std::vector<KeyChange::Gone>& from_other,
             const std::vector<std::uint32_t>& inserted) {
    std::size_t moved = 0, fresh = 0, skipped = 0;
    const auto next_moved = [&] {
      while (moved < from_other.size() && !from_other[moved].moved) ++moved;
      return moved < from_other.size() ? store::key_place(before_[from_other[moved].position])
                                       : kEnd;
    };
    for (;;) {
      const std::uint64_t other = next_moved();
      const std::uint64_t insert =
          fresh < inserted.size() ? store::key_place(inserted[fresh]) : kEnd;
      stay_until(stays, std::min(other, insert), gone, skipped);
      if (other == kEnd && insert == kEnd) return;
      if (other <= insert) {
        to_.rows.append(1, from_other[moved++].position);
      } else {
        to_.rows.append(1, RowMap::kNone);
        to_.fresh.push_back(inserted[fresh++]);
      }
    }
  }

 private:
  void stay_until(Run& run, std::uint64_t place, const std::vector<KeyChange::Gone>& gone,
                  std::size_t& skipped) {
    while (run.at < run.end) {
      const bool more = skipped < gone.size();
      const std::uint32_t stop = more ? gone[skipped].position : run.end;
      const std::uint32_t begin = run.at;
      while (run.at < stop && (place == kEnd || store::key_place(before_[run.at]) < place))
        ++run.at;
      to_.rows.append(run.at - begin, begin);
      if (run.at < stop || !more) return;
      ++run.at;
      ++skipped;
    }
  }

  Keys before_;
  KeyMap& to_;
};

}  // namespace

std::optional<KeyChange> find_change(Keys before, Keys now) {
  const auto old_first = first_run(before), new_first = first_run(now);
  if (!old_first || !new_first) return std::nullopt;
  KeyChange change;
  change.first_run = *old_first;
  auto old_runs = runs_of(before, *old_first), new_runs = runs_of(now, *new_first);
  for (;;) {
    const std::uint64_t place = std::min(std::min(old_runs[0].place(), old_runs[1].place()),
                                         std::min(new_runs[0].place(), new_runs[1].place()));
    if (place == kEnd) return change;
    std::size_t was = kKeyRuns, is = kKeyRuns;
    for (std::size_t run = 0; run < kKeyRuns; ++run) {
      // Twice the same key: no list of keys.
      if (old_runs[run].place() == place && std::exchange(was, run) != kKeyRuns) return {};
      if (new_runs[run].place() == place && std::exchange(is, run) != kKeyRuns) return {};
    }
    if (was == kKeyRuns) change.inserted[is].push_back(static_cast<std::uint32_t>(place));
    if (was != kKeyRuns && was != is) {
      change.gone[was].push_back({old_runs[was].at, is != kKeyRuns});
    }
    if (was != kKeyRuns) ++old_runs[was].at;
    if (is != kKeyRuns) ++new_runs[is].at;
  }
}

void write_change(RangeEncoder& coder, const KeyChange& change) {
  code_raw(coder, 32, change.first_run);
  // Positions are coded against the run's end, which is not needed to write them.
  const std::uint32_t begins[] = {0, change.first_run};
  for (std::size_t run = 0; run < kKeyRuns; ++run) {
    auto gone = change.gone[run];
    code_raw(coder, 32, gone.size());
    code_gone(coder, gone, begins[run], std::numeric_limits<std::uint32_t>::max());
    auto keys = change.inserted[run];
    const bool plain = bytes_of(keys) * 8 < keys.size() * kLeastKeyBits;
    code_raw(coder, 32, keys.size());
    coder.raw(1, plain ? 1 : 0);
    code_inserted(coder, keys, plain);
  }
}

KeyChange read_change(RangeDecoder& coder, std::uint32_t old_keys, std::size_t bytes) {
  KeyChange change;
  change.first_run = static_cast<std::uint32_t>(code_raw(coder, 32, 0));
  if (change.first_run > old_keys) throw CorruptCode();
  const std::uint32_t bounds[] = {0, change.first_run, old_keys};
  for (std::size_t run = 0; run < kKeyRuns; ++run) {
    const std::uint64_t gone = code_raw(coder, 32, 0);
    if (gone > bounds[run + 1] - bounds[run]) throw CorruptCode();
    change.gone[run].resize(gone);
    code_gone(coder, change.gone[run], bounds[run], bounds[run + 1]);
    const std::uint64_t keys = code_raw(coder, 32, 0);
    if (keys * kLeastKeyBits > bytes * 8 + 64) throw CorruptCode();
    const bool plain = coder.raw(1) != 0;
    change.inserted[run].resize(keys);
    code_inserted(coder, change.inserted[run], plain);
  }
  return change;
}

KeyMap apply_change(Keys before, const KeyChange& change) {
  KeyMap map;
  const auto runs = runs_of(before, change.first_run);
  RunMerger merger(before, map);
  for (std::size_t run = 0; run < kKeyRuns; ++run) {
    merger.merge(runs[run], change.gone[run], change.gone[1 - run], change.inserted[run]);
  }
  return map;
}

void write_rows(RangeEncoder& coder, const RowSet& rows, std::uint64_t end) {
  std::uint64_t count = 0;
  rows.visit(0, end, [&](std::uint64_t) { ++count; });
  code_raw(coder, 48, count);
  NumberModels gaps;
  std::uint64_t next = 0;
  rows.visit(0, end, [&](std::uint64_t row) {
    gaps.code(coder, row - next);
    next = row + 1;
  });
}

RowSet read_rows(RangeDecoder& coder, std::uint64_t end) {
  const std::uint64_t count = code_raw(coder, 48, 0);
  if (count > end) throw CorruptCode();
  RowSet rows(end);
  NumberModels gaps;
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t gap = gaps.code(coder, 0);
    if (gap >= end - next) throw CorruptCode();
    rows.add(next + gap);
    next += gap + 1;
  }
  return rows;
}

}  // namespace leveret::patch
