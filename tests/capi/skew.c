/* skew MODEL LINES: scores the lines, some at a time, and prints how many windows of them were
 * skewed, and what was. */
#include "check.h"
#include "read_text.h"

int main(int argc, char** argv) {
  leveret_model* model = NULL;
  leveret_predictor* predictor = NULL;
  char text[4096] = "x", little[5] = "x";
  uint64_t windows = 9, skewed = 9;
  size_t size, lines, done = 0;
  if (argc != 3) return 2;
  CHECK(leveret_model_open(argv[1], &model) == LEVERET_OK);
  CHECK(leveret_predictor_new(model, NULL, &predictor) == LEVERET_OK);
  if (failures > 0) return 1;
  CHECK(leveret_predictor_skew(NULL, &windows, &skewed, text, sizeof text) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_predictor_skew(predictor, NULL, NULL, NULL, 1) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_predictor_skew(predictor, &windows, &skewed, text, sizeof text) == LEVERET_OK);
  CHECK(windows == 0 && skewed == 0 && text[0] == '\0');

  char* const all = read_text(argv[2], &size, &lines);
  for (const char* at = all; done < lines;) {
    enum { SOME = 300 };
    float probabilities[SOME];
    const char* end = at;
    size_t count = 0;
    for (; count < SOME && done < lines; ++count, ++done) end = strchr(end, '\n') + 1;
    CHECK(leveret_predict_lines(predictor, at, (size_t)(end - at), probabilities, count) ==
          LEVERET_OK);
    at = end;
  }
  CHECK(leveret_predictor_skew(predictor, NULL, NULL, NULL, 0) == LEVERET_OK);
  CHECK(leveret_predictor_skew(predictor, &windows, &skewed, text, sizeof text) == LEVERET_OK);
  CHECK(leveret_predictor_skew(predictor, NULL, NULL, little, sizeof little) == LEVERET_OK);
  CHECK(strncmp(text, little, 4) == 0 && strlen(little) <= 4);
  printf("%d of %d\n%s", (int)skewed, (int)windows, text);
  free(all);
  leveret_predictor_free(predictor);
  leveret_model_close(model);
  return failures > 0;
}
