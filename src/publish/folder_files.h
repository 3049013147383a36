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

/// Whether publishers write and remove files of this name (but for the manifest).
bool is_of_a_step(std::string_view name);

/// Removes files that are named as those of steps are and that are none of `kept`, and what there
/// is beside them while somebody publishes; nothing else. While nobody publishes in the folder.
/// A file that cannot be removed stays: it is in nobody's way, and the next one tries again.
void remove_litter(const std::string& folder, const std::vector<std::string>& kept) noexcept;

}  // namespace leveret::publish
