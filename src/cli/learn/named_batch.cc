#include "cli/learn/named_batch.h"

#include <fmt/format.h>

#include "cli/console.h"
#include "spec/named_models.h"

namespace leveret::cli {

void tell_of_named_batch(const spec::Spec& spec) {
  spec::Spec named;
  spec::set_named_model(named, spec.named);
  if (named.batch_size == spec::Spec{}.batch_size || named.batch_size != spec.batch_size) return;
  say(fmt::format("--model {} learns in batches of {}; --batch_size N makes them larger or smaller",
                  spec.named, spec.batch_size));
}

}  // namespace leveret::cli
