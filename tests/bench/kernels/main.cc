#include "kernels/registry.h"

int main(int argc, char** argv) {
  leveret::bench::register_ffm();
  leveret::bench::register_dense();
  leveret::bench::register_vectors();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
