/* patch LINES CONTEXT TIMES: threads that predict while the model is patched, again and again; and
 * patches that are refused. In the folder are
 *
 *   0.lvt 1.lvt 2.lvt, 1.patch 2.patch    models, and what makes each of the one before
 *   live.lvt over.lvt other.lvt           copies of 0.lvt, and one of 2.lvt
 *   cut.patch changed.patch               2.patch, damaged
 *   bytes.patch                           of 0.lvt and 1.lvt (diff --bytes)
 *   strange.patch                         of another line
 *   kept                                  a file that is to stay as it is, as is the folder
 * `folder`
 *
 * and at the end there is saved.lvt, which is 2.lvt. */
#include "beside.h"

static const char* const chain[] = {"1.patch", "2.patch"};

/* Of the model that is there now. */
static int model_now(void) {
  leveret_predictor* predictor = NULL;
  float* const got = malloc(count * sizeof *got);
  int now;
  CHECK(leveret_predictor_new(model, context, &predictor) == LEVERET_OK);
  CHECK(score(predictor, got));
  now = model_of(got);
  leveret_predictor_free(predictor);
  free(got);
  return now;
}

static void patch(size_t first, size_t patches, const char* to) {
  CHECK(leveret_model_patch(model, chain + first, patches, to) == LEVERET_OK);
}

static void refused(const char* one, const char* two, const char* to, const char* words) {
  const char* const patches[] = {one, two};
  const int code = leveret_model_patch(model, patches, two != NULL ? 2 : 1, to);
  CHECK(code == LEVERET_BAD_FILE);
  if (strstr(leveret_error_message(), words) == NULL) {
    fprintf(stderr, "\"%s\" does not say \"%s\"\n", leveret_error_message(), words);
    ++failures;
  }
  CHECK(model_now() == 0);
}

static void check_beside_threads(int times) {
  int i;
  for (i = 0; i < times; ++i) {
    patch(0, 1, NULL);
    CHECK(model_now() == 1);
    patch(1, 1, i % 2 == 0 ? NULL : "saved.lvt");
    CHECK(model_now() == 2);
    CHECK(leveret_model_replace(model, "0.lvt") == LEVERET_OK);
    patch(0, 2, NULL);
    CHECK(model_now() == 2);
    /* What it has behind it is passed over. */
    patch(0, 2, "saved.lvt");
    patch(1, 1, NULL);
    CHECK(model_now() == 2);
    CHECK(leveret_model_replace(model, "0.lvt") == LEVERET_OK);
  }
}

static void check_refused(void) {
  const char* const targets[] = {NULL, "kept", "new"};
  size_t i;
  for (i = 0; i < sizeof targets / sizeof *targets; ++i) {
    const char* const to = targets[i];
    refused("2.patch", NULL, to, "apply the patches in between first");
    refused("strange.patch", NULL, to, "but strange.patch is for");
    refused("2.patch", "1.patch", to, "give every patch of the chain");
    refused("1.patch", "strange.patch", to, "give every patch of the chain");
    refused("1.patch", "cut.patch", to, "cut.patch");
    refused("1.patch", "changed.patch", to, "changed.patch");
    refused("1.patch", "nowhere", to, "nowhere: cannot open");
    refused("0.lvt", NULL, to, "no patch of leveret");
    refused("bytes.patch", NULL, to, "patch of bytes");
    refused("bytes.patch", "bytes.patch", to, "bytes.patch");
  }
  refused("1.patch", NULL, "folder", "folder");
  refused("1.patch", NULL, "no/folder", "no/folder");
}

/* The base is the file that was read, not what has its name now. */
static void check_base(void) {
  FILE* file;
  CHECK(leveret_model_replace(model, "live.lvt") == LEVERET_OK);
  CHECK(rename("other.lvt", "live.lvt") == 0);
  patch(0, 1, "live.lvt");
  CHECK(model_now() == 1);
  CHECK(leveret_model_replace(model, "live.lvt") == LEVERET_OK);
  patch(1, 1, "live.lvt");
  CHECK(model_now() == 2);

  CHECK(leveret_model_replace(model, "over.lvt") == LEVERET_OK);
  file = fopen("over.lvt", "r+b");
  CHECK(file != NULL && fputc('x', file) == 'x' && fclose(file) == 0);
  refused("1.patch", NULL, NULL, "changed while it was in use");
  CHECK(leveret_model_replace(model, "0.lvt") == LEVERET_OK);
  patch(0, 1, NULL);
  CHECK(model_now() == 1);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  text = read_text(argv[1], &size, &count);
  context = argv[2];
  add_answers("0.lvt");
  add_answers("1.lvt");
  add_answers("2.lvt");
  CHECK(leveret_model_open("0.lvt", &model) == LEVERET_OK);
  if (failures > 0) return 1;
  start_threads();
  check_beside_threads(atoi(argv[3]));
  check_refused();
  check_base();
  end_threads();
  leveret_model_close(model);
  free(text);
  return failures != 0;
}
