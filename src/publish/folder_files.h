/// The names of files in a folder of `leveret publish`, and what killed publishers have left there.
/// Private to publish.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leveret::publish {

/// A step's full file and its patch: "7.lvt", "7.patch".
std::string full_name(std::uint64_t step);
std::string patch_name(std::uint64_t step);

/// Files that are there while somebody publishes; hidden, so that nobody takes them for files of a
/// step: what is to be published, and the model that it follows.
inline constexpr const char* kCandidate = ".candidate.lvt";
inline constexpr const char* kBase = ".base.lvt";

/// A name in the folder, which has no manifest: any that is not hidden, or that a publisher would
/// remove. Empty: there is none. std::runtime_error where the folder cannot be read.
std::string name_of_other(const std::string& folder);

/// Removes files that are named as those of steps up to `last` are and that are none of `kept`, and
/// what there is beside them while somebody publishes; nothing else. While nobody publishes in the
/// folder, which has a manifest: in any other, such files are somebody else's. A file that cannot
/// be removed stays: it is in nobody's way, and the next one tries again.
void remove_litter(const std::string& folder, const std::vector<std::string>& kept,
                   std::uint64_t last) noexcept;

}  // namespace leveret::publish
