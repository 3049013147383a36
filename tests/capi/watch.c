/* watch LINES CONTEXT TIMES: threads that predict while a watch takes new models, again and again.
 * In the folder are
 *
 *   0.lvt 1.lvt 2.lvt, 1.patch            models, and what makes the second of the first
 *   published                             a folder of `leveret publish`, whose step 3 is step 1
 */
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>
#include <time.h>

#include "beside.h"

static char names[3][33]; /* fingerprints */

static void pause_some(void) {
  const struct timespec some = {0, 2000000};
  nanosleep(&some, NULL);
}

/* Copies a file and renames the copy. */
static void put(const char* from, const char* to) {
  static char bytes[1 << 16];
  FILE *in = fopen(from, "rb"), *out = fopen("new", "wb");
  size_t some;
  CHECK(in != NULL && out != NULL);
  while ((some = fread(bytes, 1, sizeof bytes, in)) > 0) {
    CHECK(fwrite(bytes, 1, some, out) == some);
  }
  CHECK(fclose(out) == 0 && fclose(in) == 0);
  CHECK(rename("new", to) == 0);
}

static int is_now(const char* name) {
  char now[33] = "";
  CHECK(leveret_model_fingerprint(model, now) == LEVERET_OK);
  return strcmp(now, name) == 0;
}

/* Half a minute at most. */
static void wait_for(const char* name) {
  int tries = 0;
  while (!is_now(name) && ++tries < 15000) pause_some();
  CHECK(is_now(name));
}

static void wait_for_problem(const char* words) {
  char problem[200] = "";
  int tries = 0;
  while (strstr(problem, words) == NULL && ++tries < 15000) {
    CHECK(leveret_model_watched(model, NULL, problem, sizeof problem) == LEVERET_OK);
    pause_some();
  }
  if (strstr(problem, words) == NULL) {
    fprintf(stderr, "\"%s\" does not say \"%s\"\n", problem, words);
    ++failures;
  }
}

static void check_file(int times) {
  uint64_t taken = 0;
  char cut[5] = "xxxx";
  int i;
  put("0.lvt", "live.lvt");
  CHECK(leveret_model_watch(model, "live.lvt", 1) == LEVERET_OK);
  CHECK(is_now(names[0])); /* it looks before it returns */
  for (i = 0; i < times; ++i) {
    const int next = (i + 1) % 3;
    char file[] = "0.lvt";
    file[0] = (char)('0' + next);
    put(file, "live.lvt");
    wait_for(names[next]);
  }
  CHECK(leveret_model_watched(model, &taken, NULL, 0) == LEVERET_OK);
  CHECK(taken == (uint64_t)times);
  put("1.patch", "live.lvt");
  wait_for_problem("live.lvt");
  CHECK(leveret_model_watched(model, &taken, cut, sizeof cut) == LEVERET_OK);
  CHECK(taken == (uint64_t)times && strcmp(cut, "live") == 0);
  CHECK(is_now(names[times % 3]));
}

static void check_folders(void) {
  char name[33] = "";
  CHECK(leveret_model_replace(model, "0.lvt") == LEVERET_OK);
  CHECK(mkdir("in", 0777) == 0);
  CHECK(leveret_model_watch(model, "in", 1) == LEVERET_OK);
  wait_for_problem("leveret publish");
  CHECK(is_now(names[0]));
  CHECK(leveret_model_replace(model, "2.lvt") == LEVERET_OK);
  CHECK(leveret_model_watch(model, "published", 0) == LEVERET_OK);
  CHECK(leveret_model_fingerprint(model, name) == LEVERET_OK);
  CHECK(strcmp(name, names[0]) == 0);
  CHECK(leveret_model_watch(model, "published/1.lvt", 60000) == LEVERET_OK);
  CHECK(is_now(name)); /* what has been gone back to */
}

/* What a predictor says of the model that answers, whatever has come since. */
static void check_predictor(void) {
  leveret_predictor* predictor = NULL;
  char name[33] = "";
  uint64_t sequence = 0, of_model = 0;
  float one = 0;
  CHECK(leveret_model_watch(model, NULL, 0) == LEVERET_OK);
  CHECK(leveret_model_watch(model, NULL, 0) == LEVERET_OK);
  CHECK(leveret_model_watched(model, NULL, NULL, 0) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_model_replace(model, "0.lvt") == LEVERET_OK);
  CHECK(leveret_predictor_new(model, NULL, &predictor) == LEVERET_OK);
  CHECK(leveret_model_replace(model, "1.lvt") == LEVERET_OK);
  CHECK(leveret_predictor_fingerprint(predictor, name) == LEVERET_OK);
  CHECK(strcmp(name, names[0]) == 0);
  CHECK(leveret_predictor_sequence(predictor, &sequence) == LEVERET_OK && sequence == 600);
  CHECK(leveret_predict_lines(predictor, "|A b0", 5, &one, 1) == LEVERET_OK);
  CHECK(leveret_predictor_fingerprint(predictor, name) == LEVERET_OK);
  CHECK(strcmp(name, names[1]) == 0);
  CHECK(leveret_predictor_sequence(predictor, &sequence) == LEVERET_OK);
  CHECK(leveret_model_sequence(model, &of_model) == LEVERET_OK);
  CHECK(sequence == of_model && sequence > 600);
  leveret_predictor_free(predictor);
}

static void check_arguments(void) {
  char name[33];
  uint64_t number;
  CHECK(leveret_model_watch(NULL, "x", 1) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_model_watch(model, "", 1) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_model_watched(NULL, NULL, NULL, 0) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_model_fingerprint(NULL, name) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_model_fingerprint(model, NULL) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_model_sequence(NULL, &number) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_model_sequence(model, NULL) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_predictor_fingerprint(NULL, name) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_predictor_sequence(NULL, &number) == LEVERET_BAD_ARGUMENT);
  /* What is not there is no failure: it may come. */
  CHECK(leveret_model_watch(model, "nowhere", 1) == LEVERET_OK);
  wait_for_problem("nowhere");
  CHECK(leveret_model_watched(model, NULL, NULL, 5) == LEVERET_BAD_ARGUMENT);
}

int main(int argc, char** argv) {
  static const char* const files[] = {"0.lvt", "1.lvt", "2.lvt"};
  int i;
  if (argc != 4) return 2;
  text = read_text(argv[1], &size, &count);
  context = argv[2];
  for (i = 0; i < 3; ++i) {
    add_answers(files[i]);
    CHECK(leveret_model_open(files[i], &model) == LEVERET_OK);
    CHECK(leveret_model_fingerprint(model, names[i]) == LEVERET_OK);
    leveret_model_close(model);
  }
  CHECK(leveret_model_open("0.lvt", &model) == LEVERET_OK);
  if (failures > 0) return 1;
  start_threads();
  check_file(atoi(argv[3]));
  end_threads();
  check_folders();
  check_predictor();
  check_arguments();
  leveret_model_close(model); /* with a watch */
  free(text);
  return failures != 0;
}
