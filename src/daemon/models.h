/// The models of a server: each has a name, a place where its newest version is, and what has
/// become of the files that were to replace it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "modelfile/model_io.h"
#include "serve/served.h"

namespace leveret::daemon {

/// A version of a model that came, or did not.
struct Swap {
  std::chrono::system_clock::time_point time;
  std::string model;
  bool done = false;
  std::string what;        ///< done: the fingerprint; else why not
  std::uint64_t step = 0;  ///< done: of `leveret publish`; 0: it is from no such folder
  double seconds = 0;      ///< from reading the file to the switch
};

/// A model by its name.
struct NamedModel {
  std::string name;
  std::string path;  ///< as it was given
  std::shared_ptr<serve::Place> place;
  bool followed = false;         ///< `path` is a folder of `leveret publish`
  std::uint64_t first_step = 0;  ///< of it, that was there at the start
};

/// The two parts of "NAME=PATH"; the name is empty where there is none, or none that a model may
/// have.
struct NamedPath {
  std::string name, path;
};
NamedPath read_named_path(const std::string& text);

/// The list is fixed from the start; any number of threads.
class Models {
 public:
  Models(const Models&) = delete;  // places ask it about memory
  Models& operator=(const Models&) = delete;

  /// Reads the files. std::runtime_error where one is no model, two have one name, or there is
  /// none. `given`: "FILE", "NAME=FILE", or a folder, whose files named *.lvt are models by those
  /// names. A FILE alone is named by what its name is without folder and .lvt. `followed`: "DIR" or
  /// "NAME=DIR", folders of `leveret publish`, which the newest is taken from; where one has no
  /// step yet its place waits. `max_memory`: bytes that the tables of all models may take; a
  /// version with which they would take more does not come.
  explicit Models(const std::vector<std::string>& given,
                  const std::vector<std::string>& followed = {},
                  std::uint64_t max_memory = modelfile::default_memory_limit());

  std::size_t size() const { return models_.size(); }
  const NamedModel& operator[](std::size_t i) const { return models_[i]; }
  /// Empty is the first.
  std::optional<std::size_t> find(std::string_view name) const;

  /// The first that has not come yet.
  std::optional<std::size_t> awaited() const;

  /// Notes what has become of a new version.
  void note(Swap swap);
  /// The last ones, newest first.
  std::vector<Swap> swaps() const;
  std::uint64_t swaps_done(std::size_t model) const;
  std::uint64_t swaps_failed(std::size_t model) const;
  /// The version that is served.
  struct Version {
    std::chrono::system_clock::time_point loaded;
    std::uint64_t step = 0;  ///< as Swap::step
  };
  Version version(std::size_t model) const;

 private:
  struct Tally {
    std::uint64_t done = 0, failed = 0;
    Version version;
  };
  void add(const std::string& name, const std::string& path);
  void add_folder(const std::string& folder);
  void add_followed(const std::string& name, const std::string& folder);
  void check_memory(std::size_t model, const serve::Served& next) const;
  void check_name(const std::string& name, const std::string& path) const;

  const std::uint64_t max_memory_;
  std::vector<NamedModel> models_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::deque<Swap> swaps_;
  std::vector<Tally> tallies_;
};

}  // namespace leveret::daemon
