// The text of --transform, both ways.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <unordered_set>

#include "feature/transform.h"

namespace leveret::feature {
namespace {

struct Function {
  std::string_view name;
  std::size_t min_sources, max_sources;
  std::size_t min_parameters, max_parameters;
  const char* form;
};

/// In the order of TransformKind.
constexpr std::array<Function, 8> kFunctions = {{
    {"BinnerSqrt", 1, 1, 0, 2, "BinnerSqrt(A)(greater_than,resolution)"},
    {"BinnerSqrtPlain", 1, 1, 0, 2, "BinnerSqrtPlain(A)(greater_than,resolution)"},
    {"BinnerLog", 1, 1, 0, 2, "BinnerLog(A)(greater_than,resolution)"},
    {"BinnerLogPlain", 1, 1, 0, 2, "BinnerLogPlain(A)(greater_than,resolution)"},
    {"BinnerLogRatio", 2, 2, 0, 2, "BinnerLogRatio(A,B)(greater_than,resolution)"},
    {"BinnerLogRatioPlain", 2, 2, 0, 2, "BinnerLogRatioPlain(A,B)(greater_than,resolution)"},
    {"Combine", 2, 4, 0, 0, "Combine(A,B), with two to four namespaces and no parameters"},
    {"Weight", 1, 1, 1, 1, "Weight(A)(factor)"},
}};

const Function& function_of(TransformKind kind) {
  return kFunctions[static_cast<std::size_t>(kind)];
}

bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' '; }

bool is_name_byte(char c) {
  return !is_blank(c) && std::string_view("()=,|:").find(c) == std::string_view::npos;
}

class DefinitionParser {
 public:
  explicit DefinitionParser(std::string_view text) : text_(text) { skip_blanks(); }

  bool at_end() const { return at_ == text_.size(); }

  Transform next() {
    definition_ = at_;
    Transform transform;
    transform.name = word("the new namespace's name");
    expect('=');
    const std::size_t name_at = at_;
    transform.kind = kind(word("a function"), name_at);
    const Function& function = function_of(transform.kind);
    parse_sources(function, transform);
    parse_parameters(function, transform);
    return transform;
  }

  /// Column `at` of the text, told within the definition that it belongs to.
  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    constexpr std::size_t kShown = 80;
    const std::string_view rest = text_.substr(definition_);
    throw std::runtime_error(fmt::format("--transform \"{}{}\", column {}: {}",
                                         rest.substr(0, kShown), rest.size() > kShown ? "…" : "",
                                         at - definition_ + 1, what));
  }
  [[noreturn]] void fail_definition(const std::string& what) const { fail(definition_, what); }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  bool accept(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    skip_blanks();
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(at_, fmt::format("expected {}", c));
  }

  std::string word(const char* what) {
    const std::size_t begin = at_;
    while (!at_end() && is_name_byte(text_[at_])) ++at_;
    if (at_ == begin) fail(at_, fmt::format("expected {}", what));
    const std::string name(text_.substr(begin, at_ - begin));
    skip_blanks();
    return name;
  }

  TransformKind kind(const std::string& name, std::size_t name_at) const {
    const auto found = std::ranges::find(kFunctions, name, &Function::name);
    if (found != kFunctions.end()) return static_cast<TransformKind>(found - kFunctions.begin());
    std::string known;
    for (const Function& f : kFunctions) known.append(known.empty() ? "" : ", ").append(f.name);
    fail(name_at, fmt::format("there is no function {}; there are {}", name, known));
  }

  void parse_sources(const Function& function, Transform& transform) {
    expect('(');
    do {
      const std::size_t begin = at_;
      std::string source = word("a namespace");
      if (std::ranges::find(transform.sources, source) != transform.sources.end()) {
        fail(begin, fmt::format("namespace {} comes twice", source));
      }
      transform.sources.push_back(std::move(source));
      if (transform.sources.size() > function.max_sources) {
        fail(begin, fmt::format("too many namespaces: write {}", function.form));
      }
    } while (accept(','));
    if (transform.sources.size() < function.min_sources) {
      fail(at_, fmt::format("too few namespaces: write {}", function.form));
    }
    expect(')');
  }

  void parse_parameters(const Function& function, Transform& transform) {
    const std::size_t begin = at_;
    if (accept('(') && !accept(')')) {
      do {
        if (transform.parameters.size() == function.max_parameters) {
          fail(at_, fmt::format("too many parameters: write {}", function.form));
        }
        const std::size_t number_at = at_;
        transform.parameters.push_back(number());
        check_parameter(transform, number_at);
      } while (accept(','));
      expect(')');
    }
    if (transform.parameters.size() < function.min_parameters) {
      fail(begin, fmt::format("too few parameters: write {}", function.form));
    }
    constexpr float kBinnerDefaults[] = {0, 1};
    while (transform.parameters.size() < function.max_parameters) {
      transform.parameters.push_back(kBinnerDefaults[transform.parameters.size()]);
    }
  }

  float number() {
    float value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) fail(at_, "expected a finite number");
    at_ = static_cast<std::size_t>(end - text_.data());
    skip_blanks();
    return value;
  }

  void check_parameter(const Transform& transform, std::size_t at) const {
    const float value = transform.parameters.back();
    if (transform.kind == TransformKind::kWeight) {
      if (value == 0) fail(at, "a factor of 0 leaves no feature; leave the transform out");
    } else if (transform.parameters.size() == 1) {
      if (!(value >= 0)) fail(at, "greater_than must be at least 0");
    } else if (!(value > 0)) {
      fail(at, "resolution must be above 0");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t definition_ = 0;  ///< where the current one begins
};

}  // namespace

std::vector<Transform> parse_transforms(std::string_view text) {
  std::vector<Transform> transforms;
  std::unordered_set<std::string> names;
  for (DefinitionParser parser(text); !parser.at_end();) {
    transforms.push_back(parser.next());
    const std::string& name = transforms.back().name;
    if (!names.insert(name).second) {
      parser.fail_definition(fmt::format("namespace {} is defined twice", name));
    }
    if (transforms.size() > kMaxTransforms) {
      parser.fail_definition(fmt::format("more than {} transforms", kMaxTransforms));
    }
  }
  // For their checks; the second one would not end in a cycle.
  transform_order(transforms);
  number_sources(transforms);
  return transforms;
}

std::string_view transform_kind_name(TransformKind kind) { return function_of(kind).name; }

std::string transforms_text(const std::vector<Transform>& transforms) {
  std::string text;
  for (const Transform& transform : transforms) {
    text += fmt::format("{}{}={}({})({})", text.empty() ? "" : " ", transform.name,
                        transform_kind_name(transform.kind), fmt::join(transform.sources, ","),
                        fmt::join(transform.parameters, ","));
  }
  return text;
}

}  // namespace leveret::feature
