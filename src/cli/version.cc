#include "cli/verbs.h"

namespace leveret::cli {

const char* version() { return LEVERET_VERSION; }

}  // namespace leveret::cli
