/* Shared by the C programs that test libleveret. */
#ifndef CHECK_H
#define CHECK_H

#include <leveret/leveret.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, \
              leveret_error_message());                                   \
      ++failures;                                                         \
    }                                                                     \
  } while (0)

#endif
