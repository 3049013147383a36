/// The communicator over MPI, as the unit test of it looks at threads: run by mpirun. Prints
/// nothing and ends with 0 when all is well.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "dist/mpi/mpi_communicator.h"

namespace {

using namespace leveret::dist;

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "mpi_ranks: %s\n", what);
  std::abort();
}

/// Small integers, so that the sum is exact in any order.
void check_sums(Communicator& ranks, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 100 + ranks.rank());
  ranks.all_reduce_sum(values);
  const unsigned size = ranks.size(), of_ranks = size * (size - 1) / 2;
  for (std::size_t i = 0; i < count; ++i) {
    check(values[i] == static_cast<float>(size * (i % 100) + of_ranks), "a sum is wrong");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MpiCommunicator ranks(argc, argv);
  const unsigned expected = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  check(ranks.size() == expected, "another number of ranks than mpirun was asked for");
  for (const std::size_t count : {0, 1, 2047, 100003}) check_sums(ranks, count);

  Bytes bytes = ranks.is_root() ? std::string(3000000, 'x') : "";
  ranks.broadcast(bytes);
  check(bytes == std::string(3000000, 'x'), "what is sent to all is not what arrives");
  std::vector<Bytes> parts;
  for (unsigned r = 0; r < ranks.size(); ++r) parts.emplace_back(r, 'p');
  Bytes own;
  ranks.scatter(parts, own, Traffic::kInput);
  check(own == parts[ranks.rank()], "a part is another rank's");
  check(ranks.gather(own) == (ranks.is_root() ? parts : std::vector<Bytes>()), "gather");
  ranks.barrier();
  if (argc > 2 && std::string(argv[2]) == "abort") {
    if (ranks.rank() == ranks.size() - 1) ranks.end_all(7);
    ranks.barrier();  // the others wait here
  }
}
