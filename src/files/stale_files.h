/// Temporary files of saves that were killed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace leveret::files {

/// The beginning of the names of temporary files for `target`, folder included; the number of
/// the writing process follows.
std::string temporary_prefix(const std::string& target);

/// Removes the temporary files for `target` whose writer is gone. Never throws: a file that cannot
/// be removed does not stop a save.
void remove_stale_files(const std::string& target) noexcept;
/// The same for all files of a folder whose names `is_ours` says are the caller's.
void remove_stale_files_in(const std::string& folder,
                           const std::function<bool(std::string_view name)>& is_ours) noexcept;

}  // namespace leveret::files
