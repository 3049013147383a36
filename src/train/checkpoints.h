/// Checkpoints of a run: model files in a folder of their own, G.lvt, of which G counts up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace leveret::train {

/// One process at a time has such a folder, and one thread at a time asks here.
class Checkpoints {
 public:
  explicit Checkpoints(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  /// Paths of those that are there, the newest first. None where there is no folder.
  std::vector<std::string> newest_first() const;
  /// Where the next one goes: behind all that are there. Makes the folder; std::runtime_error where
  /// that cannot be.
  std::string next();
  /// The number of the newest; 0: there is none.
  std::uint64_t newest() const;
  /// Those up to this number are of runs that have not ended, and stay; a file in the folder notes
  /// it. 0: there are none.
  std::uint64_t left() const;
  /// All that are there stay from now on.
  void leave() const;
  /// None stays any more.
  void take_back() const noexcept;
  /// Removes those behind left(), but for the newest `keep` of them, and what saves that were
  /// killed have left; with `keep` 0 the folder, too, when nothing else is in it. What cannot be
  /// removed stays: it is in nobody's way.
  void keep(std::size_t keep) noexcept;

 private:
  std::vector<std::uint64_t> numbers() const;
  std::string path_of(std::uint64_t number) const;
  std::string note() const { return folder_ + "/left"; }

  std::string folder_;
};

}  // namespace leveret::train
