#include "cli/learn/named_batch.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console.h"
#include "spec/named_models.h"

namespace leveret::cli {

void tell_of_named_batch(const spec::Spec& spec) {
  const auto models = spec::named_models();
  const auto named = std::ranges::find(models, spec.named, &spec::NamedModel::name);
  if (named == models.end()) return;
  const std::string option = fmt::format("--batch_size {} ", spec.batch_size);
  if (named->options.find(option) == std::string_view::npos) return;
  say(fmt::format("--model {} learns in batches of {}; --batch_size N makes them larger or smaller",
                  spec.named, spec.batch_size));
}

}  // namespace leveret::cli
