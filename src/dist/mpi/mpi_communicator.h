/// Ranks as processes that mpirun or srun has started. The only files that know MPI are in here.
#pragma once

#include "dist/talk/communicator.h"

namespace leveret::dist {

/// MPI from its start to its end: one object, made first in main() and destroyed last, by the
/// thread that calls it (MPI_THREAD_FUNNELED). Where it is destroyed by an exception, MPI is not
/// ended: that would wait for the other ranks. main() calls end_all() then.
///
/// A process that no launcher started is one rank of one. Errors of MPI itself end all ranks, with
/// a message of MPI's.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(int& argc, char**& argv);
  ~MpiCommunicator() override;

  /// MPI_Abort: mpirun ends with this exit code.
  void end_all(int exit_code) noexcept override;

 private:
  struct Place {
    unsigned rank, size;
  };
  explicit MpiCommunicator(Place place) : Communicator(place.rank, place.size) {}
  static Place start(int& argc, char**& argv);

  void do_send(unsigned to, std::span<const std::byte> bytes) override;
  void do_receive(unsigned from, std::span<std::byte> bytes) override;
  void do_exchange(unsigned with, std::span<const std::byte> out, std::span<std::byte> in) override;

  int exceptions_ = 0;  ///< under way when it was made
};

}  // namespace leveret::dist
