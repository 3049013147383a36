/// Little-endian bytes of files and messages: appending, and reading what may be hostile.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace leveret::files {

static_assert(std::endian::native == std::endian::little, "arrays go there as they are");

template <typename T>
void put(std::string& to, T value) {
  static_assert(std::is_arithmetic_v<T>);
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void put_text(std::string& to, std::string_view text) {
  put(to, static_cast<std::uint32_t>(text.size()));
  to.append(text);
}

template <typename T>
void put_array(std::string& to, const T* values, std::size_t count) {
  static_assert(std::is_arithmetic_v<T>);
  if (count > 0) to.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

/// Takes values off the front of bytes; what is missing or makes no sense is a BadBytes.
class BytesReader {
 public:
  struct BadBytes : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  explicit BytesReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) throw BadBytes("it ends too early");
    const std::string_view front = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return front;
  }
  /// Bytes of `count` elements of `size` bytes each.
  std::string_view take_array(std::size_t count, std::size_t size) {
    if (count > bytes_.size() / size) throw BadBytes("it ends too early");
    return take(count * size);
  }
  template <typename T>
  void get_array(std::size_t count, std::vector<T>& to) {
    const std::string_view bytes = take_array(count, sizeof(T));
    to.resize(count);
    if (count > 0) std::memcpy(to.data(), bytes.data(), bytes.size());
  }
  template <typename T>
  std::vector<T> get_array(std::size_t count) {
    std::vector<T> values;
    get_array(count, values);
    return values;
  }
  std::string_view get_text() { return take(get<std::uint32_t>()); }
  /// A count of things that take at least `size_each` bytes each of what follows.
  std::uint32_t get_count(std::size_t size_each) {
    const auto count = get<std::uint32_t>();
    if (count > bytes_.size() / size_each) throw BadBytes("a count is larger than the data");
    return count;
  }
  bool empty() const { return bytes_.empty(); }
  void check(bool ok, const char* what) const {
    if (!ok) throw BadBytes(what);
  }

 private:
  std::string_view bytes_;
};

}  // namespace leveret::files
