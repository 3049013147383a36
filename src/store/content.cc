#include "store/content.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "files/file_identity.h"
#include "store/layout_bytes.h"
#include "store/model_file.h"
#include "store/plain_file.h"

namespace leveret::store {
namespace {

constexpr std::size_t kLookAt = 64 << 10;
constexpr std::string_view kCacheMagic = "LVRTCACH";  // cache/cache_format.h
constexpr std::string_view kMetricsBegin =
    "# HELP leveret_";  // the first of /metrics, train, publish
constexpr std::string_view kGzip = "\x1f\x8b", kZstd = "\x28\xb5\x2f\xfd";

/// std::runtime_error where it cannot be read.
std::string start_of(const std::string& path) {
  const PlainFile file(path);
  std::string start(std::min<std::uint64_t>(file.bytes(), kLookAt), '\0');
  file.read_at(0, std::as_writable_bytes(std::span(start)));
  return start;
}

std::string_view text_of(const std::array<unsigned char, 8>& magic) {
  return {reinterpret_cast<const char*>(magic.data()), magic.size()};
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' && c != '\r';
}

/// A number, and a tag behind a space; or nothing, as between requests.
bool is_prediction(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return true;
  const std::string_view number = line.substr(0, line.find(' '));
  float value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) return false;
  const std::string_view tag = line.substr(std::min(number.size() + 1, line.size()));
  return tag.find_first_of(" |\t") == std::string_view::npos;
}

Content content_of_text(std::string_view text) {
  if (std::ranges::any_of(text, is_control)) return Content::kOther;
  if (text.starts_with(kMetricsBegin)) return Content::kMetrics;
  if (text.find('|') != std::string_view::npos) return Content::kExamples;
  if (text[0] == '{') return Content::kJson;
  // The last line may be cut.
  if (text.size() == kLookAt) text = text.substr(0, text.rfind('\n') + 1);
  if (text.empty()) return Content::kText;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (!is_prediction(text.substr(begin, end - begin))) return Content::kText;
    begin = end + 1;
  }
  return Content::kNumbers;
}

/// One that is damaged, or a newer program's, counts as what is lost with most regret.
Content content_of_model(const std::string& path) try {
  return ModelFile::open(path).kind() == Kind::kExport ? Content::kExport : Content::kModel;
} catch (const std::exception&) {
  return Content::kModel;
}

}  // namespace

Content content_of(const std::string& path) noexcept try {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0 ||
      files::names_descriptor(path)) {
    return Content::kNothing;
  }
  const std::string start = start_of(path);
  const std::string_view bytes = start;
  if (bytes.empty()) return Content::kNothing;
  if (bytes.starts_with(kGzip) || bytes.starts_with(kZstd)) return Content::kPacked;
  if (bytes.starts_with(text_of(kPatchMagic))) return Content::kPatch;
  if (bytes.starts_with(kCacheMagic)) return Content::kCache;
  return bytes.starts_with(text_of(kMagic)) ? content_of_model(path) : content_of_text(bytes);
} catch (...) {
  return Content::kOther;
}

const char* name_of(Content content) {
  switch (content) {
    case Content::kNothing:
      return "nothing";
    case Content::kNumbers:
      return "predictions";
    case Content::kModel:
      return "a model that learns";
    case Content::kExport:
      return "a model to serve";
    case Content::kPatch:
      return "a patch";
    case Content::kCache:
      return "a cache";
    case Content::kJson:
      return "JSON";
    case Content::kMetrics:
      return "metrics for Prometheus";
    case Content::kExamples:
      return "examples";
    case Content::kText:
      return "text";
    case Content::kPacked:
      return "what gzip or zstd has packed";
    case Content::kOther:
      break;
  }
  return "of an unknown kind";
}

void check_may_replace(Content by, const std::string& path) {
  const Content there = content_of(path);
  if (may_replace(by, there)) return;
  throw std::runtime_error(
      fmt::format("{}: holds {}, which would be lost; name another file, or remove that one", path,
                  name_of(there)));
}

}  // namespace leveret::store
