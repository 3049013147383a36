#include "publish/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "patch/patch_check.h"
#include "store/model_file.h"

namespace leveret::publish {
namespace {

using Kind = Entry::Kind;

// Manifests that may come, one after the other, while files are read.
constexpr int kManifests = 10;

/// A file that is not there: the manifest may be older than the folder.
struct Gone : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void verify(const std::string& path, const Entry& entry) {
  const std::optional<files::FileState> state = files::state_of(path);
  if (!state) throw Gone(path + ": is missing, though the manifest names it");
  const auto refuse = [&](const char* what) {
    throw std::runtime_error(fmt::format(
        "{}: {} than the manifest says; copy the file again, or wait until it is copied", path,
        what));
  };
  if (state->bytes != entry.bytes) refuse("has another length");
  if (entry.kind == Kind::kPatch) {
    const patch::PatchFront front = patch::check_patch(path);
    if (front.base.fingerprint != *entry.base || front.result.fingerprint != entry.fingerprint) {
      refuse("is another patch");
    }
    return;
  }
  const store::ModelFile file = store::ModelFile::open(path);
  if (file.fingerprint() != entry.fingerprint) refuse("is another model");
  for (const store::StoredSection& section : file.sections()) file.verify(section);
}

/// A way and the files of it.
struct Route {
  std::vector<const Entry*> files;
  std::uint64_t bytes() const {
    return std::accumulate(
        files.begin(), files.end(), std::uint64_t{0},
        [](std::uint64_t sum, const Entry* entry) { return sum + entry->bytes; });
  }
};

/// Patches from what is served, and each full file with the patches behind it, by their bytes.
std::vector<Route> routes(const Manifest& manifest, const std::optional<store::Checksum>& served) {
  std::vector<Route> all;
  std::vector<const Entry*> behind;  // patches to the newest step, the last one first
  for (std::uint64_t step = manifest.newest().step; step > 0; --step) {
    const auto add = [&](const Entry* first) {
      Route route = {behind};
      route.files.push_back(first);
      std::ranges::reverse(route.files);
      all.push_back(std::move(route));
    };
    if (const Entry* const full = manifest.find(step, Kind::kFull)) add(full);
    const Entry* const patch = manifest.find(step, Kind::kPatch);
    if (patch == nullptr) break;
    if (served && *patch->base == *served) add(patch);
    behind.push_back(patch);
  }
  std::ranges::stable_sort(all, {}, &Route::bytes);
  return all;
}

}  // namespace

Follower::Follower(std::string folder) : folder_(std::move(folder)) {}

bool Follower::changed() const { return files::state_of(manifest_path(folder_)) != state_; }

/// The state comes first: what is written behind it is another one at the next look.
void Follower::read_again() {
  const std::optional<files::FileState> state = files::state_of(manifest_path(folder_));
  std::optional<Manifest> manifest = read_manifest(folder_);
  if (!manifest || manifest->empty()) {
    throw NoSteps(
        fmt::format("{}: is not there, or has no steps; `leveret publish {} -i MODEL` writes it",
                    manifest_path(folder_), folder_));
  }
  manifest_ = std::move(*manifest);
  state_ = state;
}

Way Follower::next(const std::optional<store::Checksum>& served) {
  if (!state_ || changed()) {
    state_.reset();
    read_again();
  }
  for (int manifests = 1;; ++manifests) {
    try {
      return way(served);
    } catch (const Gone&) {
      if (manifests == kManifests || !changed()) throw;
    }
    state_.reset();
    read_again();
  }
}

/// Gone: a file of the way is not there, and the manifest has changed since.
Way Follower::way(const std::optional<store::Checksum>& served) const {
  const Entry& newest = manifest_.newest();
  Way way;
  way.step = newest.step;
  way.fingerprint = newest.fingerprint;
  way.sequence = newest.sequence;
  if (served && *served == newest.fingerprint) return way;
  for (const Route& route : routes(manifest_, served)) {
    try {
      way.full.clear();
      way.patches.clear();
      for (const Entry* const entry : route.files) {
        std::string path = folder_ + '/' + entry->file;
        verify(path, *entry);
        if (entry->kind == Kind::kPatch) {
          way.patches.push_back(std::move(path));
        } else {
          way.full = std::move(path);
        }
      }
      return way;
    } catch (const Gone& gone) {
      if (changed()) throw;
      way.avoided.emplace_back(gone.what());
    } catch (const std::runtime_error& error) {
      way.avoided.emplace_back(error.what());
    }
  }
  throw std::runtime_error(way.avoided.empty()
                               ? manifest_path(folder_) + ": names no file of its newest step"
                               : way.avoided.front());
}

}  // namespace leveret::publish
