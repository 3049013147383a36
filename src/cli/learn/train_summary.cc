#include "cli/learn/train_summary.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/look/experts_load.h"
#include "feature/unmatched.h"
#include "metrics/figures_json.h"
#include "stream/bad_lines.h"

namespace leveret::cli {
namespace {

std::string figure(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : std::string("-");
}

std::string line(const char* name, const std::string& value) {
  return fmt::format("{:<18}{}\n", name, value);
}

/// "3, 6, 9, …"
std::string multiples_of(std::uint64_t n) {
  return fmt::format("{}, {}, {}, ...", n, 2 * n, 3 * n);
}

std::string about_passes(const PassFigures& passes) {
  std::string made = fmt::format("{} of {}", passes.made, passes.asked);
  if (passes.best > 0) {
    made += fmt::format("; pass {} was the best, and its model is kept", passes.best);
  } else if (passes.made > 0) {
    made += "; none is known to be the best";
  }
  if (passes.is_enough && passes.made < passes.asked) {
    made += "; the passes after it were no better (--early_terminate)";
  }
  const std::uint64_t count = passes.held_out.examples;
  return line("held out", fmt::format("examples {} of each pass{}; --holdout_off learns them, too",
                                      multiples_of(passes.period),
                                      count > 0 ? fmt::format(", {} with a label", count) : "")) +
         line("passes", made);
}

std::string about_learning(const RunFigures& run) {
  // Predictions of examples that were learned before say nothing of others.
  const bool is_held_out = run.passes && run.passes->best > 0;
  const metrics::MetricsSnapshot& total = is_held_out ? run.passes->held_out : run.total;
  std::string text = line("examples", fmt::format("{}", run.examples));
  text += line("average loss", figure(total.logloss, 6) + (is_held_out ? " h" : ""));
  text += line("auc", figure(total.auc, 4));
  text += line("ne", figure(total.ne, 4));
  text += line("calibration", figure(total.calibration, 4));
  if (run.passes) text += about_passes(*run.passes);
  if (!run.held_out) return text;
  return text + line("holdout loss",
                     fmt::format("{} over {} examples, auc {}", figure(run.held_out->logloss, 6),
                                 run.held_out->examples, figure(run.held_out->auc, 4)));
}

std::string about_experts(const model::Model& model) {
  std::string text;
  for (const ExpertsLoad& of : experts_load(model.parameters())) {
    text += line("experts", of.module + shares_text(of.shares));
  }
  return text;
}

/// Names what the model had no room for, or could not use.
std::string about_limits(const model::Model& model, const ModelFigures& figures) {
  std::string text;
  if (model.features().fieldless() > 0) {
    text += line("fieldless", fmt::format("{} namespaces beyond --max_fields are linear only",
                                          model.features().fieldless()));
  }
  const auto beside = feature::beside_fields(model.spec().features, model.features().plans());
  if (!beside.empty()) {
    text += line("linear only",
                 fmt::format("{} namespaces that no --field lists: {}", beside.size(),
                             stream::escaped(fmt::format("{}", fmt::join(beside, ", ")))));
  }
  if (!model.spec().features.numeric.empty() && model.parameters().layout.fields == 0) {
    text += line("at rest", "layers over fields: no namespace but those of --numeric has features");
  }
  for (const std::string& source : model.features().unread()) text += line("transform", source);
  if (figures.overflow_lookups > 0) {
    text += line("overflow",
                 fmt::format("{} look-ups, as --max_memory was reached", figures.overflow_lookups));
  }
  if (figures.forgotten > 0)
    text += line("forgotten", fmt::format("{} features", figures.forgotten));
  if (model.parameters().scalars.dropped_gradients > 0) {
    text += line("dropped", fmt::format("{} gradients that were not finite",
                                        model.parameters().scalars.dropped_gradients));
  }
  return text;
}

ModelFigures figures_of(const model::Model& model, const RunFigures& run) {
  const bool is_of_best = run.passes && run.passes->best > 0 && run.passes->weights > 0;
  return {.weights = is_of_best ? run.passes->weights : weight_count(model),
          .overflow_lookups = model.tables().overflow_lookups(),
          .forgotten = model.tables().forgotten(),
          .peak_memory = peak_memory()};
}

}  // namespace

std::uint64_t weight_count(const table::Tables& tables) {
  std::uint64_t count = tables.hashed() != nullptr ? tables.hashed()->used() : 0;
  for (const table::Shard& shard : tables) {
    if (shard.cells() != table::CellKind::kNone) count += shard.index().size();
    for (const table::RowPart& part : shard.rows().layout().parts()) {
      count += shard.rows().size() * part.slots * part.used_k;
    }
  }
  return count;
}

std::uint64_t weight_count(const model::Model& model) {
  std::uint64_t count = weight_count(model.tables());
  for (const tape::ConstDense& layer : model.parameters().layers()) {
    count += (std::uint64_t{layer.inputs} + 1) * layer.outputs;
  }
  return count;
}

std::uint64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::string train_summary(const model::Model& model, const RunFigures& run) {
  return train_summary(model, figures_of(model, run), run);
}

std::string train_json(const model::Model& model, const RunFigures& run) {
  const ModelFigures figures = figures_of(model, run);
  nlohmann::ordered_json json = metrics::figures_json(run.total, false);
  if (run.held_out) json["held_out"] = metrics::figures_json(*run.held_out, false);
  if (run.passes) {
    json["passes"] = run.passes->made;
    json["best_pass"] = nullptr;
    if (run.passes->best > 0) json["best_pass"] = run.passes->best;
    json["held_out"] = metrics::figures_json(run.passes->held_out, false);
  }
  json["examples_seen"] = run.examples;
  json["features"] = run.features;
  json["bad_lines"] = run.bad_lines;
  json["fields"] = model.features().field_count();
  json["weights"] = figures.weights;
  json["dropped_gradients"] = model.parameters().scalars.dropped_gradients;
  json["overflow_lookups"] = figures.overflow_lookups;
  if (model.spec().forgets()) json["forgotten"] = figures.forgotten;
  const auto experts = experts_json(model.parameters());
  if (!experts.is_null()) json["experts"] = experts;
  json["peak_memory"] = figures.peak_memory;
  json["seconds"] = std::stod(fmt::format("{:.3f}", run.seconds));
  json["examples_per_second"] =
      std::llround(static_cast<double>(run.examples) / std::max(run.seconds, 1e-9));
  return json.dump();
}

std::string train_summary(const model::Model& model, const ModelFigures& figures,
                          const RunFigures& run) {
  std::string text = "\n" + about_learning(run);
  text += line("features", fmt::format("{}", run.features));
  text += line("fields", fmt::format("{}", model.features().field_count()));
  text += line("weights", fmt::format("{}", figures.weights));
  text += line("bad lines", fmt::format("{}", run.bad_lines));
  text += about_experts(model) + about_limits(model, figures);
  const bool several = figures.ranks > 1;
  if (several) text += line("ranks", fmt::format("{}", figures.ranks));
  text += line("peak memory", fmt::format("{} MB{}", figures.peak_memory >> 20,
                                          several ? " of the rank that took most" : ""));
  std::string code = run.kernels;
  if (run.gemm != nullptr) code += fmt::format(", OpenBLAS {}", run.gemm);
  return text +
         line("time",
              fmt::format("{:.2f} s, {:.0f} examples/s, {}", run.seconds,
                          static_cast<double>(run.examples) / std::max(run.seconds, 1e-9), code));
}

std::string train_log(const model::Model& model, const RunFigures& run) {
  if (run.examples == 0) return about_limits(model, figures_of(model, run));
  return fmt::format("{} examples, average loss {}, auc {}, calibration {}, {} bad lines\n",
                     run.examples, figure(run.total.logloss, 6), figure(run.total.auc, 4),
                     figure(run.total.calibration, 4), run.bad_lines) +
         about_limits(model, figures_of(model, run));
}

std::string memory_warning(const model::Model& model, std::uint64_t before) {
  const std::uint64_t lookups = model.tables().overflow_lookups();
  if (lookups <= before) return {};
  return fmt::format(
      "--max_memory was reached: {} look-ups of features found no room and shared a row; give more "
      "memory{}",
      lookups - before, model.spec().evicts ? "" : ", or --when_full evict");
}

std::string train_warning(const model::Model& model) {
  const auto names = feature::unmatched(model.spec().features, model.features().plans());
  if (names.empty()) return {};
  return fmt::format("no line had a namespace for {}; check the spelling",
                     stream::escaped(fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace leveret::cli
