/// leveret serve: its options, and what is misuse of them.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cli/score/context_option.h"
#include "cli/score/results.h"
#include "cli/serve/serve_run.h"
#include "cli/verbs.h"
#include "options/numbers.h"

namespace leveret::cli {
namespace {

/// May be given several times, each time with one value.
void add_repeated(CLI::App& verb, const char* names, std::vector<std::string>& values,
                  const char* type, const char* help) {
  verb.add_option(names, values, help)
      ->type_name(type)
      ->check(not_empty())
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

void add_models(CLI::App& verb, ServeOptions& options) {
  add_repeated(verb, "-i,--initial_regressor", options.models, "MODEL",
               "a model, or NAME=MODEL, or a folder of models named *.lvt; repeat it for others");
}

void add_sockets(CLI::App& verb, ServeOptions& options) {
  verb.add_option("--port", options.port,
                  "listen for lines on this port; 0: a free one; default without --socket and "
                  "--http: 26542")
      ->type_name("N")
      ->transform(options::within(0, 65535));
  verb.add_option("--socket", options.server.socket, "listen for lines on this Unix socket")
      ->type_name("PATH")
      ->check(not_empty());
  verb.add_option("--http", options.http, "listen for HTTP on this port; 0: a free one")
      ->type_name("N")
      ->transform(options::within(0, 65535));
  verb.add_option("--address", options.server.address,
                  "the address of these ports; 0.0.0.0 accepts other machines")
      ->type_name("IP")
      ->check(not_empty())
      ->capture_default_str();
  add_repeated(
      verb, "--allow_host", options.server.hosts, "NAME",
      "HTTP on this machine's own address also takes requests for this name, as a proxy may "
      "pass them on; *: for any");
}

void add_versions(CLI::App& verb, ServeOptions& options) {
  add_repeated(verb, "--watch", options.watched, "PATH",
               "take new versions from this file or published folder; NAME=PATH: for that model");
  add_repeated(verb, "--follow", options.followed, "DIR",
               "serve what this folder of `leveret publish` has newest; NAME=DIR: as that model");
}

void add_limits(CLI::App& verb, ServeOptions& options) {
  verb.add_option("--max_memory", options.max_memory,
                  "bytes for all models (K, M, G); a new version that needs more is refused; "
                  "default: three "
                  "quarters of the machine's, or of the cgroup's, at most half of ulimit -v")
      ->type_name("N")
      ->transform(options::bytes_within(1, std::uint64_t{1} << 62));
  verb.add_option("--max_connections", options.server.max_connections,
                  "connections at a time; others wait")
      ->type_name("N")
      ->transform(options::within(1, 1000000))
      ->capture_default_str();
  verb.add_option("--max_line", options.server.scorer.max_line,
                  "bytes of a line (K, M, G); a longer one is bad")
      ->type_name("N")
      ->transform(options::bytes_within(1024, 1u << 30))
      ->capture_default_str();
  verb.add_option("--max_request", options.server.max_request,
                  "bytes of a body of HTTP; a larger one is refused (K, M, G)")
      ->type_name("N")
      ->transform(options::bytes_within(1024, std::uint64_t{1} << 30))
      ->capture_default_str();
  verb.add_option(
          "--max_buffered", options.server.max_buffered,
          "bytes of requests that are not yet answered, of all connections (K, M, G); above "
          "that, nothing more is read")
      ->type_name("N")
      ->transform(options::bytes_within(1024, std::uint64_t{1} << 40))
      ->capture_default_str();
  verb.add_option("--context_cache", options.server.context_bytes,
                  "bytes for contexts that may come again (K, M, G); 0: each is computed again")
      ->type_name("N")
      ->transform(options::bytes_within(0, std::uint64_t{1} << 40))
      ->capture_default_str();
  verb.add_option("--idle", options.idle, "seconds that a connection may wait between requests")
      ->type_name("N")
      ->transform(options::within(1, 86400))
      ->capture_default_str();
  verb.add_option("--request_time", options.request_time,
                  "seconds for a request to arrive, be answered, and its answer to be sent")
      ->type_name("N")
      ->transform(options::within(1, 3600))
      ->capture_default_str();
  verb.add_option("--drain", options.drain,
                  "seconds that open connections get when the server ends")
      ->type_name("N")
      ->transform(options::within(0, 3600))
      ->capture_default_str();
}

void add_answers(CLI::App& verb, ServeOptions& options) {
  add_context_option(verb, options.server.scorer.context,
                     "namespaces of the context; default: those of each request's context");
  verb.add_flag("--context_lines", options.server.context_lines,
                "each request is a context line, a line for each candidate, and an empty line");
  add_link_option(verb, options.link);
}

void settle(ServeOptions& options) {
  if (options.models.empty() && options.followed.empty()) {
    throw CLI::ValidationError("give a model (-i) or a folder of `leveret publish` (--follow)");
  }
  if (!options.port && !options.http && options.server.socket.empty()) options.port = 26542;
  options.server.port = options.port;
  options.server.http = options.http;
  split_context(options.server.scorer.context);
  options.server.scorer.scores = options.link == "identity";
  options.server.idle = std::chrono::seconds(options.idle);
  options.server.request_time = std::chrono::seconds(options.request_time);
  options.server.drain = std::chrono::seconds(options.drain);
}

}  // namespace

void setup_serve(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* verb =
      app.add_subcommand("serve", "answer lines and HTTP; takes new versions of models");
  add_models(*verb, *options);
  add_sockets(*verb, *options);
  add_versions(*verb, *options);
  add_answers(*verb, *options);
  verb->add_option("--threads", options->server.threads, "threads that answer")
      ->type_name("N")
      ->transform(options::within(1, 256))
      ->capture_default_str();
  add_limits(*verb, *options);
  add_log_option(*verb, options->log);
  verb->add_flag("--quiet", options->quiet, "log neither the start nor the end");
  verb->callback([options, &exit_code] {
    settle(*options);
    serve(*options);
    exit_code = 0;
  });
}

}  // namespace leveret::cli
