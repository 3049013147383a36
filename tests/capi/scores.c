/* scores MODEL LINES [CONTEXT]: the probabilities of the lines, as `leveret predict` writes them.
 *
 * The same lines are scored as arrays, and, with the namespaces of CONTEXT (letters) as contexts,
 * as requests of text and of arrays; all of these are to agree. */
#include <math.h>

#include "features_of.h"
#include "read_text.h"

/* A part of the line as text: with its label section, but without a tag. Returns its size. */
static size_t part(const char* line, const char* letters, int others, char* to) {
  size_t size = 0;
  const char* at = strchr(line, '|');
  to[size++] = ' ';
  to[size++] = '|';
  to[size++] = ' ';
  while (at != NULL && *at == '|') {
    const size_t length = 1 + strcspn(at + 1, "|\n");
    const int single = at[2] == ' ';
    if ((single && strchr(letters, at[1]) != NULL) != others) {
      memcpy(to + size, at, length);
      size += length;
      if (to[size - 1] != ' ') to[size++] = ' ';
    }
    at += length;
  }
  to[size] = '\n';
  return size + 1;
}

static const char* next_line(const char* line) { return strchr(line, '\n') + 1; }

static void check_near(const float* got, const float* expected, size_t count, float limit) {
  size_t i;
  for (i = 0; i < count; ++i) {
    if (!(fabsf(got[i] - expected[i]) <= limit)) {
      fprintf(stderr, "line %d: %.9g instead of %.9g\n", (int)i + 1, got[i], expected[i]);
      ++failures;
      return;
    }
  }
}

int main(int argc, char** argv) {
  leveret_model* model = NULL;
  hasher by = {NULL, NULL};
  leveret_predictor* predictor = NULL;
  leveret_feature* features = malloc(MOST * sizeof *features);
  const char* letters = argc > 3 ? argv[3] : "";
  char selectors[512] = "";
  const char* line;
  size_t size, count, i;
  char* const text = read_text(argv[2], &size, &count);
  float* const expected = malloc((count + 1) * sizeof *expected);
  float* const got = malloc((count + 1) * sizeof *got);
  char* const piece = malloc(2 * size + 16);

  for (i = 0; letters[i] != '\0'; ++i) {
    const char selector[3] = {letters[i], ',', '\0'};
    strcat(selectors, selector);
  }
  if (leveret_model_open(argv[1], &model) != LEVERET_OK) {
    fprintf(stderr, "%s\n", leveret_error_message());
    return 1;
  }
  by.model = model;
  CHECK(leveret_predictor_new(model, selectors, &predictor) == LEVERET_OK);
  CHECK(leveret_predict_lines(predictor, text, size, expected, count) == LEVERET_OK);
  for (i = 0; i < count; ++i) printf("%.6f\n", expected[i]);

  for (i = 0, line = text; i < count; ++i, line = next_line(line)) {
    const size_t end = parse(by, line, "", 1, features);
    CHECK(leveret_predict_features(predictor, LEVERET_BY_NAMESPACE, features, &end, got + i, 1) ==
          LEVERET_OK);
  }
  check_near(got, expected, count, 0);

  for (i = 0, line = text; letters[0] != '\0' && i < count; ++i, line = next_line(line)) {
    const size_t context = part(line, letters, 0, piece);
    float three[3] = {0, 0, 0};
    size_t whole, ends[3];
    CHECK(leveret_set_context(predictor, piece, context) == LEVERET_OK);
    whole = part(line, letters, 1, piece);
    memcpy(piece + whole, piece, whole);
    memcpy(piece + 2 * whole, "|\n", 2);
    CHECK(leveret_predict_lines(predictor, piece, 2 * whole + 2, three, 3) == LEVERET_OK);
    CHECK(three[0] == three[1]);
    got[i] = three[0];

    CHECK(leveret_set_context_features(predictor, LEVERET_BY_NAMESPACE, features,
                                       parse(by, line, letters, 0, features)) == LEVERET_OK);
    ends[0] = ends[1] = parse(by, line, letters, 1, features);
    ends[2] = ends[1];
    three[0] = three[2];
    CHECK(leveret_predict_features(predictor, LEVERET_BY_NAMESPACE, features, ends, three, 2) ==
          LEVERET_OK);
    CHECK(three[0] == got[i]);
    /* The second candidate has nothing of its own, as the last line above. */
    CHECK(three[1] == three[2]);
  }
  if (letters[0] != '\0') check_near(got, expected, count, 2e-6f);

  leveret_predictor_free(predictor);
  leveret_model_close(model);
  free(features);
  free(expected);
  free(got);
  free(piece);
  free(text);
  return failures != 0;
}
