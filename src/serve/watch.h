/// Takes new models from files into a place while others predict with it.
///
///   Place place("model.lvt");
///   Watch watch(place, "model.lvt");
///   while (running) { say(watch.poll()); sleep(1); }
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "files/file_state.h"
#include "modelfile/model_line.h"
#include "serve/backoff.h"
#include "serve/served.h"
#include "store/checksum.h"

namespace leveret::serve {

/// The outcome of a look.
struct Seen {
  enum class What {
    kNothing,  ///< there is nothing new
    kSwapped,  ///< the place has another model
    kFailed,   ///< something new cannot be used; the place has the model that it had
  };
  What what = What::kNothing;
  store::Checksum fingerprint = {};                 ///< kSwapped: of the model in the place
  std::uint64_t sequence = modelfile::kNoSequence;  ///< kSwapped: its examples learned
  std::uint64_t step = 0;  ///< kSwapped: of `leveret publish`; 0: it is from no such folder
  double seconds = 0;      ///< kSwapped: what reading it took
  /// kFailed: what is wrong, in words that name the file. kSwapped: the same of files that were
  /// gone around, or empty.
  std::string problem;
};

/// `path` is a file or a folder, by what is there at each look.
///
/// A file: when it is another one (device, inode, size, time written, time changed) and has another
/// fingerprint than the model in the place, it is read and put there.
///
/// A folder: its files are known by their first bytes, whatever their names; names that begin with
/// a point are passed over, and so are our temporary files. Two things are compared:
///  - how far patches of the folder lead from the model in the place. Where there are several for
///    one model, that with the highest result's sequence counts, then the newest;
///  - the best model file: the newest (by time written, then by name) says of which line it is, and
///    of the files of that line the one with the highest sequence is it, of equal ones the newest.
/// The model file wins where it is of another line than the place's model, or of the same one with
/// a higher sequence than patches reach; else the patches are applied, as a chain, and nobody sees
/// the models between. Model files and patches that lead to a lower or the same sequence of the
/// line are left alone: who wants to go back watches a file, or a folder of `leveret publish`.
/// Where files tell no line or sequence, the newest counts as higher, once: one that has been in
/// the place, or has been applied, is not taken again before it changes.
///
/// A model is verified and read into memory of its own before the place has it: its pages are there
/// (touched by being copied), and no request waits for a disk. What cannot be used is told once,
/// and tried again when the file changes, and after a while: a shortage (of open files, of memory)
/// passes. Folders with a manifest are for publish::Watch.
///
/// One thread; others may use the place, and change it.
class Watch {
 public:
  /// `place` outlives it. Opens nothing yet.
  Watch(Place& place, std::string path);
  /// Costs a stat of the file, or of each file of the folder, where nothing has changed. Throws
  /// nothing but std::bad_alloc.
  Seen poll();

 private:
  /// The facts that are known of one state of a file of the folder.
  struct Found {
    enum class Kind { kOther, kModel, kPatch };
    files::FileState state;
    Kind kind = Kind::kOther;
    store::Checksum base = {}, fingerprint = {};  ///< base: of a patch
    modelfile::ModelPlace among;                  ///< of the model, or of the patch's result
    bool is_bad = false;                          ///< in this state
    std::string problem;                          ///< that was told of it
    bool was_served = false;  ///< in this state: a model that the place has had, a patch applied
  };
  using Files = std::map<std::string, Found>;  ///< by name

  Seen poll_file(const files::FileState& state);
  Seen read_file();
  Seen poll_folder();
  bool look_around();
  Found look_at(const std::string& name, const files::FileState& state) const;
  void tell(Found& found, const std::string& problem);
  void try_bad_again();
  static bool leads_on(const Found& patch, const modelfile::ModelPlace& from);
  std::vector<std::string> chain(const Served& from, modelfile::ModelPlace& to) const;
  const Files::value_type* best_model() const;
  static bool is_better(const Found& model, const Served& served,
                        const modelfile::ModelPlace& reached);
  Seen take_model(const std::string& name);
  Seen set_bad(const std::string& name, Seen seen);
  Seen take_patches(const std::vector<std::string>& names);
  std::string path_of(const std::string& name) const { return path_ + '/' + name; }

  Place& place_;
  const std::string path_;
  std::optional<files::FileState> state_;  ///< of the file, at the last look
  bool was_missing_ = false;               ///< and it was told
  Backoff backoff_;         ///< of the file in this state, or of those of the folder that are bad
  Files files_;             ///< of the folder, at the last look
  std::uint64_t time_ = 0;  ///< of the place, at the last look
  std::deque<std::string> problems_;  ///< that are not told yet
  bool is_list_told_ = false;         ///< that the folder cannot be listed
  bool is_settled_ = false;           ///< there was nothing to do then
};

/// Puts a file's model in the place, or what patches make of it or (`path` empty) of the model that
/// is there. Errors are told by the result.
Seen take(Place& place, const std::string& path, const std::vector<std::string>& patches);

}  // namespace leveret::serve
