/// Options about the data, the same for every verb that reads examples.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache_key.h"
#include "cli/console.h"
#include "convert/foreign_row.h"
#include "options/cli11_fwd.h"
#include "schema/row_reader.h"
#include "spec/spec.h"
#include "stream/bad_lines.h"
#include "stream/example_source.h"
#include "stream/source_events.h"
#include "text/namespace_names.h"
#include "text/parser.h"

namespace leveret::cli {

struct InputOptions {
  std::vector<std::string> data;  ///< -d, and bare arguments; none: stdin
  std::string bad_lines;          ///< empty: the default policy
  std::string quarantine;
  std::uint64_t max_line = 64u << 20;
  std::string cache;        ///< -c; empty: none; kBesideData until settle_input()
  bool kill_cache = false;  ///< -k: make it anew
  unsigned passes = 1;      ///< how often it is read; more than once: from the cache
  /// `data` is a folder that fills, of which the files behind this name are read; of --follow.
  std::optional<std::string> follow_after = {};
  bool quiet = false;  ///< no reports of bad lines
  /// --format; empty: by the names of the files. Of verbs that read raw rows (raw_rows.h).
  std::string format;
  bool takes_rows = false;
  /// How raw rows are read; null: the input is VW text. By settle_input().
  std::shared_ptr<schema::RowInput> rows = nullptr;

  /// The name of the cache where -c has none.
  static constexpr const char* kBesideData = "{DATA}.lvcache";
};

/// Says that lines are read from the terminal, where they are, so that nobody wonders why nothing
/// happens.
void tell_of_terminal(const InputOptions& options);

void add_input_options(CLI::App& app, InputOptions& options);
void add_cache_options(CLI::App& app, InputOptions& options);
void add_passes_option(CLI::App& app, InputOptions& options);
/// Misuse, CLI::ValidationError, where there is no cache for further passes.
void check_passes(const InputOptions& options);

/// For options that name a file: an empty name, as a variable that is not set gives one, is misuse.
const CLI::Validator& not_empty();
/// A name of results: "stdout" means "-", as it does for Vowpal Wabbit; ./stdout is a file.
const CLI::Validator& result_name();

/// Once the options are parsed: names the cache beside the data where -c has no name of its own,
/// sees to it that -k removes nothing but a cache, and finds out whether the input is raw rows.
/// Misuse is CLI::ValidationError.
void settle_input(InputOptions& options);

/// How the text is to be parsed for a model that knows these namespaces.
text::ParserOptions parser_options(const spec::Spec& spec, const InputOptions& input,
                                   const std::vector<feature::NamespacePlan>& known = {});

/// Examples from -d, read and parsed ahead. `events`, when given, is told of the text as it is
/// read; it outlives the source.
std::unique_ptr<stream::ExampleSource> open_text(const InputOptions& options,
                                                 text::NamespaceNames& names,
                                                 const text::ParserOptions& parser,
                                                 stream::SourceEvents* events = nullptr);

/// The same, through --cache where it is given: from the cache when it is there and was made from
/// this very input, else from text, making it. Throws when a cache is there that was made from
/// something else. `again`: another pass over the cache that the first pass has read or made.
/// `events` hears nothing where a cache is read.
std::unique_ptr<stream::ExampleSource> open_examples(
    const InputOptions& options, text::NamespaceNames& names, const text::ParserOptions& parser,
    stream::BadLineTally& tally, bool again = false, stream::SourceEvents* events = nullptr);
/// The facts of the cache that is read in place of text; null: it is text.
const cache::CacheInfo* cache_of(const stream::ExampleSource& source);
inline bool is_cached(const stream::ExampleSource& source) { return cache_of(source) != nullptr; }

/// Counts the chunk's lines, unless a cache stands for them: those were counted when it was opened.
void count_lines(const stream::ExampleSource& source, const text::ExampleChunk& chunk,
                 stream::BadLineTally& tally);

/// "N examples were good before an error ended the run", and what else there is to say of it.
void say_good(std::uint64_t count, const char* what = "example", const std::string& more = "");

/// How work on a source is told to end by an error.
struct Ending {
  std::function<std::uint64_t()> done;  ///< examples with which the work is through
  /// More words for that sentence; an empty function: none.
  std::function<std::string()> more = {};
};

/// Does the work, which takes all of the source. Where an error ends it, says first how many
/// examples were good, and names the source of the one at fault; but for errors of the output
/// (OutputError) and of other ranks (dist::FailedElsewhere), for which the input is not to blame.
void work_through(const stream::ExampleSource& source, const stream::BadLineTally& tally,
                  const Ending& ending, const std::function<void()>& work);

/// Calls each(chunk) with every chunk of the source, and counts its lines: work_through, for work
/// that is done chunk by chunk.
template <class Each>
void for_each_chunk(stream::ExampleSource& source, stream::BadLineTally& tally, Each each) {
  std::uint64_t done = 0;
  work_through(source, tally, {[&] { return done; }}, [&] {
    text::ExampleChunk chunk;
    while (source.next(chunk)) {
      count_lines(source, chunk, tally);
      each(chunk);
      done += chunk.examples.size();
    }
  });
  tally.finish();
}

/// How much text is held ahead, in chunks for a thread each.
struct LinesAhead {
  std::size_t chunks;
  std::size_t chunk_bytes = 256 << 10;
};
/// Lines that are yet to be parsed, for hogwild threads.
std::unique_ptr<stream::ExampleSource> open_lines(const InputOptions& options, LinesAhead ahead,
                                                  stream::SourceEvents* events = nullptr);

/// Counts bad lines by --bad_lines and reports them on stderr. `format_of`: see BadLineOptions.
std::unique_ptr<stream::BadLineTally> bad_line_tally(
    const InputOptions& options, const char* (*format_of)(std::string_view) = convert::foreign_row);

}  // namespace leveret::cli
