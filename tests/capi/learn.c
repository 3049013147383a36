/* Learns the lines of a file, in calls of STEP lines each, and prints what was predicted before each
 * was learned, as `leveret train -p` writes it, but for lines without a probability, which are nan.
 *
 *   learn lines|arrays|stop OPTIONS FROM LINES STEP TO     from the model FROM ("": a new one), into TO
 *   learn evaluate MODEL LINES             what `leveret evaluate --json` says
 *
 * `stop` ends each call that can be ended as soon as it is asked, and goes on behind what is learned. */
#include <math.h>

#include "features_of.h"
#include "read_text.h"

static leveret_learner* learner;
static int asked;

static const char* next_line(const char* line) { return strchr(line, '\n') + 1; }

static float label_of(const char* line) {
  return *line == '|' ? NAN : (float)atof(line);
}

/* One answer is one part. */
static int stop_at_once(void* data, size_t learned, size_t count) {
  CHECK(data == &asked);
  CHECK(learned <= count && learned > 0);
  ++asked;
  return 1;
}

/* Namespaces and features that no line has leave no trace. */
static void ask_of_strangers(void) {
  float p = 9;
  CHECK(leveret_learner_predict_lines(learner, "|stranger x |another y:2", 24, &p, 1) == LEVERET_OK);
  CHECK(p > 0 && p < 1);
}

static void learn_lines(const char* text, size_t size, float* to, size_t count) {
  const int code = leveret_learner_learn_lines(learner, text, size, to, count);
  if (code == LEVERET_BAD_LINE) fprintf(stderr, "%s\n", leveret_error_message());
  CHECK(code == LEVERET_OK || code == LEVERET_BAD_LINE);
}

static void learn_arrays(const char* text, float* to, size_t count) {
  leveret_feature* const features = malloc(count * 64 * sizeof *features);
  size_t* const ends = malloc(count * sizeof *ends);
  float* const labels = malloc(count * sizeof *labels);
  hasher by = {NULL, NULL};
  size_t end = 0, i;
  by.learner = learner;
  for (i = 0; i < count; ++i, text = next_line(text)) {
    labels[i] = label_of(text);
    ends[i] = end += parse(by, text, "", 1, features + end);
  }
  CHECK(leveret_learner_learn_features(learner, labels, NULL, features, ends, to, count) ==
        LEVERET_OK);
  free(features);
  free(ends);
  free(labels);
}

static uint64_t lines(void) {
  uint64_t now = 0;
  CHECK(leveret_learner_lines(learner, &now) == LEVERET_OK);
  return now;
}

/* Ends the call as often as it can be, and goes on. */
static void learn_stopped(const char* text, size_t size, float* to, size_t count) {
  const char* const end = text + size;
  const uint64_t before = lines();
  int code = LEVERET_STOPPED;
  CHECK(leveret_learner_set_progress(learner, stop_at_once, &asked) == LEVERET_OK);
  while (code == LEVERET_STOPPED) {
    const uint64_t then = lines();
    const size_t left = count - (size_t)(then - before);
    size_t i;
    code = leveret_learner_learn_lines(learner, text, (size_t)(end - text), to + (count - left),
                                       left);
    for (i = (size_t)(lines() - then); i > 0; --i) text = next_line(text);
    if (code == LEVERET_STOPPED) {
      CHECK(text < end);
      CHECK(isnan(to[lines() - before]));
      CHECK(strstr(leveret_error_message(), "progress") != NULL);
    }
  }
  CHECK(code == LEVERET_OK);
  CHECK(text == end);
  CHECK(lines() - before == count);
  CHECK(leveret_learner_set_progress(learner, NULL, NULL) == LEVERET_OK);
}

static int evaluate(const char* path, const char* file) {
  leveret_metrics m;
  size_t size, count, i;
  char* const text = read_text(file, &size, &count);
  float* const p = malloc(count * sizeof *p);
  float* const labels = malloc(count * sizeof *labels);
  const char* line = text;
  for (i = 0; i < count; ++i, line = next_line(line)) labels[i] = label_of(line);
  CHECK(leveret_learner_resume(path, NULL, &learner) == LEVERET_OK);
  CHECK(leveret_learner_predict_lines(learner, text, size, p, count) == LEVERET_OK);
  CHECK(leveret_evaluate(labels, NULL, p, count, &m) == LEVERET_OK);
  CHECK(m.auc_error == 0 && m.not_finite == 0);
  printf("{\"examples\":%d,\"logloss\":%.6f,\"auc\":%.6f,\"ne\":%.6f,\"rig\":%.6f,"
         "\"calibration\":%.6f,\"base_rate\":%.6f,\"mean_prediction\":%.6f,\"mean_label\":%.6f}\n",
         (int)m.examples, m.logloss, m.auc, m.ne, m.rig, m.calibration, m.base_rate,
         m.mean_prediction, m.base_rate);
  leveret_learner_close(learner);
  free(text);
  free(p);
  free(labels);
  return failures != 0;
}

int main(int argc, char** argv) {
  size_t size, count, i;
  char* text;
  float* p;
  const char* line;
  leveret_metrics m;
  if (argc == 4) return evaluate(argv[2], argv[3]);
  text = read_text(argv[4], &size, &count);
  p = malloc((count + 1) * sizeof *p);
  if ((*argv[3] != '\0' ? leveret_learner_resume(argv[3], argv[2], &learner)
                        : leveret_learner_open(argv[2], &learner)) != LEVERET_OK) {
    fprintf(stderr, "%s\n", leveret_error_message());
    return 1;
  }
  for (i = 0, line = text; i < count;) {
    const size_t step = (size_t)atoi(argv[5]) < count - i ? (size_t)atoi(argv[5]) : count - i;
    const char* end = line;
    size_t j;
    for (j = 0; j < step; ++j) end = next_line(end);
    if (argv[1][0] == 'a') {
      learn_arrays(line, p + i, step);
    } else if (argv[1][0] == 's') {
      learn_stopped(line, (size_t)(end - line), p + i, step);
    } else {
      learn_lines(line, (size_t)(end - line), p + i, step);
    }
    ask_of_strangers();
    line = end;
    i += step;
  }
  CHECK(lines() == count);
  CHECK(argv[1][0] != 's' || asked > 1);
  for (i = 0; i < count; ++i) {
    if (isnan(p[i])) {
      printf("nan\n");
    } else {
      printf("%.6f\n", p[i]);
    }
  }
  CHECK(leveret_learner_save(learner, argv[6]) == LEVERET_OK);
  CHECK(leveret_learner_metrics(learner, &m) == LEVERET_OK);
  fprintf(stderr, "examples          %d\naverage loss      %.6f\nauc               %.4f\n",
          (int)m.examples, m.logloss, m.auc);
  leveret_learner_close(learner);
  free(text);
  free(p);
  return failures != 0;
}
