/// Finds where parts of a JSON text end, without a look at what is in them.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace leveret::daemon {

/// what() says what is wrong, and where.
struct BadJson : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Over a text that outlives it. Functions pass over white space first, and throw BadJson.
class JsonScan {
 public:
  explicit JsonScan(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  void go_to(std::size_t at) { at_ = at; }
  /// The next byte; '\0' at the end.
  char peek();
  bool is_at_end() { return peek() == '\0' && at_ == text_.size(); }
  /// Whether the next byte is this one, which then is passed over.
  bool take(char wanted);
  /// A string's bytes between its quotes, as they stand there.
  std::string_view take_string();
  /// An object with all that is in it; `else_what`: what is wrong where none begins.
  std::string_view take_object(std::string_view else_what);
  /// Says where it is.
  [[noreturn]] void fail(std::string_view what) const;

 private:
  [[noreturn]] void fail_at_end() const;

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace leveret::daemon
