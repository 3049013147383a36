#include "daemon/worker.h"

namespace leveret::daemon {

Worker::Worker(const Models& models, const ScorerOptions& options, std::size_t context_bytes)
    : models_(models), options_(options), contexts_(context_bytes) {
  for (std::size_t i = 0; i < models_.size(); ++i) of_models_.emplace_back();
}

std::shared_ptr<Scorer> Worker::scorer(std::size_t model) {
  OfModel& of = of_models_[model];
  const serve::Place& place = *models_[model].place;
  const std::uint64_t now = place.time();
  if (of.scorer && of.time == now) return of.scorer;
  of.scorer.reset();  // its predictors go before the next ones come
  of.scorer =
      std::make_shared<Scorer>(place.get(), models_[model].name, options_, contexts_, of.counts);
  of.time = now;
  return of.scorer;
}

void Worker::drop_old() {
  for (std::size_t i = 0; i < models_.size(); ++i) {
    OfModel& of = of_models_[i];
    if (of.scorer && of.time != models_[i].place->time()) of.scorer.reset();
  }
}

}  // namespace leveret::daemon
