/* learn_errors MODEL EXPORT FOLDER: what is wrong is refused by a code and words, and what was
 * learned before stays. */
#include <math.h>

#include "check.h"

static leveret_learner* learner;

static void check_refused(int code, int expected, const char* word) {
  CHECK(code == expected);
  if (strstr(leveret_error_message(), word) == NULL) {
    fprintf(stderr, "\"%s\" does not say \"%s\"\n", leveret_error_message(), word);
    ++failures;
  }
}

static uint64_t lines(void) {
  uint64_t now = 0;
  CHECK(leveret_learner_lines(learner, &now) == LEVERET_OK);
  return now;
}

static void check_options(void) {
  static const char* const wrong[][2] = {{"--ffm_k x", "--ffm_k x"},
                                         {"-f model", "-f is no option of a learner"},
                                         {"--threads 0", "threads"},
                                         {"--pin", "--pin does nothing"},
                                         {"--field 'a", "without an end"},
                                         {"--l1 1", "--l1 1 does nothing"},
                                         {"--field @/nowhere", "cannot read it"},
                                         {"--optimizer adam --threads 2", "--batch_size"}};
  leveret_learner* none = learner;
  size_t i;
  for (i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    check_refused(leveret_learner_open(wrong[i][0], &none), LEVERET_BAD_ARGUMENT, wrong[i][1]);
    CHECK(none == NULL);
  }
}

static void check_files(const char* model, const char* export, const char* folder) {
  leveret_learner* none = NULL;
  check_refused(leveret_learner_resume("nowhere", NULL, &none), LEVERET_BAD_FILE, "nowhere");
  check_refused(leveret_learner_resume(export, NULL, &none), LEVERET_BAD_FILE, "is an export");
  check_refused(leveret_learner_resume(folder, NULL, &none), LEVERET_BAD_FILE, folder);
  check_refused(leveret_learner_resume(model, "--ffm_k 7", &none), LEVERET_BAD_ARGUMENT,
                "contradicts");
  CHECK(none == NULL);
}

static void check_null(void) {
  leveret_feature feature = {0, 0, 1};
  float p = 9, label = 1;
  uint32_t hash = 0;
  leveret_metrics metrics;
  const size_t end = 1;
  const int bad = LEVERET_BAD_ARGUMENT;
  check_refused(leveret_learner_open(NULL, NULL), bad, "learner is NULL");
  check_refused(leveret_learner_resume("x", NULL, NULL), bad, "learner is NULL");
  {
    leveret_learner* none = NULL;
    check_refused(leveret_learner_resume(NULL, NULL, &none), bad, "path is NULL");
  }
  check_refused(leveret_learner_set_progress(NULL, NULL, NULL), bad, "learner is NULL");
  check_refused(leveret_learner_learn_lines(NULL, "|", 1, &p, 1), bad, "learner is NULL");
  check_refused(leveret_learner_learn_lines(learner, NULL, 1, &p, 1), bad, "text is NULL");
  check_refused(leveret_learner_learn_features(NULL, &label, NULL, &feature, &end, &p, 1), bad,
                "learner is NULL");
  check_refused(leveret_learner_learn_features(learner, NULL, NULL, &feature, &end, &p, 1), bad,
                "labels is NULL");
  check_refused(leveret_learner_learn_features(learner, &label, NULL, NULL, &end, &p, 1), bad,
                "features is NULL");
  check_refused(leveret_learner_learn_features(learner, &label, NULL, &feature, NULL, &p, 1), bad,
                "ends is NULL");
  check_refused(leveret_learner_predict_lines(NULL, "|", 1, &p, 1), bad, "learner is NULL");
  check_refused(leveret_learner_predict_lines(learner, NULL, 1, &p, 1), bad, "text is NULL");
  check_refused(leveret_learner_predict_lines(learner, "|", 1, NULL, 1), bad, "probabilities");
  check_refused(leveret_learner_predict_features(NULL, &feature, &end, &p, 1), bad, "learner");
  check_refused(leveret_learner_predict_features(learner, NULL, &end, &p, 1), bad, "features");
  check_refused(leveret_learner_predict_features(learner, &feature, NULL, &p, 1), bad, "ends");
  check_refused(leveret_learner_predict_features(learner, &feature, &end, NULL, 1), bad,
                "probabilities");
  check_refused(leveret_learner_hash_namespace(NULL, "x", 1, &hash), bad, "learner");
  check_refused(leveret_learner_hash_namespace(learner, NULL, 1, &hash), bad, "name");
  check_refused(leveret_learner_hash_namespace(learner, "x", 1, NULL), bad, "hash");
  check_refused(leveret_learner_hash_feature(NULL, 1, "x", 1, &hash), bad, "learner");
  check_refused(leveret_learner_hash_feature(learner, 1, NULL, 1, &hash), bad, "name");
  check_refused(leveret_learner_hash_feature(learner, 1, "x", 1, NULL), bad, "hash");
  check_refused(leveret_learner_save(NULL, "x"), bad, "learner");
  check_refused(leveret_learner_save(learner, NULL), bad, "path is NULL");
  check_refused(leveret_learner_save(learner, ""), bad, "path is empty");
  check_refused(leveret_learner_lines(learner, NULL), bad, "lines");
  check_refused(leveret_learner_metrics(NULL, &metrics), bad, "learner");
  check_refused(leveret_learner_metrics(learner, NULL), bad, "metrics");
  check_refused(leveret_evaluate(NULL, NULL, &p, 1, &metrics), bad, "labels");
  check_refused(leveret_evaluate(&label, NULL, NULL, 1, &metrics), bad, "probabilities");
  check_refused(leveret_evaluate(&label, NULL, &p, 1, NULL), bad, "metrics");
  CHECK(p == 9);
  leveret_learner_close(NULL);
}

static void check_lines(void) {
  const char* const text = "1 |a x\n\n2 |b y\n-1 |a z";
  float p[4] = {9, 9, 9, 9};
  const uint64_t before = lines();
  check_refused(leveret_learner_learn_lines(learner, text, strlen(text), p, 3),
                LEVERET_BAD_ARGUMENT, "4 lines");
  CHECK(p[0] == 9 && lines() == before);
  check_refused(leveret_learner_learn_lines(learner, text, strlen(text), p, 4), LEVERET_BAD_LINE,
                "line 3, column 1");
  CHECK(p[0] > 0 && p[3] > 0 && isnan(p[1]) && isnan(p[2]) && lines() == before + 4);
  CHECK(leveret_learner_learn_lines(learner, text, 7, NULL, 0) == LEVERET_OK);
  CHECK(leveret_learner_learn_lines(learner, NULL, 0, p, 0) == LEVERET_OK);
  CHECK(leveret_learner_learn_lines(learner, "\n\n", 2, p, 2) == LEVERET_OK);
  CHECK(isnan(p[0]) && isnan(p[1]));
  check_refused(leveret_learner_predict_lines(learner, text, strlen(text), p, 4), LEVERET_BAD_LINE,
                "line 3");
}

static void check_features(void) {
  leveret_feature f[2] = {{0, 11, 1}, {0, 12, 2}};
  size_t ends[2] = {1, 2};
  float p[2] = {9, 9}, labels[2] = {1, NAN}, weights[2] = {1, 2};
  uint64_t before;
  const int bad = LEVERET_BAD_ARGUMENT;
  check_refused(leveret_learner_learn_features(learner, labels, NULL, f, ends, p, 2), bad,
                "no namespace has the hash 0");
  /* One that text has named is known. */
  {
    leveret_model* model = NULL;
    CHECK(leveret_learner_learn_lines(learner, "1 |spoken x", 11, NULL, 0) == LEVERET_OK);
    CHECK(leveret_learner_save(learner, "spoken.lvt") == LEVERET_OK);
    CHECK(leveret_model_open("spoken.lvt", &model) == LEVERET_OK);
    CHECK(leveret_hash_namespace(model, "spoken", 6, &f[0].space) == LEVERET_OK);
    leveret_model_close(model);
    CHECK(leveret_learner_learn_features(learner, labels, NULL, f, ends, p, 1) == LEVERET_OK);
    p[0] = 9;
  }
  before = lines();
  CHECK(leveret_learner_hash_namespace(learner, "made", 4, &f[0].space) == LEVERET_OK);
  check_refused(leveret_learner_learn_features(learner, labels, NULL, f, ends, p, 2), bad,
                "no namespace has the hash 0");
  f[1].space = f[0].space;
  labels[1] = 0.5f;
  check_refused(leveret_learner_learn_features(learner, labels, NULL, f, ends, p, 2), bad,
                "label of example 1 is 0.5");
  labels[1] = NAN;
  weights[1] = -1;
  check_refused(leveret_learner_learn_features(learner, labels, weights, f, ends, p, 2), bad,
                "importance of example 1 is -1");
  f[1].value = (float)HUGE_VAL;
  check_refused(leveret_learner_learn_features(learner, labels, NULL, f, ends, p, 2), bad,
                "not finite");
  f[1].value = 1;
  ends[0] = (size_t)1 << 40; /* never read */
  check_refused(leveret_learner_learn_features(learner, labels, NULL, f, ends, p, 2), bad, "less than the one before");
  ends[0] = 1;
  CHECK(p[0] == 9 && p[1] == 9 && lines() == before);
  CHECK(leveret_learner_learn_features(learner, labels, NULL, f, ends, p, 2) == LEVERET_OK);
  CHECK(p[0] > 0 && p[1] > 0 && lines() == before + 2);
  CHECK(leveret_learner_predict_features(learner, f, ends, p, 2) == LEVERET_OK);
  check_refused(leveret_learner_hash_namespace(learner, "a b", 3, &f[0].space), bad, "must not have a blank");
  check_refused(leveret_learner_hash_namespace(learner, "a|", 2, &f[0].space), bad, "must not have a blank");
}

/* Text and arrays that a model with --transform cannot take. */
static void check_transform(void) {
  leveret_learner* of = NULL;
  leveret_feature feature = {0, 11, 1};
  const size_t end = 1;
  float p = 9, label = 1;
  CHECK(leveret_learner_open("--transform new=BinnerLog(a)(1,2)", &of) == LEVERET_OK);
  check_refused(leveret_learner_learn_features(of, &label, NULL, &feature, &end, &p, 1),
                LEVERET_BAD_ARGUMENT, "only lines of text");
  check_refused(leveret_learner_learn_lines(of, "1 |a 3\n1 |new x\n1 |a 4", 21, NULL, 0),
                LEVERET_BAD_LINE, "line 2, column 1: a namespace has the name of what --transform");
  leveret_learner_close(of);
}

static void check_evaluate(void) {
  float labels[4] = {1, -1, 0, NAN}, p[4] = {0.75f, 0.25f, 0.5f, 0.9f}, weights[4] = {1, 1, 2, 1};
  leveret_metrics m;
  CHECK(leveret_evaluate(labels, weights, p, 4, &m) == LEVERET_OK);
  CHECK(m.examples == 3 && m.weight == 4 && m.auc == 1 && m.auc_error == 0);
  CHECK(fabs(m.logloss - (2 * -log(0.75) + 2 * -log(0.5)) / 4) < 1e-6);
  CHECK(fabs(m.base_rate - 0.25) < 1e-12 && fabs(m.mean_prediction - 0.5) < 1e-12);
  p[0] = NAN;
  CHECK(leveret_evaluate(labels, weights, p, 4, &m) == LEVERET_OK);
  CHECK(m.not_finite == 1 && m.examples == 2 && isnan(m.auc));
  CHECK(leveret_evaluate(NULL, NULL, NULL, 0, &m) == LEVERET_OK);
  CHECK(m.examples == 0 && isnan(m.logloss));
  p[0] = 1.5f;
  check_refused(leveret_evaluate(labels, NULL, p, 4, &m), LEVERET_BAD_ARGUMENT,
                "prediction 0 is 1.5");
  p[0] = 0.5f, p[3] = -0.001f;
  check_refused(leveret_evaluate(labels, NULL, p, 4, &m), LEVERET_BAD_ARGUMENT,
                "prediction 3 is -0.001");
  p[3] = 0;
  labels[0] = 3;
  check_refused(leveret_evaluate(labels, NULL, p, 4, &m), LEVERET_BAD_ARGUMENT, "label of example 0 is 3");
}

int main(int argc, char** argv) {
  char path[256];
  CHECK(argc == 4);
  CHECK(leveret_learner_open("", &learner) == LEVERET_OK);
  check_null();
  check_options();
  check_files(argv[1], argv[2], argv[3]);
  /* Nothing is learned yet. */
  CHECK(leveret_learner_learn_lines(learner, "|a x", 4, NULL, 0) == LEVERET_OK);
  check_refused(leveret_learner_save(learner, "none.lvt"), LEVERET_BAD_ARGUMENT, "no labelled");
  check_lines();
  check_features();
  check_transform();
  check_evaluate();
  sprintf(path, "%s/none/model", argv[3]);
  check_refused(leveret_learner_save(learner, path), LEVERET_BAD_FILE, "none/model");
  CHECK(leveret_learner_learn_lines(learner, "1 |a x", 6, NULL, 0) == LEVERET_OK);
  CHECK(leveret_learner_save(learner, "saved.lvt") == LEVERET_OK);
  leveret_learner_close(learner);
  learner = NULL;
  CHECK(leveret_learner_resume("saved.lvt", "--ffm_k 4", &learner) == LEVERET_OK);
  CHECK(lines() == 0);
  CHECK(leveret_learner_save(learner, "saved.lvt") == LEVERET_OK);
  leveret_learner_close(learner);
  return failures != 0;
}
