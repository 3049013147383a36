/// Options about the data, the same for every verb that reads examples.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli11_fwd.h"
#include "cli/console.h"
#include "convert/foreign_row.h"
#include "model/spec.h"
#include "stream/bad_lines.h"
#include "stream/example_source.h"
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
  bool quiet = false;       ///< no reports of bad lines

  /// What -c says without a name.
  static constexpr const char* kBesideData = "{DATA}.lvcache";
};

void add_input_options(CLI::App& app, InputOptions& options);
void add_cache_options(CLI::App& app, InputOptions& options);
void add_passes_option(CLI::App& app, InputOptions& options);
/// Misuse, CLI::ValidationError, where there is no cache for further passes.
void check_passes(const InputOptions& options);

/// For options that name a file: an empty name, as a variable that is not set gives one, is misuse.
const CLI::Validator& not_empty();

/// Once the options are parsed: names the cache beside the data where -c has no name of its own,
/// and sees to it that -k removes nothing but a cache. Misuse is
/// CLI::ValidationError.
void settle_input(InputOptions& options);

/// How the text is to be parsed for a model that knows these namespaces.
text::ParserOptions parser_options(const model::Spec& spec, const InputOptions& input,
                                   const std::vector<feature::NamespacePlan>& known = {});

/// Examples from -d, read and parsed ahead.
std::unique_ptr<stream::ExampleSource> open_text(const InputOptions& options,
                                                 text::NamespaceNames& names,
                                                 const text::ParserOptions& parser);

/// The same, through --cache where it is given: from the cache when it is there and was made from
/// this very input, else from text, making it. Throws when a cache is there that was made from
/// something else. `threads`: how many ask for chunks. `again`: another pass over the cache that
/// the first pass has read or made.
std::unique_ptr<stream::ExampleSource> open_examples(const InputOptions& options,
                                                     text::NamespaceNames& names,
                                                     const text::ParserOptions& parser,
                                                     stream::BadLineTally& tally,
                                                     unsigned threads = 1, bool again = false);

/// Counts the chunk's lines, unless a cache stands for them: those were counted when it was opened.
void count_lines(const stream::ExampleSource& source, const text::ExampleChunk& chunk,
                 stream::BadLineTally& tally);

/// "N examples were good before an error ended the run", and what else there is to say of it.
void say_good(std::uint64_t count, const char* what = "example", const std::string& more = "");

/// Of a run through `source` that an error ended, after so many examples were handed out: how many
/// were good. The tally knows of those in the chunk with the fault, but not what of a cache was
/// read.
std::uint64_t good_examples(const stream::ExampleSource& source, const stream::BadLineTally& tally,
                            std::uint64_t handed_out);

/// Throws the error at hand again; where it is about an example, with the name of its source.
[[noreturn]] void throw_again(const stream::ExampleSource& source);

/// Calls each(chunk) with every chunk of the source, and counts its lines. When the input ends by
/// an error, says first how many examples were good.
template <class Each>
void for_each_chunk(stream::ExampleSource& source, stream::BadLineTally& tally, Each each) {
  text::ExampleChunk chunk;
  std::uint64_t handed_out = 0;
  try {
    while (source.next(chunk)) {
      count_lines(source, chunk, tally);
      each(chunk);
      handed_out += chunk.examples.size();
    }
  } catch (const OutputError&) {
    throw;
  } catch (...) {
    say_good(good_examples(source, tally, handed_out));
    throw_again(source);
  }
  tally.finish();
}

/// Lines that are yet to be parsed, for hogwild threads.
std::unique_ptr<stream::ExampleSource> open_lines(const InputOptions& options,
                                                  std::size_t chunks_ahead);

/// Counts bad lines by --bad_lines and reports them on stderr. `format_of`: see BadLineOptions.
std::unique_ptr<stream::BadLineTally> bad_line_tally(
    const InputOptions& options, const char* (*format_of)(std::string_view) = convert::foreign_row);

}  // namespace leveret::cli
