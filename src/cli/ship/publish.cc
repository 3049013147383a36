/// leveret publish: a folder from which models are served.
#include "publish/publish.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/process.h"
#include "cli/ship/publish_metrics.h"
#include "cli/signals.h"
#include "cli/textfile.h"
#include "cli/verbs.h"
#include "files/file_state.h"
#include "options/numbers.h"
#include "publish/gate.h"
#include "publish/manifest.h"
#include "stream/bad_lines.h"
#include "text/plain_number.h"

namespace leveret::cli {
namespace {

using publish::Entry;
using publish::Published;

struct PublishFlags {
  std::string folder, model, textfile;
  std::uint64_t rollback = 0;  ///< 0: none
  int bits = 0;                ///< 0: as before
  double tolerance = 0;
  bool watch = false, overwrite = false;
  std::optional<LogFormat> log;
  publish::PublishOptions options;
};

/// "7.lvt (12345 bytes)".
std::string name_and_bytes(const Entry& entry) {
  return fmt::format("{} ({} bytes)", entry.file, entry.bytes);
}

/// Says each value. Returns those that miss their limit.
std::string say_measured(const std::vector<publish::Measured>& measured) {
  std::string failed;
  for (const publish::Measured& one : measured) {
    const std::string text =
        fmt::format("{}: {} = {}{}, must be {}", one.file, one.metric, publish::value_text(one),
                    one.is_told ? "" : " (too few examples to tell)", one.limit);
    say(text + (one.holds ? "" : ": refused"));
    if (!one.holds) failed += (failed.empty() ? "" : "; ") + text;
  }
  return failed;
}

void tell(const PublishFlags& flags, const Published& published) {
  if (!published.damage.empty()) {
    say(fmt::format("warning: {}; so this step has no patch", published.damage));
  }
  if (!published.odd.empty()) say(fmt::format("warning: {}: {}", flags.folder, published.odd));
  const std::string failed = say_measured(published.measured);
  const Entry& full = published.full;
  const Entry& patch = published.patch;
  switch (published.what) {
    case Published::What::kRefused:
      throw std::runtime_error(
          fmt::format("{}: nothing is published: {} does not pass the gate: {}", flags.folder,
                      flags.model, failed));
    case Published::What::kSame:
      return say(
          fmt::format("{}: step {} is this model already: nothing to do", flags.folder, full.step));
    case Published::What::kRolledBack:
      return say(
          fmt::format("warning: {}: {} is the model of step {}, which was rolled back: not "
                      "published; `leveret publish {} --rollback {}` makes it the newest again",
                      flags.folder, flags.model, full.step, flags.folder, full.step));
    case Published::What::kNew:
      break;
  }
  std::string files = full.file.empty() ? "" : name_and_bytes(full);
  if (!patch.file.empty()) files += (files.empty() ? "" : ", ") + name_and_bytes(patch);
  const std::uint64_t step = full.file.empty() ? patch.step : full.step;
  const std::string what = flags.rollback == 0
                               ? "is published"
                               : fmt::format("is the model of step {} again", flags.rollback);
  say(fmt::format("{}: step {} {}: {}", flags.folder, step, what, files));
}

/// "2026-11-30 06:12"; seconds since 1970, 0: nobody knows.
std::string minute_of(std::uint64_t seconds) {
  if (seconds == 0) return "-";
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts)};
}

int list(const std::string& folder) {
  const std::optional<publish::Manifest> manifest = publish::read_manifest(folder);
  if (!manifest) {
    throw std::runtime_error(folder +
                             ": nothing is published there: it has no manifest.json; -i MODEL "
                             "publishes a model");
  }
  std::string text =
      fmt::format("{:>8} {:<16} {:<5} {:>12} {:>12} {:<32} {}\n", "step", "published (UTC)", "kind",
                  "bytes", "examples", "fingerprint", "file");
  std::uint64_t shown = 0;  // the step whose figures have been
  for (const Entry& entry : manifest->entries) {
    text += fmt::format(
        "{:>8} {:<16} {:<5} {:>12} {:>12} {:<32} {}\n", entry.step, minute_of(entry.published),
        entry.kind == Entry::Kind::kFull ? "full" : "patch", entry.bytes,
        entry.sequence == modelfile::kNoSequence ? "-" : std::to_string(entry.sequence),
        store::to_hex(entry.fingerprint), stream::escaped(entry.file));
    for (const publish::GateFigure& figure : entry.gates) {
      if (shown == entry.step) break;
      const std::string words = fmt::format("{}: {} = {}, must be {}", figure.file, figure.metric,
                                            figure.value, figure.limit);
      text += fmt::format("{:>8}   {}\n", "", stream::escaped(words));
    }
    shown = entry.step;
  }
  Output output("");
  output.write(text);
  output.close();
  return 0;
}

void settle(PublishFlags& flags) {
  while (flags.folder.size() > 1 && flags.folder.ends_with('/')) flags.folder.pop_back();
  if (flags.bits != 0) flags.options.bits = flags.bits;
  flags.options.tolerance = flags.tolerance;
  flags.options.threads = processors();
}

/// A file that is missing is reported now, not when the first model comes.
void begin_watch(const PublishFlags& flags) {
  for (const publish::Gate& gate : flags.options.gates) {
    if (::access(gate.file.c_str(), F_OK) == 0) continue;
    throw std::runtime_error(gate.file + ": --gate names this file, and it is not there");
  }
  say(fmt::format("publishes each model that is saved as {} in {}", flags.model, flags.folder));
  if (!files::state_of(flags.model)) {
    say(fmt::format("warning: {} is not there yet; waiting for it", flags.model));
  }
}

/// Each version of the model that appears, until a signal. A failure that is not the version's
/// fault is tried again: another publisher may be at work in the folder.
int publish_each(const PublishFlags& flags, PublishMetrics& metrics) {
  using namespace std::chrono_literals;
  constexpr std::chrono::milliseconds kLookEvery = 100ms, kTryAgain = 1s;
  const StopOnSignal stop;
  try {
    begin_watch(flags);
  } catch (...) {
    metrics.add_failure();
    throw;
  }
  std::uint64_t told = 0;  // the step of a model that came again
  std::optional<files::FileState> last, failed;
  std::string said;
  while (!stop.stopped()) {
    const std::optional<files::FileState> now = files::state_of(flags.model);
    if (!now || now == last) {
      std::this_thread::sleep_for(kLookEvery);
      continue;
    }
    try {
      const Published published = publish::publish_model(flags.folder, flags.model, flags.options);
      last = now;
      said.clear();
      metrics.add(published);
      const bool again = published.what == Published::What::kSame;
      if (!again || told != published.full.step) tell(flags, published);
      told = again ? published.full.step : 0;
    } catch (const std::exception& error) {
      if (last != now && failed != now) metrics.add_failure();
      if (last != now) failed = now;
      if (said != error.what()) say("error: " + (said = error.what()));
      if (last != now) std::this_thread::sleep_for(kTryAgain);
    }
  }
  return 0;
}

void publish_once(const PublishFlags& flags, PublishMetrics& metrics) {
  Published published;
  try {
    published = publish::publish_model(flags.folder, flags.model, flags.options);
  } catch (...) {
    metrics.add_failure();
    throw;
  }
  metrics.add(published);
  tell(flags, published);
}

int run_publish(PublishFlags& flags) {
  settle(flags);
  PublishMetrics metrics(flags.textfile, flags.folder);
  if (flags.rollback > 0) {
    tell(flags, publish::roll_back(flags.folder, flags.rollback, flags.options));
  } else if (!flags.model.empty()) {
    FileUses uses;
    uses.add_read("-i", flags.model);
    if (!flags.textfile.empty()) {
      uses.add_output("--textfile", flags.textfile, store::Content::kMetrics);
    }
    uses.check(flags.overwrite);
    if (flags.watch) {
      log_as(flags.log.value_or(LogFormat::kText));
      return publish_each(flags, metrics);
    }
    publish_once(flags, metrics);
  } else {
    return list(flags.folder);
  }
  return 0;
}

void add_export_choices(CLI::App& verb, PublishFlags& flags, CLI::Option& model) {
  verb.add_option("--bits", flags.bits,
                  "bits of a weight: 32, 16, 8 or 4; default: those of the newest step, or 16")
      ->type_name("N")
      ->transform(options::one_of({32, 16, 8, 4}))
      ->needs(&model);
  verb.add_option("--min_count", flags.options.min_count,
                  "leave out features that were seen fewer than N times")
      ->type_name("N")
      ->transform(options::within(0, text::kAnyWhole))
      ->default_str("0")
      ->needs(&model);
  verb.add_option("--tolerance", flags.tolerance,
                  "keep the newest step's code of a weight that has moved by less than X codes")
      ->type_name("X")
      ->transform(options::real_within(0, 1000))
      ->default_str("0")
      ->needs(&model);
}

void add_gate(CLI::App& verb, PublishFlags& flags, CLI::Option& model) {
  verb.add_option_function<std::vector<std::string>>(
          "--gate",
          [&flags](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              try {
                flags.options.gates.push_back(publish::parse_gate(text));
              } catch (const std::runtime_error& error) {
                throw CLI::ValidationError("--gate", error.what());
              }
            }
          },
          "publish only a model that meets this on labelled lines: \"FILE: ne < 0.8, calibration "
          "0.9..1.1, not_worse\"; several may be given")
      ->type_name("GATE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->needs(&model);
}

}  // namespace

void setup_publish(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<PublishFlags>();
  CLI::App* verb = app.add_subcommand(
      "publish", "a folder of models that servers follow; without options its steps");
  verb->add_option("folder", flags->folder, "the folder")
      ->type_name("DIR")
      ->check(not_empty())
      ->required();
  CLI::Option* model =
      verb->add_option("-i,--initial_regressor", flags->model, "the model, or an export of it")
          ->type_name("MODEL")
          ->check(not_empty());
  add_gate(*verb, *flags, *model);
  verb->add_option("--rollback", flags->rollback, "make this older step the newest, again")
      ->type_name("STEP")
      ->transform(options::within(1, text::kAnyWhole))
      ->excludes(model);
  CLI::Option* watch =
      verb->add_flag("--watch", flags->watch,
                     "publish each model that is saved as MODEL, until a signal ends it")
          ->needs(model);
  add_log_option(*verb, flags->log)->needs(watch);
  add_textfile_option(*verb, flags->textfile, "after each model, published or refused")
      ->needs(model);
  add_overwrite_option(*verb, flags->overwrite);
  add_export_choices(*verb, *flags, *model);
  verb->add_option("--full_every", flags->options.full_every,
                   "steps from one full file to the next; between them are patches")
      ->type_name("N")
      ->transform(options::within(1, 1'000'000))
      ->needs(model)
      ->capture_default_str();
  verb->add_option("--keep", flags->options.keep, "steps that --rollback can return to")
      ->type_name("N")
      ->transform(options::within(1, 100'000))
      ->capture_default_str();
  verb->callback([flags, &exit_code] { exit_code = run_publish(*flags); });
}

}  // namespace leveret::cli
