// What other programs may hand to libleveret: text and arrays, as contexts and as candidates. The
// first byte chooses; what is answered is a probability or a reason.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "golden_path.h"
#include "leveret/leveret.h"

namespace {

leveret_predictor* predictor() {
  leveret_model* model = nullptr;
  leveret_predictor* made = nullptr;
  if (leveret_model_open(leveret::golden_path("model-v1.lvt").c_str(), &model) != LEVERET_OK ||
      leveret_predictor_new(model, "A", &made) != LEVERET_OK) {
    __builtin_trap();
  }
  leveret_model_close(model);
  return made;
}

void check(int code, const std::vector<float>& probabilities) {
  if (code == LEVERET_FAILED || code == LEVERET_NO_MEMORY) __builtin_trap();
  if (code != LEVERET_OK) return;
  for (const float p : probabilities) {
    if (p < 0 || p > 1) __builtin_trap();  // NaN where values are too large to be multiplied
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static leveret_predictor* const made = predictor();
  if (size == 0) return 0;
  const unsigned bits = *data;
  const std::string text(data + 1, data + size);
  const int by = bits & 4 ? LEVERET_BY_FIELD : LEVERET_BY_NAMESPACE;
  std::vector<leveret_feature> features(text.size() / sizeof(leveret_feature));
  if (!features.empty())
    std::memcpy(features.data(), text.data(), sizeof features[0] * features.size());
  std::size_t lines = !text.empty() && text.back() != '\n';
  for (const char c : text) lines += c == '\n';
  if (bits & 1) {
    const std::string line = text.substr(0, text.find('\n'));
    check(bits & 2 ? leveret_set_context_features(made, by, features.data(), features.size() / 2)
                   : leveret_set_context(made, line.data(), line.size()),
          {});
  } else {
    leveret_clear_context(made);
  }
  std::vector<float> p(lines);
  check(leveret_predict_lines(made, text.data(), text.size(), p.data(), lines), p);
  const std::vector<std::size_t> ends = {features.size() / 2, features.size()};
  p.assign(2, 0.0f);
  check(leveret_predict_features(made, by, features.data(), ends.data(), p.data(), 2), p);
  return 0;
}
