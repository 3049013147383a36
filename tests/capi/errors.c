/* errors MODEL FIELDS GARBAGE...: what is wrong is refused by a code and words, and what was good
 * before stays good. MODEL has so many fields; the files of GARBAGE are no models. */
#include <math.h>

#include "check.h"

static void check_refused(int code, int expected, const char* word) {
  CHECK(code == expected);
  if (strstr(leveret_error_message(), word) == NULL) {
    fprintf(stderr, "\"%s\" does not say \"%s\"\n", leveret_error_message(), word);
    ++failures;
  }
}

static void check_null(leveret_model* model, leveret_predictor* predictor) {
  leveret_model* no_model = NULL;
  leveret_predictor* none = NULL;
  leveret_feature feature = {0, 0, 1};
  float probability = 0.25f;
  uint32_t number = 0;
  const size_t end = 1;
  const char* const patches[] = {"x", NULL};
  check_refused(leveret_model_open(NULL, &no_model), LEVERET_BAD_ARGUMENT, "path is NULL");
  check_refused(leveret_model_open("x", NULL), LEVERET_BAD_ARGUMENT, "model is NULL");
  check_refused(leveret_model_replace(NULL, "x"), LEVERET_BAD_ARGUMENT, "model is NULL");
  check_refused(leveret_model_replace(model, NULL), LEVERET_BAD_ARGUMENT, "path is NULL");
  check_refused(leveret_model_patch(NULL, patches, 1, NULL), LEVERET_BAD_ARGUMENT, "model");
  check_refused(leveret_model_patch(model, NULL, 1, NULL), LEVERET_BAD_ARGUMENT, "patches");
  check_refused(leveret_model_patch(model, patches, 0, NULL), LEVERET_BAD_ARGUMENT, "count is 0");
  check_refused(leveret_model_patch(model, patches, 2, NULL), LEVERET_BAD_ARGUMENT, "a patch");
  check_refused(leveret_model_patch(model, patches, 1, ""), LEVERET_BAD_ARGUMENT, "is empty");
  check_refused(leveret_hash_namespace(NULL, "x", 1, &number), LEVERET_BAD_ARGUMENT, "model");
  check_refused(leveret_hash_namespace(model, NULL, 1, &number), LEVERET_BAD_ARGUMENT, "name");
  check_refused(leveret_hash_namespace(model, "x", 1, NULL), LEVERET_BAD_ARGUMENT, "hash");
  check_refused(leveret_hash_feature(NULL, 1, "x", 1, &number), LEVERET_BAD_ARGUMENT, "model");
  check_refused(leveret_hash_feature(model, 1, NULL, 1, &number), LEVERET_BAD_ARGUMENT, "name");
  check_refused(leveret_hash_feature(model, 1, "x", 1, NULL), LEVERET_BAD_ARGUMENT, "hash");
  check_refused(leveret_field_count(NULL, &number), LEVERET_BAD_ARGUMENT, "model");
  check_refused(leveret_field_count(model, NULL), LEVERET_BAD_ARGUMENT, "count");
  check_refused(leveret_predictor_new(NULL, NULL, &none), LEVERET_BAD_ARGUMENT, "model");
  CHECK(none == NULL);
  check_refused(leveret_predictor_new(model, NULL, NULL), LEVERET_BAD_ARGUMENT, "predictor");
  check_refused(leveret_set_context(NULL, "|", 1), LEVERET_BAD_ARGUMENT, "predictor");
  check_refused(leveret_set_context(predictor, NULL, 1), LEVERET_BAD_ARGUMENT, "line");
  check_refused(leveret_clear_context(NULL), LEVERET_BAD_ARGUMENT, "predictor");
  check_refused(leveret_predict_lines(NULL, "|", 1, &probability, 1), LEVERET_BAD_ARGUMENT,
                "predictor");
  check_refused(leveret_predict_lines(predictor, NULL, 1, &probability, 1), LEVERET_BAD_ARGUMENT,
                "text");
  check_refused(leveret_predict_lines(predictor, "|", 1, NULL, 1), LEVERET_BAD_ARGUMENT,
                "probabilities");
  check_refused(leveret_predict_features(NULL, 1, &feature, &end, &probability, 1),
                LEVERET_BAD_ARGUMENT, "predictor");
  check_refused(leveret_predict_features(predictor, 1, NULL, &end, &probability, 1),
                LEVERET_BAD_ARGUMENT, "features");
  check_refused(leveret_predict_features(predictor, 1, &feature, NULL, &probability, 1),
                LEVERET_BAD_ARGUMENT, "ends");
  check_refused(leveret_predict_features(predictor, 1, &feature, &end, NULL, 1),
                LEVERET_BAD_ARGUMENT, "probabilities");
  check_refused(leveret_set_context_features(NULL, 1, &feature, 1), LEVERET_BAD_ARGUMENT,
                "predictor");
  check_refused(leveret_set_context_features(predictor, 1, NULL, 1), LEVERET_BAD_ARGUMENT,
                "features");
  CHECK(probability == 0.25f);
  leveret_model_close(NULL);
  leveret_predictor_free(NULL);
}

static void check_lines(leveret_predictor* predictor) {
  const char* const text = "|a x\n\n1 |b y:1:2\n|a x";
  float p[5] = {9, 9, 9, 9, 9};
  check_refused(leveret_predict_lines(predictor, text, strlen(text), p, 4), LEVERET_BAD_LINE,
                "line 3, column");
  CHECK(p[0] > 0 && p[0] < 1 && p[3] == p[0] && isnan(p[1]) && isnan(p[2]) && p[4] == 9);
  check_refused(leveret_predict_lines(predictor, "|a x\n\n", 6, p, 2), LEVERET_BAD_LINE,
                "line 2 is blank");
  CHECK(p[0] > 0 && isnan(p[1]));
  check_refused(leveret_predict_lines(predictor, text, strlen(text), p, 5), LEVERET_BAD_ARGUMENT,
                "4 lines");
  CHECK(leveret_predict_lines(predictor, NULL, 0, NULL, 0) == LEVERET_OK);
  CHECK(leveret_predict_lines(predictor, "a\0b|c\0 d", 8, p, 1) != LEVERET_FAILED);

  check_refused(leveret_set_context(predictor, "|a x\n|a x\n", 10), LEVERET_BAD_ARGUMENT,
                "one line");
  check_refused(leveret_set_context(predictor, "", 0), LEVERET_BAD_LINE, "empty");
  check_refused(leveret_set_context(predictor, "\n", 1), LEVERET_BAD_LINE, "blank");
  check_refused(leveret_set_context(predictor, "x |a x\n", 7), LEVERET_BAD_LINE, "column 1");
  CHECK(leveret_set_context(predictor, "|", 1) == LEVERET_OK);
  CHECK(leveret_predict_lines(predictor, "|a x", 4, p, 1) == LEVERET_OK);
  CHECK(leveret_clear_context(predictor) == LEVERET_OK);
  CHECK(leveret_predict_lines(predictor, "|a x", 4, p + 1, 1) == LEVERET_OK);
  CHECK(fabsf(p[0] - p[1]) < 1e-6f);

  /* VW's word for a context is one here, and no label of a candidate. */
  CHECK(leveret_set_context(predictor, "|b y", 4) == LEVERET_OK);
  CHECK(leveret_predict_lines(predictor, "|a x", 4, p, 1) == LEVERET_OK);
  CHECK(leveret_set_context(predictor, "shared |b y\n", 12) == LEVERET_OK);
  CHECK(leveret_predict_lines(predictor, "|a x", 4, p + 1, 1) == LEVERET_OK);
  CHECK(p[0] == p[1]);
  check_refused(leveret_predict_lines(predictor, "shared |a x", 11, p, 1), LEVERET_BAD_LINE,
                "label is not a number");
  check_refused(leveret_set_context(predictor, "shared x |b y", 13), LEVERET_BAD_LINE, "column 8");
}

/* More than 2^20 features are refused, as text and as arrays; what is beside them is scored. */
static void check_large(leveret_predictor* predictor) {
  const size_t count = ((size_t)1 << 20) + 1;
  char* const text = malloc(2 * count + 32);
  leveret_feature* const features = malloc((count + 1) * sizeof *features);
  size_t ends[2], size = 0, i;
  float p[3] = {9, 9, 9};
  memcpy(text, "|a x\n|a", 7);
  size = 7;
  for (i = 0; i < count; ++i) {
    text[size++] = ' ';
    text[size++] = 'x';
    features[i].space = 0;
    features[i].hash = (uint32_t)i;
    features[i].value = 1;
  }
  memcpy(text + size, "\n|a x\n", 6);
  check_refused(leveret_predict_lines(predictor, text, size + 6, p, 3), LEVERET_BAD_LINE,
                "line 2, column 1: line has more than 1048576 features");
  CHECK(p[0] > 0 && isnan(p[1]) && p[2] == p[0]);
  check_refused(leveret_set_context(predictor, text + 5, size - 5), LEVERET_BAD_LINE, "1048576");
  features[count] = features[0];
  ends[0] = 1;
  ends[1] = count + 1;
  check_refused(leveret_predict_features(predictor, LEVERET_BY_FIELD, features, ends, p, 2),
                LEVERET_BAD_ARGUMENT, "array 1 has");
  check_refused(leveret_set_context_features(predictor, LEVERET_BY_FIELD, features, count),
                LEVERET_BAD_ARGUMENT, "1048576");
  ends[1] = count;
  CHECK(leveret_predict_features(predictor, LEVERET_BY_FIELD, features, ends, p, 2) == LEVERET_OK);
  free(features);
  free(text);
}

static void check_features(leveret_predictor* predictor, uint32_t fields) {
  leveret_feature f[3] = {{0, 11, 1}, {0, 12, 2}, {0, 13, 0}};
  size_t ends[2] = {2, 3};
  float p[2] = {9, 9}, zero = 9;
  CHECK(leveret_predict_features(predictor, LEVERET_BY_FIELD, f, ends, p, 2) == LEVERET_OK);
  CHECK(p[0] > 0 && p[0] < 1 && p[1] > 0 && p[1] < 1);
  /* A value of 0 is no feature. */
  CHECK(leveret_predict_features(predictor, LEVERET_BY_FIELD, NULL, (ends[0] = 0, ends), &zero,
                                 1) == LEVERET_OK);
  CHECK(zero == p[1]);
  f[0].space = fields;
  ends[0] = 3;
  check_refused(leveret_predict_features(predictor, LEVERET_BY_FIELD, f, ends, p, 1),
                LEVERET_BAD_ARGUMENT, "no field");
  check_refused(leveret_predict_features(predictor, 7, f, ends, p, 1), LEVERET_BAD_ARGUMENT,
                "by is 7");
  CHECK(leveret_predict_features(predictor, LEVERET_BY_NAMESPACE, f, ends, p, 1) == LEVERET_OK);
  f[1].value = (float)HUGE_VAL;
  check_refused(leveret_predict_features(predictor, LEVERET_BY_NAMESPACE, f, ends, p, 1),
                LEVERET_BAD_ARGUMENT, "not finite");
  f[1].value = 1;
  ends[0] = (size_t)1 << 40; /* never read */
  check_refused(leveret_predict_features(predictor, LEVERET_BY_NAMESPACE, f, ends, p, 2),
                LEVERET_BAD_ARGUMENT, "less than the one before");
}

int main(int argc, char** argv) {
  leveret_model *model = NULL, *other = NULL;
  leveret_predictor* predictor = NULL;
  float before = 0, after = 1;
  uint32_t fields = 0;
  int i;

  CHECK(leveret_abi_version() == LEVERET_ABI_VERSION);
  CHECK(strcmp(leveret_version(), LEVERET_VERSION_STRING) == 0);
  CHECK(strcmp(leveret_error_message(), "") == 0);
  CHECK(leveret_model_open(argv[1], &model) == LEVERET_OK);
  CHECK(leveret_predictor_new(model, NULL, &predictor) == LEVERET_OK);
  CHECK(leveret_field_count(model, &fields) == LEVERET_OK);
  CHECK(fields == (uint32_t)atoi(argv[2]));
  CHECK(leveret_predict_lines(predictor, "|a x |b y", 9, &before, 1) == LEVERET_OK);

  check_null(model, predictor);
  for (i = 3; i < argc; ++i) {
    other = model;
    CHECK(leveret_model_open(argv[i], &other) == LEVERET_BAD_FILE);
    CHECK(other == NULL);
    check_refused(leveret_model_replace(model, argv[i]), LEVERET_BAD_FILE, argv[i]);
  }
  CHECK(leveret_clear_context(predictor) == LEVERET_OK);
  check_lines(predictor);
  CHECK(leveret_clear_context(predictor) == LEVERET_OK);
  check_features(predictor, fields);
  CHECK(leveret_clear_context(predictor) == LEVERET_OK);
  check_large(predictor);

  CHECK(leveret_predict_lines(predictor, "|a x |b y", 9, &after, 1) == LEVERET_OK);
  CHECK(before == after);
  /* A predictor outlives the place of its model. */
  leveret_model_close(model);
  after = 1;
  CHECK(leveret_predict_lines(predictor, "|a x |b y", 9, &after, 1) == LEVERET_OK);
  CHECK(before == after);
  leveret_predictor_free(predictor);
  return failures != 0;
}
