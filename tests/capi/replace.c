/* replace MODEL OTHER LINES CONTEXT TIMES: threads that predict while the model is replaced, again
 * and again. Each request is answered by one of the two models, all of it. */
#include "beside.h"

/* Of this process, in megabytes. */
static long resident(void) {
  long pages = 0, in_memory = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &pages, &in_memory) != 2) CHECK(!"statm");
  if (file != NULL) fclose(file);
  return in_memory / 256; /* pages of 4 KB */
}

/* A model is gone with its last predictor: a hundred of them, each used, leave nothing behind. */
static void check_memory(char** paths) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  leveret_predictor *moving = NULL, *idle = NULL;
  float p;
  long before = 0;
  int i;
  CHECK(leveret_predictor_new(model, context, &moving) == LEVERET_OK);
  CHECK(leveret_predictor_new(model, context, &idle) == LEVERET_OK);
  for (i = 0; i < 100; ++i) {
    CHECK(leveret_model_replace(model, paths[i % 2]) == LEVERET_OK);
    CHECK(leveret_predict_lines(moving, "|A b0", 5, &p, 1) == LEVERET_OK);
    if (i == 10) before = resident();
  }
  CHECK(resident() - before < 10);
  leveret_predictor_free(moving);
  leveret_predictor_free(idle);
#else
  (void)paths;
  (void)resident;
#endif
}

int main(int argc, char** argv) {
  int i;
  if (argc != 6) return 2;
  text = read_text(argv[3], &size, &count);
  context = argv[4];
  add_answers(argv[1]);
  add_answers(argv[2]);
  CHECK(leveret_model_open(argv[1], &model) == LEVERET_OK);
  if (failures > 0) return 1;
  start_threads();
  for (i = 0; i < atoi(argv[5]); ++i) {
    CHECK(leveret_model_replace(model, argv[1 + (i + 1) % 2]) == LEVERET_OK);
  }
  end_threads();
  check_memory(argv + 1);
  leveret_model_close(model);
  free(text);
  return failures != 0;
}
