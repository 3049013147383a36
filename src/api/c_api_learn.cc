/// The part of the C interface that learns, and that evaluates. Its other parts stand in
/// api/c_api.cc.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <string_view>

#include "api/c_api.h"
#include "api/online_learner.h"
#include "metrics/metrics.h"

using leveret::api::answer;
using leveret::api::Arrays;
using leveret::api::fail;
using leveret::api::need;
using leveret::api::need_features;
using leveret::api::OnlineLearner;
using leveret::api::Progress;
using leveret::api::text_of;
using leveret::serve::BadArgument;

struct leveret_learner {
  explicit leveret_learner(std::unique_ptr<OnlineLearner> learner) : learner(std::move(learner)) {}

  std::unique_ptr<OnlineLearner> learner;
  Progress progress;
};

namespace {

OnlineLearner& learner_of(leveret_learner* learner) {
  need(learner, "learner");
  return *learner->learner;
}

/// `open` makes the learner.
template <class Open>
int open_learner(int other, leveret_learner** learner, Open open) noexcept {
  return answer(other, [&] {
    need(learner, "learner");
    *learner = nullptr;
    *learner = std::make_unique<leveret_learner>(open()).release();
  });
}

/// Does `work`, which learns, and says whether it was let to its end.
template <class Work>
int learn(Work work) noexcept {
  bool stopped = false;
  const int code = answer(LEVERET_FAILED, [&] { stopped = !work(); });
  if (code != LEVERET_OK || !stopped) return code;
  return fail(LEVERET_STOPPED, "the progress function has ended the call");
}

void put(const leveret::metrics::MetricsSnapshot& from, leveret_metrics& to) {
  to = {from.examples,       from.not_finite, from.weight, from.logloss,     from.auc,
        from.auc_error,      from.ne,         from.rig,    from.calibration, from.base_rate,
        from.mean_prediction};
}

}  // namespace

int leveret_learner_open(const char* options, leveret_learner** learner) {
  return open_learner(LEVERET_FAILED, learner, [&] {
    return std::make_unique<OnlineLearner>(options != nullptr ? options : "");
  });
}

int leveret_learner_resume(const char* path, const char* options, leveret_learner** learner) {
  return open_learner(LEVERET_BAD_FILE, learner, [&] {
    need(path, "path");
    return std::make_unique<OnlineLearner>(options != nullptr ? options : "", path);
  });
}

void leveret_learner_close(leveret_learner* learner) { delete learner; }

int leveret_learner_set_progress(leveret_learner* learner, leveret_progress progress, void* data) {
  return answer(LEVERET_FAILED, [&] {
    need(learner, "learner");
    learner->progress = nullptr;
    if (progress == nullptr) return;
    learner->progress = [=](size_t learned, size_t count) {
      return progress(data, learned, count) == 0;
    };
  });
}

int leveret_learner_learn_lines(leveret_learner* learner, const char* text, size_t size,
                                float* probabilities, size_t count) {
  return learn([&] {
    return learner_of(learner).learn(text_of(text, size, "text"), probabilities, count,
                                     learner->progress);
  });
}

int leveret_learner_learn_features(leveret_learner* learner, const float* labels,
                                   const float* importances, const leveret_feature* features,
                                   const size_t* ends, float* probabilities, size_t count) {
  return learn([&] {
    OnlineLearner& to = learner_of(learner);
    if (count > 0) need(labels, "labels");
    need_features(features, ends, count);
    return to.learn(Arrays{labels, importances, features, {ends, count}}, probabilities,
                    learner->progress);
  });
}

int leveret_learner_predict_lines(leveret_learner* learner, const char* text, size_t size,
                                  float* probabilities, size_t count) {
  return answer(LEVERET_FAILED, [&] {
    OnlineLearner& by = learner_of(learner);
    if (count > 0) need(probabilities, "probabilities");
    by.predict(text_of(text, size, "text"), {probabilities, count});
  });
}

int leveret_learner_predict_features(leveret_learner* learner, const leveret_feature* features,
                                     const size_t* ends, float* probabilities, size_t count) {
  return answer(LEVERET_FAILED, [&] {
    OnlineLearner& by = learner_of(learner);
    if (count > 0) need(probabilities, "probabilities");
    need_features(features, ends, count);
    by.predict(features, {ends, count}, {probabilities, count});
  });
}

int leveret_learner_hash_namespace(leveret_learner* learner, const char* name, size_t size,
                                   uint32_t* hash) {
  return answer(LEVERET_FAILED, [&] {
    need(hash, "hash");
    *hash = learner_of(learner).hash_namespace(text_of(name, size, "name"));
  });
}

int leveret_learner_hash_feature(const leveret_learner* learner, uint32_t namespace_hash,
                                 const char* name, size_t size, uint32_t* hash) {
  return answer(LEVERET_FAILED, [&] {
    need(learner, "learner");
    need(hash, "hash");
    *hash = learner->learner->hash_feature(namespace_hash, text_of(name, size, "name"));
  });
}

int leveret_learner_save(leveret_learner* learner, const char* path) {
  return answer(LEVERET_BAD_FILE, [&] {
    OnlineLearner& from = learner_of(learner);
    need(path, "path");
    if (*path == '\0') throw BadArgument("path is empty");
    from.save(path);
  });
}

int leveret_learner_lines(const leveret_learner* learner, uint64_t* lines) {
  return answer(LEVERET_FAILED, [&] {
    need(learner, "learner");
    need(lines, "lines");
    *lines = learner->learner->lines();
  });
}

int leveret_learner_metrics(leveret_learner* learner, leveret_metrics* metrics) {
  return answer(LEVERET_FAILED, [&] {
    OnlineLearner& of = learner_of(learner);
    need(metrics, "metrics");
    put(of.metrics(), *metrics);
  });
}

int leveret_evaluate(const float* labels, const float* importances, const float* probabilities,
                     size_t count, leveret_metrics* metrics) {
  return answer(LEVERET_FAILED, [&] {
    need(metrics, "metrics");
    if (count > 0) need(labels, "labels");
    if (count > 0) need(probabilities, "probabilities");
    leveret::metrics::Metrics all(leveret::metrics::AucKind::kExact);
    for (size_t i = 0; i < count; ++i) {
      const float p = probabilities[i];
      if (std::isfinite(p) && (p < 0 || p > 1)) {
        throw BadArgument(
            fmt::format("prediction {} is {}: give a probability, from 0 to 1; a log-odds x has "
                        "the probability "
                        "1 / (1 + exp(-x))",
                        i, p));
      }
      all.add(p, leveret::api::label_of(labels, i), leveret::api::importance_of(importances, i));
    }
    put(all.snapshot(), *metrics);
  });
}
