/* score MODEL CONTEXT: scores requests of standard input as `leveret predict --context CONTEXT
 * --context_lines` does: a line of the context's features, then lines of candidates, then an empty
 * line. Prints the probability of each candidate, and an empty line behind each request.
 *
 *   cc score.c $(pkg-config --cflags --libs leveret) -o score
 *   ./score model.lvt user,page <requests */
#include <leveret/leveret.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CANDIDATES = 1000, MOST_TEXT = 1 << 20 };

static int die(const char* what) {
  fprintf(stderr, "score: %s: %s\n", what, leveret_error_message());
  return 1;
}

int main(int argc, char** argv) {
  static char line[MOST_TEXT], candidates[MOST_TEXT];
  static float probabilities[MOST_CANDIDATES];
  leveret_model* model = NULL;
  leveret_predictor* predictor = NULL;
  size_t size = 0, count = 0, i;
  int in_request = 0, more = 1;

  if (argc != 3) {
    fprintf(stderr, "usage: score MODEL CONTEXT\n");
    return 2;
  }
  if (leveret_abi_version() != LEVERET_ABI_VERSION) return die("another libleveret is needed");
  if (leveret_model_open(argv[1], &model) != LEVERET_OK) return die("cannot open the model");
  if (leveret_predictor_new(model, argv[2], &predictor) != LEVERET_OK) return die("no predictor");

  while (more) {
    more = fgets(line, sizeof line, stdin) != NULL;
    if (!more || line[0] == '\n') { /* the request is whole */
      if (!in_request) continue;
      if (leveret_predict_lines(predictor, candidates, size, probabilities, count) != LEVERET_OK) {
        return die("cannot score");
      }
      for (i = 0; i < count; ++i) printf("%.6f\n", probabilities[i]);
      printf("\n");
      size = count = 0;
      in_request = 0;
    } else if (!in_request) {
      if (leveret_set_context(predictor, line, strlen(line)) != LEVERET_OK) return die("context");
      in_request = 1;
    } else {
      if (count == MOST_CANDIDATES || size + strlen(line) >= sizeof candidates) {
        return die("a request is too long");
      }
      memcpy(candidates + size, line, strlen(line));
      size += strlen(line);
      ++count;
    }
  }
  leveret_predictor_free(predictor);
  leveret_model_close(model);
  return 0;
}
