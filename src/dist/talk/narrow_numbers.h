/// Columns of small numbers in messages, as narrow as the largest one lets them be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "dist/talk/communicator.h"
#include "files/bytes.h"

namespace leveret::dist {

template <class T>
void put_narrow(Bytes& to, std::span<const std::uint32_t> numbers) {
  const std::size_t at = to.size();
  to.resize(at + numbers.size() * sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<T>(numbers[i]);
    std::memcpy(to.data() + at + i * sizeof(T), &number, sizeof number);
  }
}

/// The width of an element, then all of them. The reader knows how many.
inline void put_numbers(Bytes& to, std::span<const std::uint32_t> numbers) {
  const std::uint32_t most = numbers.empty() ? 0 : *std::ranges::max_element(numbers);
  const std::uint8_t width = most < 1u << 8 ? 1 : most < 1u << 16 ? 2 : 4;
  files::put(to, width);
  if (width == 1) return put_narrow<std::uint8_t>(to, numbers);
  width == 2 ? put_narrow<std::uint16_t>(to, numbers) : put_narrow<std::uint32_t>(to, numbers);
}

template <class T>
void get_narrow(files::BytesReader& from, std::vector<std::uint32_t>& numbers) {
  const std::string_view bytes = from.take_array(numbers.size(), sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T number;
    std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof number);
    numbers[i] = number;
  }
}

inline std::vector<std::uint32_t> get_numbers(files::BytesReader& from, std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  const auto width = from.get<std::uint8_t>();
  from.check(width == 1 || width == 2 || width == 4, "a width is none");
  if (width == 1) get_narrow<std::uint8_t>(from, numbers);
  if (width == 2) get_narrow<std::uint16_t>(from, numbers);
  if (width == 4) get_narrow<std::uint32_t>(from, numbers);
  return numbers;
}

}  // namespace leveret::dist
