#include "cli/input.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "cli/console.h"
#include "feature/feature_map.h"
#include "stream/cache_reader.h"
#include "stream/cache_tee.h"
#include "stream/example_reader.h"
#include "stream/line_source.h"
#include "stream/serial_reader.h"

namespace leveret::cli {
namespace {

bool is_cached(const stream::ExampleSource& source) {
  return dynamic_cast<const stream::CacheReader*>(&source) != nullptr;
}

/// Of the machine's processors, how many this process may use (taskset, cpuset). A share of the
/// time of several, which containers may have, is not meant.
unsigned processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return static_cast<unsigned>(CPU_COUNT(&allowed));
  }
  return std::thread::hardware_concurrency();
}

std::unique_ptr<stream::CacheReader> open_cache(const std::string& path,
                                                text::NamespaceNames& names,
                                                const stream::CacheKey* expected,
                                                const std::vector<std::string>& numbers,
                                                unsigned threads) {
  return std::make_unique<stream::CacheReader>(
      path, names, expected, numbers,
      processors() > threads ? stream::CacheReading::kAhead : stream::CacheReading::kByConsumers);
}

}  // namespace

void add_input_options(CLI::App& app, InputOptions& options) {
  app.add_option("-d,--data,data", options.data,
                 "files of VW text, plain, gzip or zstd; none or -: standard input")
      ->type_name("FILE");
  app.add_option("--bad_lines", options.bad_lines,
                 "fail, skip or max=N; default: up to 1 % of the lines, at least 10, then fail")
      ->type_name("POLICY");
  app.add_option("--quarantine", options.quarantine, "append bad lines to this file, verbatim")
      ->type_name("FILE");
  app.add_option("--max_line", options.max_line, "bytes; a longer line is a bad line")
      ->type_name("N")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 31))
      ->capture_default_str();
}

void add_cache_options(CLI::App& app, InputOptions& options) {
  CLI::Option* cache =
      app.add_option("-c,--cache", options.cache,
                     "keep the parsed input in this file, and read it from there the next time")
          ->type_name("FILE");
  app.add_flag("-k,--kill_cache", options.kill_cache, "make the cache anew")->needs(cache);
}

text::ParserOptions parser_options(const model::Spec& spec, const InputOptions& input) {
  text::ParserOptions options;
  options.hash = spec.hash;
  options.hash_seed = spec.hash_seed;
  options.numbers = feature::number_namespaces(spec.features.transforms);
  options.max_line = static_cast<std::uint32_t>(input.max_line);  // 2^31 at most
  return options;
}

std::unique_ptr<stream::ExampleSource> open_text(const InputOptions& options,
                                                 text::NamespaceNames& names,
                                                 const text::ParserOptions& parser) {
  stream::ReaderOptions reader;
  reader.max_line = options.max_line;
  if (processors() == 1) {
    return std::make_unique<stream::SerialReader>(options.data, reader, names, parser);
  }
  return std::make_unique<stream::ExampleReader>(options.data, reader, names, parser);
}

std::unique_ptr<stream::ExampleSource> open_examples(const InputOptions& options,
                                                     text::NamespaceNames& names,
                                                     const text::ParserOptions& parser,
                                                     stream::BadLineTally& tally, unsigned threads,
                                                     bool again) {
  if (options.cache.empty()) return open_text(options, names, parser);
  if (again) return open_cache(options.cache, names, nullptr, parser.numbers, threads);
  if (options.kill_cache && unlink(options.cache.c_str()) != 0 && errno != ENOENT) {
    throw std::runtime_error(
        fmt::format("{}: cannot remove the old cache: {}", options.cache, std::strerror(errno)));
  }
  stream::CacheKey key = stream::make_cache_key(options.data, parser, options.max_line);
  if (access(options.cache.c_str(), F_OK) == 0) {
    auto reader = open_cache(options.cache, names, &key, parser.numbers, threads);
    const stream::CacheTotals& totals = reader->info().totals;
    tally.add_cached(totals.examples, totals.bad_lines);
    return reader;
  }
  auto writer =
      std::make_unique<stream::CacheWriter>(options.cache, options.data, std::move(key), names);
  return std::make_unique<stream::CacheTee>(open_text(options, names, parser), std::move(writer));
}

void count_lines(const stream::ExampleSource& source, const text::ExampleChunk& chunk,
                 stream::BadLineTally& tally) {
  if (!is_cached(source)) tally.add(chunk, source.source_name(chunk.source));
}

void say_good(std::uint64_t count, const char* what, const std::string& more) {
  say(fmt::format("{} {}{} good before an error ended the run{}", count, what,
                  count == 1 ? " was" : "s were", more));
}

std::uint64_t good_examples(const stream::ExampleSource& source, const stream::BadLineTally& tally,
                            std::uint64_t handed_out) {
  return is_cached(source) ? handed_out : tally.good();
}

void throw_again(const stream::ExampleSource& source) {
  try {
    throw;
  } catch (const feature::BadExample& bad) {
    throw std::runtime_error(fmt::format("{}: {}", source.source_name(bad.source), bad.what()));
  }
}

std::unique_ptr<stream::ExampleSource> open_lines(const InputOptions& options,
                                                  std::size_t chunks_ahead) {
  stream::ReaderOptions reader;
  reader.max_line = options.max_line;
  reader.chunks_ahead = chunks_ahead;
  reader.chunk_bytes = 256 << 10;  // a thread adds its changes to the model after each chunk
  return std::make_unique<stream::LineSource>(options.data, reader);
}

std::unique_ptr<stream::BadLineTally> bad_line_tally(const InputOptions& options) {
  stream::BadLineOptions tally;
  if (!options.bad_lines.empty()) tally.policy = stream::parse_bad_line_policy(options.bad_lines);
  tally.quarantine = options.quarantine;
  tally.report = [](const std::string& report) { say(report); };
  return std::make_unique<stream::BadLineTally>(std::move(tally));
}

namespace {

std::atomic<stream::ExampleSource*> signalled_source{nullptr};
std::atomic<bool> was_signalled{false};

void on_signal(int signal) {
  if (was_signalled.exchange(true)) _exit(128 + signal);
  if (stream::ExampleSource* source = signalled_source.load()) source->stop();
}

}  // namespace

StopOnSignal::StopOnSignal(stream::ExampleSource& source) {
  was_signalled = false;
  signalled_source = &source;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

StopOnSignal::~StopOnSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  signalled_source = nullptr;
}

bool StopOnSignal::stopped() const { return was_signalled; }

}  // namespace leveret::cli
