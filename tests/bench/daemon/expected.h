/// What each version of a model is to answer, as `leveret predict` has said before.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "requests.h"

namespace leveret::load {

class Expected {
 public:
  /// `given`: "FINGERPRINT=FILE", what predict with that model has written of the file of requests.
  /// std::runtime_error where a file has another number of answers than there are requests.
  Expected(const std::vector<std::string>& given, const std::vector<Request>& requests,
           const RequestOptions& options);

  bool is_empty() const { return versions_.empty(); }
  /// Whether `body` is what the version says of the request; with an empty fingerprint, what any
  /// of them says.
  bool is_right(std::string_view fingerprint, std::size_t request, std::string_view body);
  /// How many right answers came of each version. Those without a fingerprint count for the first
  /// version that says so.
  std::map<std::string, std::size_t> counts() const;

 private:
  struct Version {
    std::string fingerprint;
    std::vector<std::string> answers;  ///< by request, as they come over the socket
    std::size_t count = 0;
  };
  bool is_equal(const std::string& answer, std::string_view body) const;

  const Protocol protocol_;
  std::vector<Version> versions_;
};

}  // namespace leveret::load
