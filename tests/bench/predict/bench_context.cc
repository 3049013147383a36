/// What a candidate costs beside a cached context: the whole of it, as a line of its own and as a
/// candidate, and each part alone, of which the sum is what remains. Times are of one candidate;
/// requests have 100.
///
///   whole          Predictor, of lines that are parsed
///   candidate      ContextPredictor, of candidates that are parsed
///   text           the same, parsing included
///   parse, look_up, linear, cross, own, layer, mix      the parts
///
/// Name: PART/CONTEXT+CANDIDATE fields/k/heads. One MLP layer of 32, the instruction set of
/// LEVERET_SIMD.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "block/context_layer.h"
#include "block/ffm_context.h"
#include "block/linear_block.h"
#include "kernels/dispatch.h"
#include "model/lookup.h"
#include "model/model.h"
#include "net/network.h"
#include "optim/optimizer.h"
#include "predict/context_predictor.h"
#include "predict/predictor.h"
#include "text/parser.h"

namespace leveret::predict {
namespace {

constexpr std::uint32_t kFields = 39;
constexpr std::size_t kTrained = 4000, kCandidates = 100, kRequests = 20;

struct Kind {
  std::uint32_t in_context, k;
  model::Heads heads;

  std::string name() const {
    return std::to_string(in_context) + "+" + std::to_string(kFields - in_context) + "/k" +
           std::to_string(k) + (heads == model::Heads::kOne ? "/one" : "/mixed");
  }
};

/// Fields [begin, end), low values much more often than high ones.
std::string features(std::mt19937& random, std::uint32_t begin, std::uint32_t end) {
  std::uniform_real_distribution<float> unit(0, 1);
  std::string text;
  for (std::uint32_t field = begin; field < end; ++field) {
    const float u = unit(random);
    text += " |" + std::string(1, static_cast<char>('A' + field)) + " " +
            std::to_string(static_cast<int>(100000 * u * u * u * u));
  }
  return text;
}

/// A model that has learned a little, and requests.
struct Bench {
  explicit Bench(const Kind& kind) : kind(kind), parser(names, {}) {
    model::Spec spec;
    spec.ffm_k = kind.k;
    spec.heads = kind.heads;
    model = std::make_shared<model::Model>(spec, std::uint64_t{1} << 30);
    learn();
    std::mt19937 random(3);
    for (std::size_t r = 0; r < kRequests; ++r) {
      const std::string context = features(random, 0, kind.in_context);
      std::string lines, whole_lines;
      for (std::size_t c = 0; c < kCandidates; ++c) {
        const std::string candidate = features(random, kind.in_context, kFields);
        lines += candidate + "\n";
        whole_lines += context + candidate + "\n";
      }
      texts.push_back(lines);
      contexts.push_back(parse(context + "\n"));
      candidates.push_back(parse(lines));
      wholes.push_back(parse(whole_lines));
    }
    for (std::uint32_t field = 0; field < kind.in_context; ++field) {
      selectors.emplace_back(1, static_cast<char>('A' + field));
    }
  }

  text::ExampleChunk parse(const std::string& lines) {
    text::ExampleChunk chunk;
    chunk.bytes = lines;
    parser.parse(chunk);
    return chunk;
  }

  void learn() {
    std::mt19937 random(7);
    std::string lines;
    for (std::size_t l = 0; l < kTrained; ++l) {
      lines += (random() % 4 == 0 ? "1" : "-1") + features(random, 0, kFields) + "\n";
    }
    const text::ExampleChunk chunk = parse(lines);
    optim::Optimizer optimizer(kernels::active(), model->config(), model->spec());
    const net::Network network(model->config(), kernels::active());
    model::Lookup lookup(*model);
    feature::FeatureBatch batch;
    tape::Tape tape;
    for (std::size_t e = 0; e < kTrained; ++e) {
      batch.clear();
      while (model->features().map(chunk, e, 1, batch) == 0) {
        model->features().meet(names, chunk, e, true);
        model->fit_fields();
      }
      lookup.resolve_all(*model, batch, tape);
      network.open(model->parameters(), 1, tape);
      network.forward(model->parameters(), tape);
      network.learn(model->tables(), model->parameters(), tape, optimizer);
    }
  }

  Kind kind;
  text::NamespaceNames names;
  text::Parser parser;
  std::shared_ptr<model::Model> model;
  std::vector<std::string> texts, selectors;
  std::vector<text::ExampleChunk> contexts, candidates, wholes;
};

/// One for each kind, made when it is first asked for.
Bench& bench_of(const Kind& kind) {
  static std::vector<std::unique_ptr<Bench>> all;
  for (const auto& bench : all) {
    if (bench->kind.name() == kind.name()) return *bench;
  }
  return *all.emplace_back(std::make_unique<Bench>(kind));
}

void per_candidate(benchmark::State& state) {
  state.counters["candidates"] = benchmark::Counter(
      static_cast<double>(state.iterations() * kCandidates), benchmark::Counter::kIsRate);
  state.counters["ns"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kCandidates) * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void whole(benchmark::State& state, Bench& bench) {
  Predictor predictor(bench.model, bench.names, kernels::active());
  Outcomes outcomes;
  std::size_t r = 0;
  for (auto _ : state) {
    outcomes.clear();
    predictor.predict(bench.wholes[r++ % kRequests], 0, kCandidates, outcomes);
  }
}

void candidate(benchmark::State& state, Bench& bench) {
  ContextPredictor predictor(bench.model, bench.names, kernels::active(), bench.selectors);
  Outcomes outcomes;
  std::size_t r = 0;
  for (auto _ : state) {
    outcomes.clear();
    predictor.set_context(bench.contexts[r % kRequests], 0);
    predictor.predict(bench.candidates[r++ % kRequests], 0, kCandidates, outcomes);
  }
}

void from_text(benchmark::State& state, Bench& bench) {
  ContextPredictor predictor(bench.model, bench.names, kernels::active(), bench.selectors);
  Outcomes outcomes;
  text::ExampleChunk chunk;
  std::size_t r = 0;
  for (auto _ : state) {
    outcomes.clear();
    chunk.clear();
    chunk.bytes = bench.texts[r % kRequests];
    bench.parser.parse(chunk);
    predictor.set_context(bench.contexts[r++ % kRequests], 0);
    predictor.predict(chunk, 0, kCandidates, outcomes);
  }
}

void parse(benchmark::State& state, Bench& bench) {
  text::ExampleChunk chunk;
  std::size_t r = 0;
  for (auto _ : state) {
    chunk.clear();
    chunk.bytes = bench.texts[r++ % kRequests];
    bench.parser.parse(chunk);
  }
}

/// Candidates of a request on a tape.
struct OnTape {
  explicit OnTape(Bench& bench) : bench(bench), lookup(*bench.model) {
    batch.chunks_stay = true;
    batch.groups = bench.model->spec().uses_groups();
    take(0);
  }
  void take(std::size_t r) {
    batch.clear();
    bench.model->features().map(bench.candidates[r % kRequests], 0, kCandidates, batch);
    lookup.find_all(*bench.model, batch, tape);
  }
  Bench& bench;
  model::Lookup lookup;
  feature::FeatureBatch batch;
  tape::Tape tape;
};

void look_up(benchmark::State& state, Bench& bench) {
  OnTape at(bench);
  std::size_t r = 0;
  for (auto _ : state) at.take(++r);
}

void linear(benchmark::State& state, Bench& bench) {
  OnTape at(bench);
  const net::Network network(bench.model->config(), kernels::active());
  const auto& block = *network.find<block::LinearBlock>();
  const tape::Parameters& parameters = bench.model->parameters();
  network.open(parameters, kCandidates, at.tape);
  for (auto _ : state) {
    for (std::size_t b = 0; b < kCandidates; ++b) {
      benchmark::DoNotOptimize(block.add(at.tape, b, block.start(parameters, at.tape, b)));
    }
  }
}

/// The rows of the candidates of one request.
struct Rows {
  explicit Rows(Bench& bench) : at(bench) {
    const std::uint32_t in_context = bench.kind.in_context;
    for (std::uint32_t f = 0; f < kFields; ++f) (f < in_context ? context : own).push_back(f);
    const table::RowLayout& layout = bench.model->tables().row_layout();
    nothing.resize(layout.stride());
    for (std::size_t b = 0; b < kCandidates; ++b) {
      for (const feature::FieldRun& run : at.tape.field_runs(b)) {
        const std::byte* const row = at.tape.rows[run.begin];
        rows.push_back(row != nullptr ? row : nothing.data());
      }
    }
    // Any numbers do for slots that were gathered: rows are long enough.
    slots.assign(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(own.size()));
    pairs.resize(kFields * kFields);
  }
  OnTape at;
  std::vector<std::uint32_t> context, own;
  table::AlignedBytes nothing;
  std::vector<const std::byte*> rows, slots;
  std::vector<float> pairs;
};

void cross(benchmark::State& state, Bench& bench) {
  Rows r(bench);
  const block::Config config = bench.model->config();
  const std::size_t n = r.own.size();
  for (auto _ : state) {
    for (std::size_t b = 0; b < kCandidates; ++b) {
      benchmark::DoNotOptimize(kernels::active().ffm_rectangle(
          config.rows[0].part.codec, r.rows.data() + b * n, r.slots.data(), n, r.context.data(),
          r.context.size(), config.rows[0].part.k, r.pairs.data()));
    }
  }
}

void own(benchmark::State& state, Bench& bench) {
  Rows r(bench);
  const block::Config config = bench.model->config();
  const std::size_t n = r.own.size();
  for (auto _ : state) {
    for (std::size_t b = 0; b < kCandidates; ++b) {
      benchmark::DoNotOptimize(kernels::active().ffm_pairs(
          config.rows[0].part.codec, r.rows.data() + b * n, r.own.data(), n, config.rows[0].part.k, r.pairs.data()));
    }
  }
}

void layer(benchmark::State& state, Bench& bench) {
  const block::Config config = bench.model->config();
  std::vector<bool> in_context(kFields);
  std::fill_n(in_context.begin(), bench.kind.in_context, true);
  const block::FieldSplit split(in_context);
  const tape::Parameters& parameters = bench.model->parameters();
  const net::Network network(config, kernels::active());
  block::ContextLayer of_context(kernels::active(), parameters, split,
                                 *network.find<block::MlpBlock>());
  OnTape at(bench);
  network.open(parameters, 8, at.tape);
  block::ContextLayer::Kept kept;
  of_context.keep(parameters, at.tape, 0, kept);
  const std::size_t stride = of_context.stride();
  table::AlignedFloats inputs(8 * stride, 0.5f), out(8 * config.towers[0].hidden[0]);
  block::Norm<float> norms[8];
  for (auto _ : state) {
    for (std::size_t b = 0; b < kCandidates; ++b) {
      norms[b % 8] = of_context.normalise(kept, inputs.data() + b % 8 * stride);
      if (b % 8 == 7) of_context.forward(kept, inputs.data(), norms, 8, out.data());
      if (b + 1 == kCandidates)
        of_context.forward(kept, inputs.data(), norms, kCandidates % 8, out.data());
    }
    benchmark::DoNotOptimize(out.data());
  }
}

void mix(benchmark::State& state, Bench& bench) {
  const tape::Parameters& parameters = bench.model->parameters();
  const block::Config config = bench.model->config();
  const net::Network network(config, kernels::active());
  const auto& linear_block = *network.find<block::LinearBlock>();
  const auto& loss = *network.find<block::LossBlock>();
  OnTape at(bench);
  network.open(parameters, kCandidates, at.tape);
  for (auto _ : state) {
    for (std::size_t b = 0; b < kCandidates; ++b) {
      linear_block.finish(parameters, at.tape, b, {.linear = 0.1f, .linear2 = 0.2f}, 0.3f);
    }
    loss.forward(parameters, at.tape, 0, kCandidates);
    benchmark::DoNotOptimize(at.tape.answers.data());
  }
}

void register_all() {
  using Work = void (*)(benchmark::State&, Bench&);
  const std::pair<const char*, Work> works[] = {{"whole", whole},     {"candidate", candidate},
                                                {"text", from_text},  {"parse", parse},
                                                {"look_up", look_up}, {"linear", linear},
                                                {"cross", cross},     {"own", own},
                                                {"layer", layer},     {"mix", mix}};
  for (const std::uint32_t in_context : {30, 20}) {
    for (const std::uint32_t k : {4, 8}) {
      for (const model::Heads heads : {model::Heads::kOne, model::Heads::kMixed}) {
        const Kind kind{in_context, k, heads};
        for (const auto& [name, work] : works) {
          benchmark::RegisterBenchmark((std::string(name) + "/" + kind.name()).c_str(),
                                       [kind, work = work](benchmark::State& state) {
                                         work(state, bench_of(kind));
                                         per_candidate(state);
                                       });
        }
      }
    }
  }
}

}  // namespace
}  // namespace leveret::predict

int main(int argc, char** argv) {
  leveret::predict::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
