#include "patch/patch_chain.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace leveret::patch {
namespace {

std::string name_of(const PatchEnd& end) {
  std::string name = store::to_hex(end.fingerprint);
  if (end.sequence != kNoSequence) name += fmt::format(" (sequence {})", end.sequence);
  return name;
}

}  // namespace

PatchChain::PatchChain(const std::vector<std::string>& paths) {
  links_.reserve(paths.size());
  for (const std::string& path : paths) {
    PatchReader patch(path);
    Link& link = links_.emplace_back(Link{patch.path(), patch.front(), std::nullopt});
    if (!patch.can_be_opened_again()) link.pipe.emplace(std::move(patch));
  }
}

void PatchChain::check() const {
  for (std::size_t i = 1; i < links_.size(); ++i) {
    const Link &one = links_[i - 1], &next = links_[i];
    if (one.front.kind != next.front.kind) {
      throw std::runtime_error(fmt::format(
          "{} is a patch of {}, but {} before it is not; apply them one by one", next.path,
          next.front.kind == PatchKind::kBytes ? "bytes (diff --bytes)" : "models", one.path));
    }
    if (one.front.result.fingerprint == next.front.base.fingerprint) continue;
    throw std::runtime_error(fmt::format(
        "{}: its base is {}, but {} before it makes {}; give every patch of the chain, in order",
        next.path, name_of(next.front.base), one.path, name_of(one.front.result)));
  }
}

std::size_t PatchChain::start(const store::Checksum& fingerprint, const std::string& path) const {
  const Link &first = links_.front(), &last = links_.back();
  if (last.front.result.fingerprint == fingerprint) return links_.size();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].front.base.fingerprint == fingerprint) return i;
  }
  throw std::runtime_error(fmt::format(
      "{}: its fingerprint is {}, but {} is for {}, which becomes {}; apply the patches in between "
      "first, or take the full file",
      path, store::to_hex(fingerprint), first.path, name_of(first.front.base),
      name_of(last.front.result)));
}

PatchReader PatchChain::open(std::size_t i) {
  Link& link = links_[i];
  if (link.pipe) return std::move(*link.pipe);
  PatchReader patch(link.path);
  if (patch.front() == link.front) return patch;
  throw std::runtime_error(fmt::format(
      "{}: has changed since it was checked; run the command again when nothing writes to the file",
      link.path));
}

}  // namespace leveret::patch
