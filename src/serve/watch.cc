#include "serve/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "patch/patch_check.h"
#include "patch/patch_stream.h"
#include "store/layout_bytes.h"
#include "store/plain_file.h"

namespace leveret::serve {
namespace {

namespace fs = std::filesystem;
using What = Seen::What;

Seen failed(std::string problem) {
  Seen seen;
  seen.what = What::kFailed;
  seen.problem = std::move(problem);
  return seen;
}

/// No sequence is the lowest.
std::uint64_t rank_of(std::uint64_t sequence) {
  return sequence == modelfile::kNoSequence ? 0 : sequence + 1;
}

bool is_told(const modelfile::ModelPlace& among) {
  return among.line != decltype(among.line){} && among.sequence != modelfile::kNoSequence;
}

using Magic = std::remove_const_t<decltype(store::kMagic)>;

/// The first bytes of a file; zeros where it has fewer. std::runtime_error where it cannot be read.
Magic magic_of(const std::string& path) {
  const store::PlainFile file(path);
  Magic magic{};
  if (file.bytes() >= magic.size()) file.read_at(0, std::as_writable_bytes(std::span(magic)));
  return magic;
}

}  // namespace

Seen take(Place& place, const std::string& path, const std::vector<std::string>& patches) {
  const auto begin = std::chrono::steady_clock::now();
  Seen seen;
  try {
    path.empty() ? place.patch(patches, "") : place.replace(path, patches);
    const std::shared_ptr<const Served> now = place.get();
    seen.what = What::kSwapped;
    seen.fingerprint = now->fingerprint();
    seen.sequence = now->sequence();
    seen.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return seen;
  } catch (const std::bad_alloc&) {
    return failed((path.empty() ? patches.front() : path) +
                  ": there is not enough memory for a second model");
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

Watch::Watch(Place& place, std::string path) : place_(place), path_(std::move(path)) {}

Seen Watch::poll() {
  const std::optional<files::FileState> state = files::state_of(path_);
  if (state && state->is_folder) {
    was_missing_ = false;
    return poll_folder();
  }
  if (state) {
    was_missing_ = false;
    return poll_file(*state);
  }
  state_.reset();
  if (std::exchange(was_missing_, true)) return {};
  return failed(path_ + ": is no file and no folder, or cannot be looked at; the model stays");
}

/// A write behind the stat is another state at the next look.
Seen Watch::poll_file(const files::FileState& state) {
  if (state_ != state) {
    state_ = state;
    backoff_.succeeded();
  } else if (!backoff_.failing() || backoff_.waits()) {
    return {};
  }
  Seen seen = read_file();
  if (seen.what != What::kFailed) {
    backoff_.succeeded();
    return seen;
  }
  return backoff_.failed(seen.problem) ? seen : Seen();
}

Seen Watch::read_file() try {
  const store::ModelFile file = store::ModelFile::open(path_);
  if (file.fingerprint() == place_.get()->fingerprint()) return {};
  return take(place_, path_, {});
} catch (const std::exception& error) {
  return failed(error.what());
}

/// A problem that is told is one of a file in a state, once.
void Watch::tell(Found& found, const std::string& problem) {
  found.is_bad = true;
  if (std::exchange(found.problem, problem) != problem) problems_.push_back(problem);
}

void Watch::try_bad_again() {
  const auto is_bad = [](const Files::value_type& file) { return file.second.is_bad; };
  if (std::ranges::none_of(files_, is_bad)) return backoff_.succeeded();
  if (backoff_.waits()) return;
  const bool is_first = !backoff_.failing();
  backoff_.failed("");  // each file has its own
  if (is_first) return;
  for (auto& [name, found] : files_) {
    if (!found.is_bad) continue;
    Found again = look_at(name, found.state);
    again.was_served = found.was_served;
    std::swap(again.problem, found.problem);
    if (again.is_bad) tell(again, found.problem);
    found = std::move(again);
  }
  is_settled_ = false;
}

/// `problem` of what it returns is yet to be told.
Watch::Found Watch::look_at(const std::string& name, const files::FileState& state) const {
  Found found;
  found.state = state;
  try {
    const Magic magic = magic_of(path_of(name));
    if (magic == store::kPatchMagic) {
      const patch::PatchFront front = patch::PatchReader(path_of(name)).front();
      if (front.kind != patch::PatchKind::kSections) return found;
      found.kind = Found::Kind::kPatch;
      found.base = front.base.fingerprint;
      found.fingerprint = front.result.fingerprint;
      found.among = {front.line, front.result.sequence};
    } else if (magic == store::kMagic) {
      const store::ModelFile file = store::ModelFile::open(path_of(name));
      if (file.kind() != store::Kind::kModel && file.kind() != store::Kind::kExport) return found;
      found.kind = Found::Kind::kModel;
      found.fingerprint = file.fingerprint();
      found.among = modelfile::place_of(file);
    }
  } catch (const std::exception& error) {
    if (!files::state_of(path_of(name))) return found;  // it has gone in between
    found.is_bad = true;
    found.problem = error.what();
  }
  return found;
}

/// Whether anything is another than at the last look. Where the folder cannot be listed nothing is.
bool Watch::look_around() {
  Files now;
  bool is_same = true;
  std::error_code error;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with('.')) continue;
    const std::optional<files::FileState> state = files::state_of(path_of(name));
    if (!state || state->is_folder) continue;
    const auto before = files_.find(name);
    if (before != files_.end() && before->second.state == *state) {
      now.emplace(name, before->second);
      continue;
    }
    is_same = false;
    Found& found = now.emplace(name, look_at(name, *state)).first->second;
    if (found.is_bad) tell(found, std::exchange(found.problem, ""));
  }
  const bool was_told = std::exchange(is_list_told_, bool(error));
  if (error) {
    if (!was_told) {
      problems_.push_back(
          fmt::format("{}: cannot list this folder: {}; the model stays", path_, error.message()));
    }
    return false;
  }
  is_same &= now.size() == files_.size();
  files_ = std::move(now);
  return !is_same;
}

/// Not back, so that there is an end: a folder may have patches for both ways.
bool Watch::leads_on(const Found& patch, const modelfile::ModelPlace& from) {
  if (!is_told(patch.among) || !is_told(from)) return !patch.was_served;
  return patch.among.sequence > from.sequence;
}

/// Patches from a model on, and where they lead to.
std::vector<std::string> Watch::chain(const Served& from, modelfile::ModelPlace& to) const {
  std::vector<std::string> names;
  std::vector<store::Checksum> passed = {from.fingerprint()};
  to = from.among();
  for (;;) {
    const Files::value_type* next = nullptr;
    for (const Files::value_type& file : files_) {
      const Found& found = file.second;
      if (found.kind != Found::Kind::kPatch || found.is_bad || found.base != passed.back())
        continue;
      if (!leads_on(found, to)) continue;
      if (std::ranges::find(passed, found.fingerprint) != passed.end()) continue;  // and back again
      const auto key = [](const Found& one) {
        return std::pair(rank_of(one.among.sequence), one.state.written);
      };
      if (next == nullptr || key(next->second) < key(found)) next = &file;
    }
    if (next == nullptr) return names;
    names.push_back(next->first);
    passed.push_back(next->second.fingerprint);
    to = next->second.among;
  }
}

/// Null: there is none.
const Watch::Files::value_type* Watch::best_model() const {
  const auto best = [&](auto takes, auto key) {
    const Files::value_type* found = nullptr;
    for (const Files::value_type& file : files_) {
      if (file.second.kind != Found::Kind::kModel || file.second.is_bad || !takes(file.second)) {
        continue;
      }
      if (found == nullptr || key(*found) < key(file)) found = &file;
    }
    return found;
  };
  const Files::value_type* const newest =
      best([](const Found&) { return true; },
           [](const Files::value_type& file) {
             return std::pair(file.second.state.written, file.first);
           });
  if (newest == nullptr || !is_told(newest->second.among)) return newest;
  return best([&](const Found& found) { return found.among.line == newest->second.among.line; },
              [](const Files::value_type& file) {
                return std::tuple(rank_of(file.second.among.sequence), file.second.state.written,
                                  file.first);
              });
}

Seen Watch::poll_folder() {
  const bool changed = look_around();
  const std::uint64_t time = place_.time();
  is_settled_ = is_settled_ && !changed && time == time_;
  try_bad_again();
  if (!problems_.empty()) {  // one a look
    Seen seen = failed(std::move(problems_.front()));
    problems_.pop_front();
    return seen;
  }
  if (is_settled_) return {};
  time_ = time;
  const std::shared_ptr<const Served> served = place_.get();
  for (auto& [name, found] : files_) {
    found.was_served |=
        found.kind == Found::Kind::kModel && found.fingerprint == served->fingerprint();
  }
  modelfile::ModelPlace reached;
  const std::vector<std::string> patches = chain(*served, reached);
  const Files::value_type* const model = best_model();
  Seen seen;
  if (model != nullptr && is_better(model->second, *served, reached)) {
    seen = take_model(model->first);
  } else if (!patches.empty()) {
    seen = take_patches(patches);
  }
  is_settled_ = seen.what == What::kNothing;
  return seen;
}

/// Than what patches lead to from the model that is served.
bool Watch::is_better(const Found& model, const Served& served,
                      const modelfile::ModelPlace& reached) {
  if (model.was_served || model.fingerprint == served.fingerprint()) return false;
  if (!is_told(model.among) || !is_told(reached) || model.among.line != reached.line) return true;
  return model.among.sequence > reached.sequence;
}

Seen Watch::take_model(const std::string& name) {
  Seen seen = take(place_, path_of(name), {});
  return seen.what == What::kFailed ? set_bad(name, std::move(seen)) : seen;
}

/// Nothing where its problem was told before.
Seen Watch::set_bad(const std::string& name, Seen seen) {
  Found& found = files_.at(name);
  found.is_bad = true;
  if (seen.problem == std::exchange(found.problem, seen.problem)) return {};
  return seen;
}

Seen Watch::take_patches(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(path_of(name));
  Seen seen = take(place_, "", paths);
  if (seen.what != What::kFailed) {
    for (const std::string& name : names) files_.at(name).was_served = true;
    return seen;
  }
  // Patches before the damaged one are of use.
  for (const std::string& name : names) {
    try {
      patch::check_patch(path_of(name));
    } catch (const std::exception&) {
      return set_bad(name, std::move(seen));
    }
  }
  return set_bad(names.front(), std::move(seen));
}

}  // namespace leveret::serve
