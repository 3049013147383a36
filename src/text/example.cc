#include "text/example.h"

namespace leveret::text {

void ExampleChunk::clear() {
  bytes.clear();
  examples.clear();
  runs.clear();
  features.clear();
  names.clear();
  bad.clear();
  source = 0;
  first_line = 1;
  blank_lines = 0;
}

}  // namespace leveret::text
