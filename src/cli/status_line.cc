#include "cli/status_line.h"

#include "cli/console.h"

namespace leveret::cli {

StatusLine::StatusLine(bool wanted, unsigned passes) : start_(std::chrono::steady_clock::now()) {
  if (wanted && stderr_is_terminal()) bar_.emplace(passes);
}

StatusLine::~StatusLine() {
  if (bar_) set_status({});
}

void StatusLine::begin_pass(const stream::ExampleSource& source) {
  source_ = &source;
  if (bar_) bar_->begin_pass(source.bytes_total(), seconds());
}

void StatusLine::show(std::uint64_t examples) {
  if (!bar_ || !bar_->due(seconds())) return;
  set_status(bar_->render(source_->bytes_read(), examples, seconds(), terminal_columns() - 1));
}

double StatusLine::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

}  // namespace leveret::cli
