// Threads that learn from one stream, with next to no room for answers ahead of their turn: they
// come in the order of the input, and nobody waits for ever.
#include <fstream>

#include "cache/cache_reader.h"
#include "cache/cache_writer.h"
#include "stream/example_reader.h"
#include "stream/text_reader.h"
#include "train/answers.h"
#include "train/hogwild.h"
#include "train_run.h"

namespace leveret::train {
namespace {

/// Examples with the number of their line as tag; every fifth line is blank or bad. So many
/// features that a block of a cache makes several chunks.
std::string lines_with_tags(std::size_t count) {
  const std::string more = " |C c |D d |E e |F f |G g |H h |I i |J j";
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    lines += i % 10 == 3 ? ""
             : i % 10 == 8
                 ? "no |label"
                 : "1 t" + number + "|A a" + std::to_string(i % 50) + " |B b" + number + more;
    lines += '\n';
  }
  return lines;
}

/// Answers without their probabilities.
std::string without_numbers(const std::string& answers) {
  std::string out;
  for (std::size_t at = 0; at < answers.size();) {
    const std::size_t end = answers.find('\n', at);
    const std::size_t tag = std::min(end, answers.find(' ', at));
    out += answers[at] == 'n' ? "nan" : answers.substr(tag, end - tag);
    out += '\n';
    at = end + 1;
  }
  return out;
}

std::string expected(std::size_t count) {
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    lines += i % 10 == 3 ? "" : i % 10 == 8 ? "nan" : " t" + std::to_string(i);
    lines += '\n';
  }
  return lines;
}

std::string learn(stream::ExampleSource& source, text::NamespaceNames& names, bool parse,
                  unsigned threads, const spec::Spec& spec) {
  model::Model model(spec, kTestMemory);
  HogwildOptions options;
  options.threads = threads;
  Answers answers(threads, 50);
  std::string all;
  Hogwild(model, names, kernels::active(), options)
      .run(
          [&](text::ExampleChunk& chunk, unsigned thread) {
            if (!source.next(chunk)) return false;
            answers.wait_for_room(chunk, thread);
            return true;
          },
          [&] {
            source.stop();
            answers.stop();
          },
          parse,
          [&](const text::ExampleChunk& chunk, unsigned thread) { answers.expect(chunk, thread); },
          [&](Outcomes& outcomes, unsigned thread) {
            answers.add(outcomes, thread);
            answers.take(all);
          });
  return without_numbers(all);
}

TEST_CASE("answers of several threads come in the order of the input, and none waits for ever",
          "[threads]") {
  const files::TempFolder folder;
  const std::string path = folder / "text", cache = folder / "cache";
  constexpr std::size_t kLines = 20000;
  std::ofstream(path) << lines_with_tags(kLines);
  {
    text::NamespaceNames names;
    stream::ExampleReader reader({path}, {}, names, {});
    cache::CacheWriter writer(cache, {path}, cache::make_cache_key({path}, {}, 1000), names);
    text::ExampleChunk chunk;
    while (reader.next(chunk)) writer.add(chunk);
    writer.finish();
  }
  spec::Spec plain, batch;
  plain.ffm_k = batch.ffm_k = 0;
  plain.hidden = batch.hidden = {};
  batch.batch_size = 100;
  for (const unsigned threads : {2u, 5u}) {
    for (const spec::Spec& spec : {plain, batch}) {
      text::NamespaceNames names;
      stream::TextReader lines({path}, {.chunk_bytes = 300});
      CHECK((learn(lines, names, true, threads, spec) == expected(kLines)));
      text::NamespaceNames cached;
      cache::CacheReader reader(cache, cached, nullptr);
      CHECK((learn(reader, cached, false, threads, spec) == expected(kLines)));
    }
  }
}

}  // namespace
}  // namespace leveret::train
