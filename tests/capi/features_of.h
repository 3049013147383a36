/* The features of a line of VW text as arrays, for tests: no weights of namespaces, no quotes. */
#ifndef FEATURES_OF_H
#define FEATURES_OF_H

#include "check.h"

enum { MOST = 4096 };

/* Of what hashes are asked: a model or a learner. */
typedef struct hasher {
  const leveret_model* model; /* or NULL */
  leveret_learner* learner;
} hasher;

static int hash_space(hasher by, const char* name, size_t size, uint32_t* hash) {
  return by.model != NULL ? leveret_hash_namespace(by.model, name, size, hash)
                          : leveret_learner_hash_namespace(by.learner, name, size, hash);
}

static int hash_name(hasher by, uint32_t space, const char* name, size_t size, uint32_t* hash) {
  return by.model != NULL ? leveret_hash_feature(by.model, space, name, size, hash)
                          : leveret_learner_hash_feature(by.learner, space, name, size, hash);
}

/* The features of one line, those of namespaces in `letters` or, with `others`, of all others. */
static size_t parse(hasher by, const char* line, const char* letters, int others,
                    leveret_feature* features) {
  size_t count = 0;
  uint32_t space = 0;
  int wanted = 0;
  const char* at = line + strcspn(line, "|\n");
  for (; *at != '\n' && *at != '\0';) {
    const size_t length = strcspn(at, " \n");
    if (*at == '|') {
      CHECK(hash_space(by, at + 1, length - 1, &space) == LEVERET_OK);
      wanted = (length == 2 && strchr(letters, at[1]) != NULL) != others;
    } else if (length > 0 && wanted) {
      const size_t name = strcspn(at, ": \n");
      CHECK(count < MOST);
      features[count].space = space;
      features[count].value = name < length ? (float)atof(at + name + 1) : 1.0f;
      CHECK(hash_name(by, space, at, name, &features[count].hash) == LEVERET_OK);
      ++count;
    }
    at += length;
    while (*at == ' ') ++at;
  }
  return count;
}

#endif
