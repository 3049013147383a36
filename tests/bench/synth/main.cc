/// leveret-synth: click data from a planted model, so that the best reachable loss is known.
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "columns.h"
#include "options.h"
#include "planted_model.h"
#include "row_writer.h"
#include "summary.h"

namespace leveret::synth {
namespace {

/// Collects text and writes it in large pieces; a failed write throws with the file's name.
class Output {
 public:
  Output(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}

  std::string& text() { return text_; }
  void flush_if_full() {
    if (text_.size() >= kPiece) flush();
  }
  void flush() {
    errno = 0;
    if (std::fwrite(text_.data(), 1, text_.size(), file_) != text_.size() ||
        std::fflush(file_) != 0) {
      throw std::runtime_error(fmt::format("cannot write to {}: {}", name_, std::strerror(errno)));
    }
    text_.clear();
  }

 private:
  static constexpr std::size_t kPiece = 1 << 20;
  std::FILE* file_;
  std::string name_, text_;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_truth(const std::string& path) {
  File file(path.empty() ? nullptr : std::fopen(path.c_str(), "wb"), std::fclose);
  if (!path.empty() && !file) {
    throw std::runtime_error(fmt::format("cannot create {}: {}", path, std::strerror(errno)));
  }
  return file;
}

/// `make` appends the row that the world has drawn.
template <class World, class Make>
void write_rows(const Options& options, World& world, Output& rows, const Make& make) {
  File truth_file = open_truth(options.truth);
  Output truth(truth_file.get(), options.truth);
  Summary summary;
  for (std::uint64_t i = 0; i < options.rows; ++i) {
    world.draw(options.first + i);
    make(rows.text());
    rows.flush_if_full();
    if (truth_file) {
      append_probability(world.probability(), truth.text());
      truth.flush_if_full();
    }
    if (!options.quiet) summary.add(world.probability(), world.clicked());
  }
  rows.flush();
  if (truth_file) truth.flush();
  if (!options.quiet) fmt::print(stderr, "leveret-synth: {}\n", summary.text());
}

void generate(const Options& options) {
  Output rows(stdout, "stdout");
  if (options.columns) {
    Columns columns(options.seed, options.base_rate);
    rows.text() += Columns::header();
    return write_rows(options, columns, rows, [&](std::string& to) { columns.append_row(to); });
  }
  PlantedModel model(options);
  RowWriter writer(options);
  writer.header(rows.text());
  write_rows(options, model, rows, [&](std::string& to) { writer.row(model, to); });
}

}  // namespace
}  // namespace leveret::synth

int main(int argc, char** argv) {
  // A closed pipe shall be an error with a message, not a silent death.
  std::signal(SIGPIPE, SIG_IGN);
  leveret::synth::ParsedOptions parsed = leveret::synth::parse_options(argc, argv);
  if (parsed.exit_code) return *parsed.exit_code;
  try {
    leveret::synth::generate(parsed.options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "leveret-synth: error: {}\n", error.what());
    return 1;
  }
  return 0;
}
