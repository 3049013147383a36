/// Asks a server, over some connections of one thread.
///
/// Closed: each connection asks again when it is answered. Open: requests are due at a fixed rate,
/// whatever becomes of those before, and their time runs from then on: a server that stands still
/// is charged for all that was due meanwhile (no coordinated omission).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "expected.h"
#include "figures.h"
#include "requests.h"

namespace leveret::load {

struct LoadOptions {
  std::string address;  ///< "127.0.0.1:26542", or the path of a Unix socket
  std::size_t connections = 16;
  std::size_t pipeline = 1;  ///< requests without an answer, of each connection; 0: any number
  double rate = 0;           ///< requests per second; 0: closed
  double seconds = 5;        ///< as long requests are sent
  double warm_up = 0.5;      ///< of these, at first, that are not counted
  double grace = 10;         ///< as long answers are waited for then
};

/// SIGTERM ends it before its time. `expected` may be empty: answers are counted then, not
/// compared. std::runtime_error where there is no connection.
Figures run_load(const LoadOptions& options, Protocol protocol,
                 const std::vector<Request>& requests, Expected& expected);

}  // namespace leveret::load
