/* What a program sends by MPI, call by call: a library for LD_PRELOAD that stands between the program
 * and MPI by MPI's profiling interface (PMPI). Writes a line for each call that sends or receives to
 * the file LEVERET_MPI_CALLS.RANK: "send TO BYTES" or "receive FROM BYTES".
 *
 * It knows the two functions by which leveret-mpi does that; tests/dist/run looks that there are no
 * others. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *calls;

static void note(const char *what, int peer, int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  if (calls != NULL) fprintf(calls, "%s %d %lld\n", what, peer, (long long)count * size);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  const char *const name = getenv("LEVERET_MPI_CALLS");
  char path[4096];
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (name == NULL) return result;
  snprintf(path, sizeof path, "%s.%d", name, rank);
  calls = fopen(path, "w");
  return result;
}

int MPI_Finalize(void) {
  if (calls != NULL) fclose(calls);
  calls = NULL;
  return PMPI_Finalize();
}

int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks,
              MPI_Request *request) {
  note("send", to, count, type);
  return PMPI_Isend(from, count, type, to, tag, ranks, request);
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm ranks,
              MPI_Request *request) {
  note("receive", from, count, type);
  return PMPI_Irecv(to, count, type, from, tag, ranks, request);
}
