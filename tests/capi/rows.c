/* Predictions of raw rows: of each line of a file on stdout; and what is refused.
 *
 *   capi_rows MODEL MODEL_OF_TEXT ROWS
 */
#include <math.h>

#include "check.h"
#include "read_text.h"

static void check_context(leveret_predictor* predictor) {
  static const char wholes[] =
      "{\"age\": 30, \"city\": \"c 1\", \"tags\": [\"t1\"]}\n"
      "{\"age\": 30, \"tags\": \"t1|u\"}\n"
      "{\"age\": 30}";
  static const char parts[] =
      "{\"city\": \"c 1\", \"tags\": [\"t1\"]}\n"
      "{\"tags\": \"t1|u\"}\n"
      "{}\n";
  float whole[3], part[3];
  int i;
  CHECK(leveret_predict_rows(predictor, wholes, strlen(wholes), whole, 3) == LEVERET_OK);
  CHECK(leveret_set_context_row(predictor, "{\"age\": 30}", 11) == LEVERET_OK);
  CHECK(leveret_predict_rows(predictor, parts, strlen(parts), part, 3) == LEVERET_OK);
  for (i = 0; i < 3; ++i) CHECK(fabsf(whole[i] - part[i]) < 1e-5f);
  CHECK(leveret_predict_rows(predictor, wholes, strlen(wholes), whole, 3) == LEVERET_BAD_LINE);
  CHECK(strstr(leveret_error_message(), "row 1: column \"age\" is in the context, too") != NULL);
  CHECK(isnan(whole[0]) && isnan(whole[2]));
  CHECK(leveret_set_context_row(predictor, "{\"age\": \"x\"}", 12) == LEVERET_BAD_LINE);
  CHECK(leveret_predict_rows(predictor, wholes, strlen(wholes), part, 3) == LEVERET_OK);
  CHECK(leveret_clear_context(predictor) == LEVERET_OK);
}

static void check_refused(leveret_predictor* predictor) {
  static const char bad[] = "{\"age\": 3}\n{\"age\": \"old\"}\n{\"age\": 3\n{\"age\": 3}\n";
  float p[4];
  CHECK(leveret_predict_rows(predictor, bad, strlen(bad), p, 4) == LEVERET_BAD_LINE);
  CHECK(strstr(leveret_error_message(), "row 2: column \"age\": not a number") != NULL);
  CHECK(!isnan(p[0]) && isnan(p[1]) && isnan(p[2]) && p[0] == p[3]);
  CHECK(leveret_predict_rows(predictor, bad, strlen(bad), p, 3) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_predict_rows(predictor, NULL, 0, NULL, 0) == LEVERET_OK);
  CHECK(leveret_predict_rows(NULL, bad, 1, p, 1) == LEVERET_BAD_ARGUMENT);
  CHECK(leveret_set_context_row(predictor, "[]", 2) == LEVERET_BAD_LINE);
  CHECK(leveret_set_context_row(predictor, "", 0) == LEVERET_BAD_LINE);
}

int main(int argc, char** argv) {
  leveret_model *model = NULL, *of_text = NULL;
  leveret_predictor* predictor = NULL;
  size_t size, count, i;
  char* text;
  float* p;
  if (argc != 4) return 2;
  text = read_text(argv[3], &size, &count);
  p = malloc(count * sizeof *p);
  CHECK(leveret_model_open(argv[1], &model) == LEVERET_OK);
  CHECK(leveret_predictor_new(model, "age", &predictor) == LEVERET_OK);
  CHECK(leveret_predict_rows(predictor, text, size, p, count) == LEVERET_OK);
  for (i = 0; i < count; ++i) printf("%.6f\n", p[i]);
  check_context(predictor);
  check_refused(predictor);
  CHECK(leveret_model_replace(model, argv[2]) == LEVERET_OK);
  CHECK(leveret_predict_rows(predictor, "{}", 2, p, 1) == LEVERET_BAD_ARGUMENT);
  CHECK(strstr(leveret_error_message(), "knows no columns") != NULL);
  leveret_predictor_free(predictor);
  CHECK(leveret_model_open(argv[2], &of_text) == LEVERET_OK);
  leveret_model_close(of_text);
  leveret_model_close(model);
  free(p);
  free(text);
  return failures == 0 ? 0 : 1;
}
