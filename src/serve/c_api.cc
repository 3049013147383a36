/// The C interface of include/leveret/leveret.h.
#include "leveret/leveret.h"

const char* leveret_version() { return LEVERET_VERSION_STRING; }
