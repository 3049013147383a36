#include "cli/input.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "cli/console.h"
#include "stream/example_reader.h"

namespace leveret::cli {

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

text::ParserOptions parser_options(const model::Spec& spec) {
  text::ParserOptions options;
  options.hash = spec.hash;
  options.hash_seed = spec.hash_seed;
  return options;
}

std::unique_ptr<stream::ExampleSource> open_examples(const InputOptions& options,
                                                     text::NamespaceNames& names,
                                                     const text::ParserOptions& parser) {
  stream::ReaderOptions reader;
  reader.max_line = options.max_line;
  return std::make_unique<stream::ExampleReader>(options.data, reader, names, parser);
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
  struct sigaction action{};
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
