/* Threads that predict while the model is changed. Each request is to be answered by one of the
 * models whose answers are known, all of it. */
#ifndef BESIDE_H
#define BESIDE_H

#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "check.h"
#include "read_text.h"

enum { THREADS = 3, MOST_MODELS = 3 };

static leveret_model* model;
static char* text; /* candidates */
static size_t size, count;
static const char* context; /* namespaces */
static int models;          /* whose answers are known */
static float* answers[MOST_MODELS];
static int seen[MOST_MODELS]; /* requests that each has answered */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t threads[THREADS];
static int stop;

static int stopped(void) {
  int now;
  pthread_mutex_lock(&mutex);
  now = stop;
  pthread_mutex_unlock(&mutex);
  return now;
}

/* Which model says this; -1: none. */
static int model_of(const float* got) {
  int i;
  for (i = models - 1; i >= 0 && memcmp(got, answers[i], count * sizeof *got) != 0;) --i;
  return i;
}

static int score(leveret_predictor* predictor, float* to) {
  return leveret_set_context(predictor, "|A b0", 5) == LEVERET_OK &&
         leveret_predict_lines(predictor, text, size, to, count) == LEVERET_OK;
}

/* Another model whose answers are known. */
static void add_answers(const char* path) {
  leveret_model* alone = NULL;
  leveret_predictor* predictor = NULL;
  float* const to = malloc(count * sizeof *to);
  CHECK(leveret_model_open(path, &alone) == LEVERET_OK);
  CHECK(leveret_predictor_new(alone, context, &predictor) == LEVERET_OK);
  CHECK(score(predictor, to));
  CHECK(model_of(to) < 0);
  answers[models++] = to;
  leveret_predictor_free(predictor);
  leveret_model_close(alone);
}

static void* work(void* unused) {
  leveret_predictor* predictor = NULL;
  float* const got = malloc(count * sizeof *got);
  int by[MOST_MODELS] = {0}, wrong = 0, i;
  (void)unused;
  wrong += leveret_predictor_new(model, context, &predictor) != LEVERET_OK;
  do {
    const int good = score(predictor, got), now = good ? model_of(got) : -1;
    wrong += now < 0;
    if (now >= 0) ++by[now];
  } while (!stopped());
  leveret_predictor_free(predictor);
  free(got);
  pthread_mutex_lock(&mutex);
  failures += wrong;
  for (i = 0; i < models; ++i) seen[i] += by[i];
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void start_threads(void) {
  int i;
  for (i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
}

static void end_threads(void) {
  int i;
  pthread_mutex_lock(&mutex);
  stop = 1;
  pthread_mutex_unlock(&mutex);
  for (i = 0; i < THREADS; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  for (i = 0; i < models; ++i) {
    printf("%d requests by model %d\n", seen[i], i);
    CHECK(seen[i] > 0);
    free(answers[i]);
  }
}

#endif
