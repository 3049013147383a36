#include "cli/serve/serve_run.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "cli/console.h"
#include "cli/verbs.h"
#include "daemon/models.h"
#include "modelfile/model_io.h"
#include "store/checksum.h"
#include "stream/bad_lines.h"

namespace leveret::cli {
namespace {

/// "NAME=PATH", or a path alone, for the model that is the only one.
daemon::ServerOptions::Source source_of(const daemon::Models& models, const std::string& text,
                                        const char* option) {
  const daemon::NamedPath named = daemon::read_named_path(text);
  if (!named.name.empty()) {
    if (const auto model = models.find(named.name)) return {*model, named.path, false};
  }
  if (models.size() == 1) return {0, text, false};
  throw std::runtime_error(fmt::format("{} {}: there are {} models; say which, {} NAME={}", option,
                                       text, models.size(), option, named.path));
}

}  // namespace

void serve(const ServeOptions& options) {
  daemon::Models models(
      options.models, options.followed,
      options.max_memory > 0 ? options.max_memory : modelfile::default_memory_limit());
  daemon::ServerOptions server_options = options.server;
  server_options.version = version();
  for (const std::string& text : options.watched) {
    server_options.watched.push_back(source_of(models, text, "--watch"));
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].followed) server_options.watched.push_back({i, models[i].path, true});
  }
  const bool quiet = options.quiet;
  const auto tell = [](const std::string& what) { say(stream::escaped(what)); };
  daemon::Server server(models, std::move(server_options), tell);
  if (!quiet) {
    for (std::size_t i = 0; i < models.size(); ++i) {
      tell(fmt::format("{}: serves {} of {}", models[i].name,
                       store::to_hex(models[i].place->get()->fingerprint()), models[i].path));
    }
  }
  // Scripts read where to: with port 0 nobody else knows.
  for (const std::string& address : server.addresses()) tell("listens on " + address);
  server.run();
  if (!quiet) tell("ended");
}

}  // namespace leveret::cli
