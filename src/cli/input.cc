#include "cli/input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>

#include "cache/cache_reader.h"
#include "cache/cache_tee.h"
#include "cli/console.h"
#include "cli/process.h"
#include "cli/raw_rows.h"
#include "dist/talk/agreement.h"
#include "feature/feature_map.h"
#include "model/parser_options.h"
#include "options/numbers.h"
#include "stream/example_reader.h"
#include "stream/limited_source.h"
#include "stream/serial_reader.h"
#include "stream/text_reader.h"

namespace leveret::cli {
namespace {

/// The next files of a folder, while one is learned: some megabytes.
constexpr std::size_t kFollowAhead = 64;

void set_bad_lines(InputOptions& options, const std::string& text) {
  try {
    stream::parse_bad_line_policy(text);
  } catch (const std::runtime_error& error) {
    throw CLI::ValidationError(error.what());
  }
  options.bad_lines = text;
}

}  // namespace

void tell_of_terminal(const InputOptions& options) {
  if (options.data.empty() && isatty(STDIN_FILENO) == 1) {
    say("reading lines from the terminal, up to Ctrl-D; -d FILE reads a file");
  }
}

const cache::CacheInfo* cache_of(const stream::ExampleSource& source) {
  const stream::ExampleSource* read = &source;
  while (read->inner() != nullptr) read = read->inner();
  const auto* const cache = dynamic_cast<const cache::CacheReader*>(read);
  return cache != nullptr ? &cache->info() : nullptr;
}

void add_input_options(CLI::App& app, InputOptions& options) {
  app.add_option("-d,--data,data", options.data,
                 "files of VW text, plain, gzip or zstd; none or -: standard input")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_option_function<std::string>(
         "--bad_lines", [&options](const std::string& text) { set_bad_lines(options, text); },
         "fail, skip or max=N; default: up to 1 % of the lines, at least 10, not most of all")
      ->type_name("POLICY");
  app.add_option("--quarantine", options.quarantine, "append bad lines to this file, verbatim")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_option("--max_line", options.max_line, "bytes; a longer line is a bad line")
      ->type_name("N")
      ->transform(options::bytes_within(1, std::uint64_t{1} << 31))
      ->capture_default_str();
}

void add_cache_options(CLI::App& app, InputOptions& options) {
  CLI::Option* cache =
      app.add_option_function<std::string>(
             "-c,--cache",
             [&options](const std::string& name) {
               // CLI11 asks no validator about an empty value that is optional.
               if (name.empty()) throw CLI::ValidationError("--cache", "is empty; name a file");
               options.cache = name;
             },
             "keep the parsed input in this file, or next to the data, and read it from there the "
             "next time")
          ->type_name("FILE")
          ->expected(0, 1)
          ->default_str(InputOptions::kBesideData);
  app.add_flag("-k,--kill_cache", options.kill_cache, "make the cache anew")->needs(cache);
}

void add_passes_option(CLI::App& app, InputOptions& options) {
  app.add_option("--passes", options.passes, "read the input N times; needs -c")
      ->type_name("N")
      ->transform(options::within(1, 1'000'000))
      ->capture_default_str();
}

void check_passes(const InputOptions& options) {
  if (options.passes > 1 && options.cache.empty()) {
    throw CLI::ValidationError("--passes needs a cache to read again: give -c, or -c FILE");
  }
}

const CLI::Validator& not_empty() {
  static const CLI::Validator validator(
      [](const std::string& name) {
        return name.empty() ? std::string("is empty; name a file") : std::string();
      },
      "", "not empty");
  return validator;
}

const CLI::Validator& result_name() {
  static const CLI::Validator validator(
      [](std::string& name) {
        if (name == "stdout") name = "-";
        return std::string();
      },
      "", "result name");
  return validator;
}

void settle_input(InputOptions& options) {
  if (std::ranges::count(options.data, "-") > 1) {
    throw CLI::ValidationError("standard input (-) is given more than once; give it once");
  }
  if (options.cache == InputOptions::kBesideData) {
    if (options.data.size() != 1 || options.data[0] == "-") {
      throw CLI::ValidationError(
          "-c without a name keeps the cache next to the one file of -d; name it: -c FILE");
    }
    options.cache = options.data[0] + ".lvcache";
  }
  settle_rows(options);
  if (options.kill_cache && access(options.cache.c_str(), F_OK) == 0 &&
      !cache::is_cache(options.cache)) {
    throw CLI::ValidationError(
        fmt::format("-k: {} is no leveret cache, so it is not removed; name another file by -c",
                    options.cache));
  }
}

text::ParserOptions parser_options(const spec::Spec& spec, const InputOptions& input,
                                   const std::vector<feature::NamespacePlan>& known) {
  text::ParserOptions options = model::parser_options(spec, known);
  options.max_line = static_cast<std::uint32_t>(input.max_line);  // 2^31 at most
  return options;
}

std::unique_ptr<stream::ExampleSource> open_text(const InputOptions& options,
                                                 text::NamespaceNames& names,
                                                 const text::ParserOptions& parser,
                                                 stream::SourceEvents* events) {
  tell_of_terminal(options);
  stream::ReaderOptions reader;
  reader.events = events;
  reader.follow_after = options.follow_after;
  reader.max_line = options.max_line;
  reader.rows = options.rows;
  if (options.follow_after) reader.chunks_ahead = kFollowAhead;
  if (processors() == 1) {
    return std::make_unique<stream::SerialReader>(options.data, reader, names, parser);
  }
  return std::make_unique<stream::ExampleReader>(options.data, reader, names, parser);
}

namespace {

/// `parser` without a limit: caches are for all models.
std::unique_ptr<stream::ExampleSource> open_cached(const InputOptions& options,
                                                   text::NamespaceNames& names,
                                                   const text::ParserOptions& parser,
                                                   stream::BadLineTally& tally, bool again,
                                                   stream::SourceEvents* events) {
  if (again) {
    return std::make_unique<cache::CacheReader>(options.cache, names, nullptr, parser.numbers);
  }
  cache::CacheKey key = cache::make_cache_key(options.data, parser, options.max_line);
  // The new cache takes the place of an old one when it is whole.
  if (!options.kill_cache && access(options.cache.c_str(), F_OK) == 0) {
    auto reader = std::make_unique<cache::CacheReader>(options.cache, names, &key, parser.numbers);
    const cache::CacheTotals& totals = reader->info().totals;
    tally.add_cached(totals.examples, totals.bad_lines);
    return reader;
  }
  auto writer =
      std::make_unique<cache::CacheWriter>(options.cache, options.data, std::move(key), names);
  return std::make_unique<cache::CacheTee>(open_text(options, names, parser, events),
                                           std::move(writer), events);
}

}  // namespace

std::unique_ptr<stream::ExampleSource> open_examples(const InputOptions& options,
                                                     text::NamespaceNames& names,
                                                     const text::ParserOptions& parser,
                                                     stream::BadLineTally& tally, bool again,
                                                     stream::SourceEvents* events) {
  if (options.cache.empty()) return open_text(options, names, parser, events);
  text::ParserOptions plain = parser;
  plain.limit = nullptr;
  auto source = open_cached(options, names, plain, tally, again, events);
  if (!parser.limit) return source;
  const bool has_text = !is_cached(*source);
  return std::make_unique<stream::LimitedSource>(std::move(source), names, parser.limit, has_text);
}

void count_lines(const stream::ExampleSource& source, const text::ExampleChunk& chunk,
                 stream::BadLineTally& tally) {
  const std::string& name = source.source_name(chunk.source);
  is_cached(source) ? tally.add_refused(chunk, name) : tally.add(chunk, name);
}

void say_good(std::uint64_t count, const char* what, const std::string& more) {
  say(fmt::format("{} {}{} good before an error ended the run{}", count, what,
                  count == 1 ? " was" : "s were", more));
}

void work_through(const stream::ExampleSource& source, const stream::BadLineTally& tally,
                  const Ending& ending, const std::function<void()>& work) {
  try {
    work();
  } catch (const OutputError&) {
    throw;
  } catch (const dist::FailedElsewhere&) {
    throw;
  } catch (...) {
    // The tally knows of those in the chunk with the fault, but not what of a cache was read.
    say_good(is_cached(source) ? ending.done() : tally.good(), "example",
             ending.more ? ending.more() : "");
    try {
      throw;
    } catch (const feature::BadExample& bad) {
      throw std::runtime_error(fmt::format("{}: {}", source.source_name(bad.source), bad.what()));
    }
  }
}

std::unique_ptr<stream::ExampleSource> open_lines(const InputOptions& options, LinesAhead ahead,
                                                  stream::SourceEvents* events) {
  tell_of_terminal(options);
  stream::ReaderOptions reader;
  reader.events = events;
  reader.follow_after = options.follow_after;
  reader.max_line = options.max_line;
  reader.rows = options.rows;
  reader.chunks_ahead = ahead.chunks;
  reader.chunk_bytes = ahead.chunk_bytes;
  return std::make_unique<stream::TextReader>(options.data, reader);
}

std::unique_ptr<stream::BadLineTally> bad_line_tally(const InputOptions& options,
                                                     const char* (*format_of)(std::string_view)) {
  stream::BadLineOptions tally;
  if (!options.bad_lines.empty()) tally.policy = stream::parse_bad_line_policy(options.bad_lines);
  tally.quarantine = options.quarantine;
  if (options.rows == nullptr) tally.format_of = format_of;
  if (!options.quiet) {
    tally.report = [](const std::string& report) { say(logs() ? "warning: " + report : report); };
  }
  return std::make_unique<stream::BadLineTally>(std::move(tally));
}

}  // namespace leveret::cli
