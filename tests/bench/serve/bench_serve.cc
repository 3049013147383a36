/// Requests through a C interface: libleveret's or FW's. Prints one line,
///
///   CANDIDATES/S  MEDIAN  P99  FIRST
///
/// candidates per second of all threads together, microseconds of a request at the median and at
/// the 99th percentile, and those of the first one after loading. REQUESTS: a line of the context's
/// features, lines of candidates, an empty line. They come again and again until the time is over.
#include <dlfcn.h>
#include <leveret/leveret.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Request {
  std::string context, candidates, wholes;  ///< lines
  std::vector<std::string> lines;           ///< of wholes
  // As arrays.
  std::vector<leveret_feature> context_features, features;
  std::vector<std::size_t> ends;
};

std::vector<Request> read_requests(const std::string& path) {
  std::ifstream file(path);
  std::vector<Request> requests;
  bool is_open = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) {
      is_open = false;
    } else if (!is_open) {
      requests.emplace_back().context = line.substr(line.find('|')) + "\n";
      is_open = true;
    } else {
      Request& request = requests.back();
      request.candidates += line + "\n";
      request.lines.push_back(request.context);
      request.lines.back().back() = ' ';
      request.lines.back() += line.substr(line.find('|')) + "\n";
      request.wholes += request.lines.back();
    }
  }
  if (requests.empty()) throw std::runtime_error(path + ": has no requests");
  return requests;
}

void check(int code) {
  if (code != LEVERET_OK) throw std::runtime_error(leveret_error_message());
}

/// Appends the features of a line without values.
void append_features(const leveret_model* model, std::string_view line,
                     std::vector<leveret_feature>& features) {
  std::uint32_t space = 0;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find_first_of(" \n", at), line.size());
    const std::string_view word = line.substr(at, end - at);
    if (word.starts_with('|')) {
      check(leveret_hash_namespace(model, word.data() + 1, word.size() - 1, &space));
    } else if (!word.empty()) {
      std::uint32_t hash = 0;
      check(leveret_hash_feature(model, space, word.data(), word.size(), &hash));
      features.push_back({space, hash, 1});
    }
    at = end + 1;
  }
}

void make_arrays(const leveret_model* model, std::vector<Request>& requests) {
  for (Request& request : requests) {
    append_features(model, request.context, request.context_features);
    for (std::size_t at = 0; at < request.candidates.size();) {
      const std::size_t end = request.candidates.find('\n', at);
      append_features(model, std::string_view(request.candidates).substr(at, end - at),
                      request.features);
      request.ends.push_back(request.features.size());
      at = end + 1;
    }
  }
}

/// Answers a request; one for each thread.
using Answer = std::function<void(const Request& request, float* probabilities)>;

Answer leveret_answer(leveret_model* model, const std::string& way, const std::string& context) {
  leveret_predictor* made = nullptr;
  check(leveret_predictor_new(model, way == "plain" ? "" : context.c_str(), &made));
  const std::shared_ptr<leveret_predictor> predictor(made, leveret_predictor_free);
  if (way == "plain") {
    return [predictor](const Request& request, float* p) {
      check(leveret_predict_lines(predictor.get(), request.wholes.data(), request.wholes.size(), p,
                                  request.lines.size()));
    };
  }
  if (way == "arrays") {
    return [predictor](const Request& request, float* p) {
      check(leveret_set_context_features(predictor.get(), LEVERET_BY_NAMESPACE,
                                         request.context_features.data(),
                                         request.context_features.size()));
      check(leveret_predict_features(predictor.get(), LEVERET_BY_NAMESPACE, request.features.data(),
                                     request.ends.data(), p, request.ends.size()));
    };
  }
  return [predictor](const Request& request, float* p) {
    check(leveret_set_context(predictor.get(), request.context.data(), request.context.size()));
    check(leveret_predict_lines(predictor.get(), request.candidates.data(),
                                request.candidates.size(), p, request.lines.size()));
  };
}

/// FW's C interface, of a library by its path.
struct Fw {
  explicit Fw(const std::string& path) {
    void* const library = dlopen(path.c_str(), RTLD_NOW);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto find = [&](const char* name, auto& function) {
      void* const found = dlsym(library, name);
      if (found == nullptr) throw std::runtime_error(dlerror());
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    };
    find("new_fw_predictor_prototype", make);
    find("clone_lite", clone);
    find("fw_predict", predict);
    find("fw_predict_with_cache", predict_with_cache);
    find("fw_setup_cache", set_up_cache);
  }

  void* (*make)(const char* command) = nullptr;
  void* (*clone)(void* prototype) = nullptr;
  float (*predict)(void* predictor, const char* line) = nullptr;
  float (*predict_with_cache)(void* predictor, const char* line) = nullptr;
  float (*set_up_cache)(void* predictor, const char* line) = nullptr;
};

/// It takes whole lines, with a cache, too: of these it passes over the context's part.
Answer fw_answer(const Fw& fw, void* prototype, bool with_cache) {
  void* const predictor = fw.clone(prototype);
  return [fw, predictor, with_cache](const Request& request, float* p) {
    if (with_cache) fw.set_up_cache(predictor, request.context.c_str());
    for (const std::string& line : request.lines) {
      *p = (with_cache ? fw.predict_with_cache : fw.predict)(predictor, line.c_str());
      if (*p++ < 0) throw std::runtime_error("FW cannot score: " + line);
    }
  };
}

struct Times {
  std::vector<double> requests;  ///< microseconds, in order
  std::uint64_t candidates = 0;
};

Times run(const std::vector<Request>& requests, const Answer& answer, double seconds) {
  Times times;
  std::vector<float> probabilities;
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0;; ++i) {
    const Request& request = requests[i % requests.size()];
    probabilities.resize(request.lines.size());
    const Clock::time_point start = Clock::now();
    answer(request, probabilities.data());
    const Clock::time_point end = Clock::now();
    times.requests.push_back(std::chrono::duration<double, std::micro>(end - start).count());
    times.candidates += request.lines.size();
    const bool all_came = i + 1 >= requests.size();
    if (all_came && std::chrono::duration<double>(end - begin).count() >= seconds) return times;
  }
}

double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

struct Options {
  std::string way = "text", model, context, requests, fw, fw_command;
  unsigned threads = 1;
  double seconds = 1;
};

/// Makes the answer of each thread.
std::function<Answer()> load(const Options& options, std::vector<Request>& requests) {
  if (!options.fw.empty()) {
    const Fw fw(options.fw);
    void* const prototype = fw.make(options.fw_command.c_str());
    return
        [=, with_cache = options.way != "plain"] { return fw_answer(fw, prototype, with_cache); };
  }
  leveret_model* model = nullptr;
  check(leveret_model_open(options.model.c_str(), &model));
  if (options.way == "arrays") make_arrays(model, requests);
  return [=] { return leveret_answer(model, options.way, options.context); };
}

void measure(const Options& options) {
  std::vector<Request> requests = read_requests(options.requests);
  const std::function<Answer()> make_answer = load(options, requests);
  std::vector<Answer> answers;
  for (unsigned t = 0; t < options.threads; ++t) answers.push_back(make_answer());
  std::vector<Times> times(options.threads);
  std::vector<std::thread> threads;
  const Clock::time_point begin = Clock::now();
  for (unsigned t = 1; t < options.threads; ++t) {
    threads.emplace_back([&, t] { times[t] = run(requests, answers[t], options.seconds); });
  }
  times[0] = run(requests, answers[0], options.seconds);
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  double candidates = 0;
  for (const Times& of : times) candidates += static_cast<double>(of.candidates);
  // Without the first request, which is shown on its own.
  std::vector<double> later(times[0].requests.begin() + 1, times[0].requests.end());
  if (later.empty()) later = times[0].requests;
  std::printf("%.0f %.1f %.1f %.1f\n", candidates / seconds, quantile(later, 0.5),
              quantile(later, 0.99), times[0].requests[0]);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times requests through a C interface");
  app.add_option("--way", options.way,
                 "plain: whole lines; text: with a context; arrays: the same without text")
      ->check(CLI::IsMember({"plain", "text", "arrays"}));
  app.add_option("--model", options.model, "of leveret");
  app.add_option("--context", options.context, "namespaces of contexts");
  app.add_option("--requests", options.requests)->required();
  app.add_option("--fw", options.fw, "FW's library, in place of libleveret");
  app.add_option("--fw_command", options.fw_command, "what FW's predictor is made by");
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 256));
  app.add_option("--seconds", options.seconds)->check(CLI::NonNegativeNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    measure(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_serve: %s\n", error.what());
    std::exit(1);
  }
  // Without the ends of FW's logging threads.
  std::fflush(stdout);
  std::quick_exit(0);
}
