/* replace MODEL OTHER LINES CONTEXT TIMES: threads that predict while the model is replaced, again
 * and again. Each request is answered by one of the two models, all of it. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "check.h"
#include "read_text.h"

enum { THREADS = 3 };

static leveret_model* model;
static char* text;
static size_t size, count;
static float *one, *two;
static const char* context;
static int seen_one, seen_two;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int stop;

static int stopped(void) {
  int now;
  pthread_mutex_lock(&mutex);
  now = stop;
  pthread_mutex_unlock(&mutex);
  return now;
}

static void score(const char* path, float* to) {
  leveret_model* alone = NULL;
  leveret_predictor* predictor = NULL;
  CHECK(leveret_model_open(path, &alone) == LEVERET_OK);
  CHECK(leveret_predictor_new(alone, context, &predictor) == LEVERET_OK);
  CHECK(leveret_set_context(predictor, "|A b0", 5) == LEVERET_OK);
  CHECK(leveret_predict_lines(predictor, text, size, to, count) == LEVERET_OK);
  leveret_predictor_free(predictor);
  leveret_model_close(alone);
}

static void* work(void* unused) {
  leveret_predictor* predictor = NULL;
  float* const got = malloc(count * sizeof *got);
  int by_one = 0, by_two = 0, wrong = 0;
  (void)unused;
  wrong += leveret_predictor_new(model, context, &predictor) != LEVERET_OK;
  do {
    int is_one, is_two;
    wrong += leveret_set_context(predictor, "|A b0", 5) != LEVERET_OK;
    wrong += leveret_predict_lines(predictor, text, size, got, count) != LEVERET_OK;
    is_one = memcmp(got, one, count * sizeof *got) == 0;
    is_two = memcmp(got, two, count * sizeof *got) == 0;
    wrong += !is_one && !is_two;
    by_one += is_one;
    by_two += is_two;
  } while (!stopped());
  leveret_predictor_free(predictor);
  free(got);
  pthread_mutex_lock(&mutex);
  failures += wrong;
  seen_one += by_one;
  seen_two += by_two;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

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
  pthread_t threads[THREADS];
  int i;
  if (argc != 6) return 2;
  text = read_text(argv[3], &size, &count);
  context = argv[4];
  one = malloc(count * sizeof *one);
  two = malloc(count * sizeof *two);
  score(argv[1], one);
  score(argv[2], two);
  CHECK(memcmp(one, two, count * sizeof *one) != 0);
  CHECK(leveret_model_open(argv[1], &model) == LEVERET_OK);
  if (failures > 0) return 1;
  for (i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (i = 0; i < atoi(argv[5]); ++i) {
    CHECK(leveret_model_replace(model, argv[1 + (i + 1) % 2]) == LEVERET_OK);
  }
  pthread_mutex_lock(&mutex);
  stop = 1;
  pthread_mutex_unlock(&mutex);
  for (i = 0; i < THREADS; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  check_memory(argv + 1);
  leveret_model_close(model);
  printf("%d requests by the first model, %d by the other\n", seen_one, seen_two);
  CHECK(seen_one > 0 && seen_two > 0);
  free(one);
  free(two);
  free(text);
  return failures != 0;
}
