/// Which files of a folder belong to the model in it, told without opening them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leveret::dist {

/// Whether saves write and remove files of this name: G.frame.lvt, G.shard-K.lvt.
bool is_of_a_save(std::string_view name);

/// The same, or the manifest's name.
bool is_in_a_model(std::string_view name);

/// Names of the files in a folder that are those of a model there, or of what saves have left; and
/// those that its manifest names, if it can be read. Nothing where `folder` is none.
std::vector<std::string> names_in_model(const std::string& folder);

}  // namespace leveret::dist
