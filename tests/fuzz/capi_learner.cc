// What other programs may hand to a learner of libleveret: text and arrays, in calls that are cut
// in two. The first byte chooses; what is answered is a probability or a reason, and each line is
// taken once.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "leveret/leveret.h"

namespace {

const char* const kOptions[] = {
    "--ffm_k 2 --hidden 4",
    "--ffm_k 0 -b 8 -q ab",
    "--ffm_k 2 --hidden none --batch_size 3 --batch_warmup 0",
    "--ffm_k 2 --hidden none --transform new=BinnerLog(a)(1,2) --transform both=Combine(a,b)",
};

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void check(int code, const std::vector<float>& probabilities) {
  require(code != LEVERET_FAILED && code != LEVERET_NO_MEMORY && code != LEVERET_STOPPED);
  for (const float p : probabilities) require(std::isnan(p) || (p >= 0 && p <= 1));
}

std::uint64_t lines_of(const leveret_learner* learner) {
  std::uint64_t lines = 0;
  require(leveret_learner_lines(learner, &lines) == LEVERET_OK);
  return lines;
}

void learn_lines(leveret_learner* learner, const std::string& text) {
  std::size_t lines = !text.empty() && text.back() != '\n';
  for (const char c : text) lines += c == '\n';
  std::vector<float> p(lines);
  const std::uint64_t before = lines_of(learner);
  check(leveret_learner_learn_lines(learner, text.data(), text.size(), p.data(), lines), p);
  require(lines_of(learner) - before == lines);
  check(leveret_learner_predict_lines(learner, text.data(), text.size(), p.data(), lines), p);
}

void learn_features(leveret_learner* learner, const std::string& bytes) {
  std::uint32_t space = 0;
  if (leveret_learner_hash_namespace(learner, "a", 1, &space) != LEVERET_OK) __builtin_trap();
  std::vector<leveret_feature> features(bytes.size() / sizeof(leveret_feature));
  if (features.empty()) return;
  std::memcpy(features.data(), bytes.data(), sizeof features[0] * features.size());
  for (leveret_feature& feature : features) feature.space = space + (feature.space == 7);
  const std::vector<std::size_t> ends = {features.size() / 2, features.size()};
  const std::vector<float> labels = {1, std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> p(2, 0.5f);
  check(leveret_learner_learn_features(learner, labels.data(), nullptr, features.data(),
                                       ends.data(), p.data(), 2),
        p);
  check(leveret_learner_predict_features(learner, features.data(), ends.data(), p.data(), 2), p);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(data + 1, data + size);
  leveret_learner* learner = nullptr;
  require(leveret_learner_open(kOptions[*data & 3], &learner) == LEVERET_OK);
  const std::size_t half = text.find('\n', text.size() / 2);
  learn_lines(learner, text.substr(0, half == std::string::npos ? half : half + 1));
  if (half != std::string::npos) learn_lines(learner, text.substr(half + 1));
  if (*data & 4) learn_features(learner, text);
  leveret_metrics metrics;
  require(leveret_learner_metrics(learner, &metrics) == LEVERET_OK);
  leveret_learner_close(learner);
  return 0;
}
