// Whatever a client sends as lines: as many answers as lines, and the same however it is cut. The
// first byte chooses blocks or lines, and where to cut.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/line_protocol.h"
#include "golden_path.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leveret::daemon;
  static const Models models({"one=" + leveret::golden_path("model-v1.lvt"),
                              "two=" + leveret::golden_path("export-v1.lvt")});
  static const ScorerOptions options{.context = {"A"}, .max_line = 1000};
  static Worker worker(models, options, 20000);
  if (size == 0) return 0;
  const bool blocks = *data & 1;
  std::string text(data + 1, data + size);
  if (text.empty() || text.back() != '\n') text += '\n';

  std::string at_once, in_two;
  LineProtocol first(worker, blocks);
  first.answer(text, at_once);
  first.end(at_once);
  std::size_t cut = text.find('\n', (*data >> 1) * text.size() / 128);
  cut = cut == std::string::npos ? text.size() : cut + 1;
  LineProtocol second(worker, blocks);
  second.answer(std::string_view(text).substr(0, cut), in_two);
  second.answer(std::string_view(text).substr(cut), in_two);
  second.end(in_two);
  if (at_once != in_two) __builtin_trap();
  if (!blocks && std::ranges::count(at_once, '\n') != std::ranges::count(text, '\n')) {
    __builtin_trap();
  }
  return 0;
}
