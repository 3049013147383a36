/* files KILLS: what leveret_model_patch reads and writes: it writes over no patch, leaves nothing in
 * the folder TMPDIR, however the process ends, and needs few descriptors. In the folder are
 *
 *   0.lvt 1.lvt 2.lvt, 1.patch 2.patch    models, and what makes each of the one before
 *   back.patch                            what makes 0.lvt of 1.lvt
 *   kept                                  a file that is to stay as it is
 *   $TMPDIR                               an empty folder, the same after each kill */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static const char* const chain[] = {"1.patch", "2.patch"};
static leveret_model* model;

static void refused(int code, int expected, const char* word) {
  CHECK(code == expected);
  if (strstr(leveret_error_message(), word) == NULL) {
    fprintf(stderr, "\"%s\" does not say \"%s\"\n", leveret_error_message(), word);
    ++failures;
  }
}

static size_t files_in(const char* path) {
  DIR* const folder = opendir(path);
  size_t count = 0;
  CHECK(folder != NULL);
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count - 2; /* . and .. */
}

/* By whatever name: the patch itself, whether it is for this model or not, is not written over. */
static void check_targets(void) {
  char whole[4096];
  const char* targets[7];
  size_t i, first, patches;
  CHECK(getcwd(whole, sizeof whole - 16) != NULL);
  strcat(whole, "/2.patch");
  CHECK(link("2.patch", "hard") == 0 && symlink("2.patch", "soft") == 0);
  CHECK(symlink("soft", "softer") == 0 && symlink(".", "way") == 0);
  targets[0] = "2.patch";
  targets[1] = "./2.patch";
  targets[2] = "hard";
  targets[3] = "soft";
  targets[4] = "softer";
  targets[5] = "way/2.patch";
  targets[6] = whole;
  for (i = 0; i < 7; ++i) {
    for (first = 0; first < 2; ++first) {
      patches = 2 - first;
      refused(leveret_model_patch(model, chain + first, patches, targets[i]), LEVERET_BAD_ARGUMENT,
              "is the patch 2.patch");
    }
  }
  /* Nor is what is not there. */
  {
    const char* const missing = "missing";
    refused(leveret_model_patch(model, &missing, 1, "./missing"), LEVERET_BAD_ARGUMENT, "missing");
    CHECK(access("missing", F_OK) != 0);
  }
}

/* A file of another kind would be lost. */
static void check_other_kinds(void) {
  const char* const text = "1 |a x\n";
  char now[16];
  FILE* file = fopen("train.vw", "wb");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
  refused(leveret_model_patch(model, chain, 1, "train.vw"), LEVERET_BAD_FILE, "holds examples");
  file = fopen("train.vw", "rb");
  CHECK(file != NULL && fgets(now, sizeof now, file) != NULL && strcmp(now, text) == 0);
  CHECK(fclose(file) == 0);
}

/* A file that the program has opened, by the name of its descriptor. */
static void check_descriptor(void) {
  char name[64];
  FILE* const file = fopen("kept", "ab");
  CHECK(file != NULL);
  sprintf(name, "/proc/self/fd/%d", fileno(file));
  refused(leveret_model_patch(model, chain, 1, name), LEVERET_BAD_FILE, "no regular file");
  refused(leveret_model_patch(model, chain, 2, name), LEVERET_BAD_FILE, "no regular file");
  refused(leveret_model_patch(model, chain, 2, "/dev/null"), LEVERET_BAD_FILE, "no regular file");
  fclose(file);
}

/* Messages name TMPDIR, and the folder. */
static void check_temporary(const char* temporary) {
  const struct rlimit small = {1000, RLIM_INFINITY}, any = {RLIM_INFINITY, RLIM_INFINITY};
  const char* const bad[] = {"no/folder", "kept", "/proc"};
  size_t i;
  for (i = 0; i < 3; ++i) {
    setenv("TMPDIR", bad[i], 1);
    refused(leveret_model_patch(model, chain, 1, NULL), LEVERET_BAD_FILE, bad[i]);
    refused(leveret_model_patch(model, chain, 2, NULL), LEVERET_BAD_FILE, " (TMPDIR): cannot make");
    refused(leveret_model_patch(model, chain, 2, NULL), LEVERET_BAD_FILE, "let TMPDIR name");
  }
  setenv("TMPDIR", temporary, 1);
  /* As a full disk. */
  signal(SIGXFSZ, SIG_IGN);
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  refused(leveret_model_patch(model, chain, 1, NULL), LEVERET_BAD_FILE, temporary);
  refused(leveret_model_patch(model, chain, 1, NULL), LEVERET_BAD_FILE, "(TMPDIR): cannot write");
  CHECK(setrlimit(RLIMIT_FSIZE, &any) == 0);
  CHECK(files_in(temporary) == 0);
  /* A save does not need it. */
  setenv("TMPDIR", "no/folder", 1);
  CHECK(leveret_model_patch(model, chain, 2, "saved.lvt") == LEVERET_OK);
  CHECK(leveret_model_replace(model, "0.lvt") == LEVERET_OK);
  setenv("TMPDIR", temporary, 1);
}

/* Back and forth, in more patches than files may be open. */
static void check_long_chain(void) {
  const struct rlimit few = {32, 32};
  const char* patches[1153];
  size_t i;
  for (i = 0; i < 1153; ++i) patches[i] = i % 2 == 0 ? "1.patch" : "back.patch";
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
  CHECK(leveret_model_patch(model, patches, 1153, NULL) == LEVERET_OK);
  CHECK(leveret_model_replace(model, "0.lvt") == LEVERET_OK);
  CHECK(leveret_model_patch(model, patches, 1153, "long.lvt") == LEVERET_OK);
  CHECK(leveret_model_replace(model, "0.lvt") == LEVERET_OK);
}

static void patch_for_ever(void) {
  for (;;) {
    if (leveret_model_patch(model, chain, 2, NULL) != LEVERET_OK) _exit(1);
    if (leveret_model_replace(model, "0.lvt") != LEVERET_OK) _exit(1);
  }
}

/* At whatever moment: the folder is empty, and not only after the next call. */
static void check_kills(const char* temporary, int kills) {
  int i, status;
  for (i = 0; i < kills; ++i) {
    const struct timespec wait = {0, 1000000 + (long)i * 97 % 200 * 40000};
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) patch_for_ever();
    nanosleep(&wait, NULL);
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(files_in(temporary) == 0);
  }
}

int main(int argc, char** argv) {
  const char* const temporary = getenv("TMPDIR");
  char* folder;
  if (argc != 2 || temporary == NULL) return 2;
  folder = strdup(temporary);
  CHECK(leveret_model_open("0.lvt", &model) == LEVERET_OK);
  if (failures > 0) return 1;
  check_targets();
  check_other_kinds();
  check_descriptor();
  check_temporary(folder);
  check_kills(folder, atoi(argv[1]));
  check_long_chain();
  CHECK(files_in(folder) == 0);
  leveret_model_close(model);
  free(folder);
  return failures != 0;
}
