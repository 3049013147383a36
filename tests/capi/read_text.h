#ifndef READ_TEXT_H
#define READ_TEXT_H

#include <stdio.h>
#include <stdlib.h>

/* All of a file, with a 0 behind it; its lines are counted. */
static char* read_text(const char* path, size_t* size, size_t* lines) {
  FILE* file = fopen(path, "rb");
  char* text;
  size_t i;
  long end;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (end = ftell(file)) < 0) {
    perror(path);
    exit(1);
  }
  rewind(file);
  text = malloc((size_t)end + 1);
  *size = fread(text, 1, (size_t)end, file);
  fclose(file);
  text[*size] = '\0';
  *lines = 0;
  for (i = 0; i < *size; ++i) *lines += text[i] == '\n';
  return text;
}

#endif
