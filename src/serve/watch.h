/// Takes new models from files into a place while others predict with it.
///
///   Place place("model.lvt");
///   Watch watch(place, "model.lvt");
///   while (running) { say(watch.poll()); sleep(1); }
#pragma once

#include <cstdint>
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

/// When the file is another one (device, inode, size, time written, time changed) and has another
/// fingerprint than the model in the place, it is read and put there.
///
/// A model is verified and read into memory of its own before the place has it: its pages are there
/// (touched by being copied), and no request waits for a disk. What cannot be used is told once,
/// and tried again when the file changes, and after a while: a shortage (of open files, of memory)
/// passes. Folders of `leveret publish` are for publish::Watch.
///
/// One thread; others may use the place, and change it.
class Watch {
 public:
  /// `place` outlives it. Opens nothing yet.
  Watch(Place& place, std::string path);
  /// Costs a stat where nothing has changed. Throws nothing but std::bad_alloc.
  Seen poll();

 private:
  Seen read_file();

  Place& place_;
  const std::string path_;
  std::optional<files::FileState> state_;  ///< of the file, at the last look
  bool was_missing_ = false;               ///< and it was told
  Backoff backoff_;                        ///< of the file in this state
};

/// Puts a file's model in the place, or what patches make of it or (`path` empty) of the model that
/// is there. Errors are told by the result.
Seen take(Place& place, const std::string& path, const std::vector<std::string>& patches);

}  // namespace leveret::serve
