#include "train/checkpoints.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "files/folder_lock.h"
#include "files/stale_files.h"

namespace leveret::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnd = ".lvt";

/// Nothing where the name is none of ours.
std::optional<std::uint64_t> number_of(std::string_view name) {
  if (!name.ends_with(kEnd)) return std::nullopt;
  name.remove_suffix(kEnd.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_whole = error == std::errc() && end == name.data() + name.size();
  return is_whole && name[0] != '0' ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string Checkpoints::path_of(std::uint64_t number) const {
  return fmt::format("{}/{}{}", folder_, number, kEnd);
}

/// In descending order.
std::vector<std::uint64_t> Checkpoints::numbers() const {
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    if (const auto number = number_of(it->path().filename().string())) numbers.push_back(*number);
  }
  std::ranges::sort(numbers, std::greater<>());
  return numbers;
}

std::vector<std::string> Checkpoints::newest_first() const {
  std::vector<std::string> paths;
  for (const std::uint64_t number : numbers()) paths.push_back(path_of(number));
  return paths;
}

std::string Checkpoints::next() {
  files::make_folder(folder_);
  return path_of(newest() + 1);
}

std::uint64_t Checkpoints::newest() const {
  const std::vector<std::uint64_t> all = numbers();
  return all.empty() ? 0 : all.front();
}

std::uint64_t Checkpoints::left() const {
  std::uint64_t number = 0;
  std::ifstream(note()) >> number;
  return number;
}

void Checkpoints::leave() const {
  std::ofstream file(note());
  if (!(file << newest() << '\n' << std::flush)) {
    throw std::runtime_error(note() + ": cannot be written; check the folder and the disk");
  }
}

void Checkpoints::take_back() const noexcept { ::unlink(note().c_str()); }

void Checkpoints::keep(std::size_t keep) noexcept try {
  const std::vector<std::uint64_t> all = numbers();
  const std::uint64_t behind = left();
  if (all.empty() || all.back() > behind) take_back();  // somebody has removed them
  for (std::size_t i = keep; i < all.size() && all[i] > behind; ++i) {
    ::unlink(path_of(all[i]).c_str());
  }
  files::remove_stale_files_in(folder_,
                               [](std::string_view name) { return number_of(name).has_value(); });
  if (keep == 0) ::rmdir(folder_.c_str());
} catch (...) {
}

}  // namespace leveret::train
