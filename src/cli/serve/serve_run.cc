#include "cli/serve/serve_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "cli/verbs.h"
#include "daemon/models.h"
#include "modelfile/model_io.h"
#include "store/checksum.h"
#include "stream/bad_lines.h"

namespace leveret::cli {
namespace {

using Source = daemon::ServerOptions::Source;

bool is_same_folder(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::is_directory(a, error) && std::filesystem::equivalent(a, b, error);
}

/// The places that --watch names: "NAME=PATH"; a folder that is given as one of models, each by its
/// own file; or a path alone, for the model that is the only one.
std::vector<Source> watched_by(const daemon::Models& models, const std::vector<std::string>& given,
                               const std::string& text) {
  const daemon::NamedPath named = daemon::read_named_path(text);
  if (!named.name.empty()) {
    if (const auto model = models.find(named.name)) return {{*model, named.path, false}};
  }
  const bool is_of_models =
      std::ranges::any_of(given, [&](const std::string& one) { return is_same_folder(one, text); });
  std::vector<Source> sources;
  for (std::size_t i = 0; is_of_models && i < models.size(); ++i) {
    const std::string folder = std::filesystem::path(models[i].path).parent_path().string();
    if (!models[i].followed && is_same_folder(folder.empty() ? "." : folder, text)) {
      sources.push_back({i, models[i].path, false});
    }
  }
  if (!sources.empty()) return sources;
  if (models.size() == 1) return {{0, text, false}};
  throw std::runtime_error(
      fmt::format("--watch {}: there are {} models; say which, --watch NAME={}", text,
                  models.size(), named.path));
}

/// Which findings have been told of which model; any thread.
class SkewTeller {
 public:
  bool add(const std::string& model, const skew::SkewFinding& finding) {
    const std::lock_guard lock(mutex_);
    return told_[model].add(finding);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, skew::SkewTold> told_;
};

}  // namespace

void serve(const ServeOptions& options) {
  log_as(options.log.value_or(LogFormat::kText));
  daemon::Models models(
      options.models, options.followed,
      options.max_memory > 0 ? options.max_memory : modelfile::default_memory_limit());
  daemon::ServerOptions server_options = options.server;
  server_options.version = version();
  for (const std::string& text : options.watched) {
    std::ranges::move(watched_by(models, options.models, text),
                      std::back_inserter(server_options.watched));
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].followed) server_options.watched.push_back({i, models[i].path, true});
  }
  const bool quiet = options.quiet;
  const auto tell = [](const std::string& what) { say(stream::escaped(what)); };
  SkewTeller skew;
  server_options.scorer.tell_skew = [&](const std::string& model,
                                        const skew::SkewFinding& finding) {
    if (skew.add(model, finding)) tell("warning: " + model + ": skew: " + skew::to_text(finding));
  };
  daemon::Server server(models, std::move(server_options), tell);
  if (!quiet) {
    for (std::size_t i = 0; i < models.size(); ++i) {
      const auto served = models[i].place->get();
      tell(served->is_nothing()
               ? fmt::format("{}: waits for the first step of {}", models[i].name, models[i].path)
               : fmt::format("{}: serves {} of {}", models[i].name,
                             store::to_hex(served->fingerprint()), models[i].path));
    }
  }
  // Scripts read where to: with port 0 nobody else knows.
  for (const std::string& address : server.addresses()) tell("listens on " + address);
  server.run();
  if (!quiet) tell("ended");
}

}  // namespace leveret::cli
