#include "cli/ship/convert_by_schema.h"

#include <fmt/format.h>

#include <cstdint>

#include "cli/console.h"
#include "cli/raw_rows.h"
#include "modelfile/model_io.h"
#include "stream/text_reader.h"

namespace leveret::cli {
void convert_by_schema(const std::string& model, const InputOptions& given,
                       const schema::FormatWord& format, bool quiet) {
  InputOptions input = given;
  input.rows = rows_of(format, quiet);
  read_rows_for(input, modelfile::load_model(model, modelfile::default_memory_limit()), model,
                /*needs_label=*/false);
  const auto tally = bad_line_tally(input);
  const auto source = open_lines(input, {2});
  Output output("");
  std::uint64_t lines = 0;
  work_through(*source, *tally, {[&] { return lines; }}, [&] {
    text::ExampleChunk chunk;
    while (source->next(chunk)) {
      lines += count_rows(*source, chunk, *tally);
      if (!chunk.bad.empty()) continue;
      output.write(chunk.bytes);
      output.flush();  // a live pipe gets what there is
    }
  });
  tally->finish();
  output.close();
  if (!quiet) say(fmt::format("converted {} rows; {} bad", lines, tally->bad()));
}

}  // namespace leveret::cli
