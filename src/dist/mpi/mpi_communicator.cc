#include "dist/mpi/mpi_communicator.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

namespace leveret::dist {
namespace {

/// MPI counts in int; larger messages go in pieces.
constexpr std::size_t kPiece = std::size_t{1} << 30;

/// MPI_Wait of Open MPI asks without a pause: a rank that waits for its next batch, for hours where
/// the input is a pipe, would take a processor for it, and one that shares its processor with
/// others would keep them from the work it waits for. The pause grows with the time waited.
class Patience {
 public:
  void wait() {
    if (++asked_ < kEager) return;
    if (asked_ < kPolite) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(pause_ * 5 / 4, kLongest);
  }

 private:
  static constexpr int kEager = 1000, kPolite = 3000;
  static constexpr std::chrono::nanoseconds kLongest = std::chrono::milliseconds(2);
  int asked_ = 0;
  std::chrono::nanoseconds pause_ = std::chrono::microseconds(20);
};

void wait_for_all(std::vector<MPI_Request>& requests) {
  Patience patience;
  for (int done = 0;;) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) return;
    patience.wait();
  }
}

template <class Span, class Start>
void start_in_pieces(Span bytes, std::vector<MPI_Request>& requests, Start start) {
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const Span piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    start(piece.data(), static_cast<int>(piece.size()), &requests.emplace_back());
  }
}

void start_sending(unsigned to, std::span<const std::byte> bytes,
                   std::vector<MPI_Request>& requests) {
  start_in_pieces(bytes, requests, [&](const std::byte* at, int size, MPI_Request* request) {
    MPI_Isend(at, size, MPI_BYTE, static_cast<int>(to), 0, MPI_COMM_WORLD, request);
  });
}

void start_receiving(unsigned from, std::span<std::byte> bytes,
                     std::vector<MPI_Request>& requests) {
  start_in_pieces(bytes, requests, [&](std::byte* at, int size, MPI_Request* request) {
    MPI_Irecv(at, size, MPI_BYTE, static_cast<int>(from), 0, MPI_COMM_WORLD, request);
  });
}

}  // namespace

MpiCommunicator::Place MpiCommunicator::start(int& argc, char**& argv) {
  int provided = 0, rank = 0, size = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (provided < MPI_THREAD_FUNNELED) {
    throw std::runtime_error("this MPI cannot be used by a program that has threads");
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return {static_cast<unsigned>(rank), static_cast<unsigned>(size)};
}

MpiCommunicator::MpiCommunicator(int& argc, char**& argv) : MpiCommunicator(start(argc, argv)) {
  exceptions_ = std::uncaught_exceptions();
}

MpiCommunicator::~MpiCommunicator() {
  if (std::uncaught_exceptions() == exceptions_) MPI_Finalize();
}

void MpiCommunicator::end_all(int exit_code) noexcept { MPI_Abort(MPI_COMM_WORLD, exit_code); }

void MpiCommunicator::do_send(unsigned to, std::span<const std::byte> bytes) {
  std::vector<MPI_Request> requests;
  start_sending(to, bytes, requests);
  wait_for_all(requests);
}

void MpiCommunicator::do_receive(unsigned from, std::span<std::byte> bytes) {
  std::vector<MPI_Request> requests;
  start_receiving(from, bytes, requests);
  wait_for_all(requests);
}

void MpiCommunicator::do_exchange(unsigned with, std::span<const std::byte> out,
                                  std::span<std::byte> in) {
  std::vector<MPI_Request> requests;
  start_receiving(with, in, requests);
  start_sending(with, out, requests);
  wait_for_all(requests);
}

}  // namespace leveret::dist
