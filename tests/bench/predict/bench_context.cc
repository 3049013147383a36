/// What a candidate costs beside a cached context: the whole of it, as a line of its own and as a
/// candidate, and each part alone, of which the sum is what remains. Times are of one candidate;
/// requests have 100.
///
///   whole          Predictor, of lines that are parsed
///   candidate      ContextPredictor, of candidates that are parsed
///   text           the same, parsing included
///   parse, look_up, pairs, sums, finish      the parts: pairs are the kernels' work alone, sums
///   all
///                                            that a candidate adds, pairs included
///
/// Name: PART/CONTEXT+CANDIDATE fields/k/heads. One MLP layer of 32, the instruction set of
/// LEVERET_SIMD.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

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
  spec::Heads heads;

  std::string name() const {
    return std::to_string(in_context) + "+" + std::to_string(kFields - in_context) + "/k" +
           std::to_string(k) + (heads == spec::Heads::kOne ? "/one" : "/mixed");
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
    spec::Spec spec;
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
    batch.groups = bench.model->spec().uses_feature_groups();
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

void pairs(benchmark::State& state, Bench& bench) {
  Rows r(bench);
  const table::RowPart part = bench.model->config().rows[0].part;
  const std::size_t n = r.own.size();
  for (auto _ : state) {
    for (std::size_t b = 0; b < kCandidates; ++b) {
      const std::byte* const* const rows = r.rows.data() + b * n;
      benchmark::DoNotOptimize(kernels::active().ffm_rectangle(part.codec, rows, r.slots.data(), n,
                                                               r.context.data(), r.context.size(),
                                                               part.k, r.pairs.data()));
      benchmark::DoNotOptimize(
          kernels::active().ffm_pairs(part.codec, rows, r.own.data(), n, part.k, r.pairs.data()));
    }
  }
}

/// A context and its candidates, as ContextPredictor has them.
struct InPartitions {
  explicit InPartitions(Bench& bench)
      : at(bench),
        parameters(bench.model->parameters()),
        network(config(), kernels::active()),
        declared(net::declare_sums(config(), parameters.layout, 1)),
        split(in_context()) {
    candidate = partition(tape::Partition::Of::kCandidate);
    network.open(parameters, kCandidates, at.tape);
    // What a context of nothing keeps: the work is the same.
    feature::FeatureBatch nothing;
    bench.model->features().map(bench.contexts[0], 0, 1, nothing);
    tape::Tape of_context;
    at.lookup.find_all(*bench.model, nothing, of_context);
    network.open(parameters, 1, of_context);
    const tape::Partition context = partition(tape::Partition::Of::kContext);
    const net::Shares shares = network.share(parameters, context);
    sums.assign(declared.of_batch(0) + kCandidates * declared.of_example(0), 0.0f);
    of_context.wholes = at.tape.wholes = {features, squares};
    network.partial(parameters, of_context, context, shares, {declared, {sums.data()}, 0});
    cached = network.cache_context(parameters, of_context, shares);
    candidates = network.share(parameters, candidate);
    network.use_context(parameters, candidates, cached);
    everyone = network.share(parameters, partition(tape::Partition::Of::kEveryone));
  }
  block::Config config() const {
    block::Config all = at.bench.model->config();
    all.in_contexts = true;
    return all;
  }
  std::vector<bool> in_context() const {
    std::vector<bool> fields(kFields);
    std::fill_n(fields.begin(), at.bench.kind.in_context, true);
    return fields;
  }
  tape::Partition partition(tape::Partition::Of of) const {
    tape::Partition all;
    all.of = of;
    all.split = &split;
    all.shared = 1;
    all.homes.assign(kFields, true);
    return all;
  }

  OnTape at;
  const tape::Parameters& parameters;
  const net::Network network;
  const tape::SumDecls declared;
  const tape::FieldSplit split;
  tape::Partition candidate;
  net::Shares candidates, everyone;
  net::CachedParts cached;
  std::vector<float> sums;
  std::vector<float> features = std::vector<float>(kCandidates, 39), squares = features;
};

void add_up(benchmark::State& state, Bench& bench) {
  InPartitions in(bench);
  for (auto _ : state) {
    std::ranges::fill(in.sums, 0.0f);
    in.network.partial(in.parameters, in.at.tape, in.candidate, in.candidates,
                       {in.declared, {in.sums.data()}, 0});
  }
}

void finish(benchmark::State& state, Bench& bench) {
  InPartitions in(bench);
  for (auto _ : state) {
    in.network.finish(in.parameters, in.at.tape, in.everyone, {in.declared, {in.sums.data()}, 1});
    benchmark::DoNotOptimize(in.at.tape.answers.data());
  }
}

void register_all() {
  using Work = void (*)(benchmark::State&, Bench&);
  const std::pair<const char*, Work> works[] = {
      {"whole", whole},     {"candidate", candidate}, {"text", from_text}, {"parse", parse},
      {"look_up", look_up}, {"pairs", pairs},         {"sums", add_up},    {"finish", finish}};
  for (const std::uint32_t in_context : {30, 20}) {
    for (const std::uint32_t k : {4, 8}) {
      for (const spec::Heads heads : {spec::Heads::kOne, spec::Heads::kMixed}) {
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
