/// The kinds of files that are told apart before one is written over: some may be unasked.
#pragma once

#include <string>

namespace leveret::store {

enum class Content {
  kNothing,  ///< there is no file, it is empty, or is none that keeps bytes (a pipe, /dev/null)
  kNumbers,  ///< lines of a number, and a tag: predictions
  kModel,    ///< that learns
  kExport,   ///< a model to serve
  kPatch,
  kCache,
  kJson,      ///< text that begins with a brace: metrics
  kMetrics,   ///< of ours, in Prometheus' text format
  kExamples,  ///< text with namespaces
  kText,      ///< any other
  kPacked,    ///< by gzip or zstd
  kOther,     ///< bytes, or a file that may not be read
};

/// By its first 64 KiB. Waits for nobody, throws nothing.
Content content_of(const std::string& path) noexcept;

/// Whether nobody loses what he may want when a file of the one kind takes the place of the other:
/// numbers are made again, and the same kind is what the same command has left.
constexpr bool may_replace(Content by, Content there) {
  return there == Content::kNothing || there == Content::kNumbers || there == by;
}

/// "examples", for messages.
const char* name_of(Content content);

/// Whoever uses the library has no option that says --overwrite: std::runtime_error where the file
/// may not be replaced.
void check_may_replace(Content by, const std::string& path);

}  // namespace leveret::store
