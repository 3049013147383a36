/// The worth of each namespace to a model on labelled lines: `inspect --fields`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/input.h"
#include "model/model.h"

namespace leveret::cli {

struct NamespaceWorth {
  std::string name;
  std::uint64_t lines = 0;  ///< that have it
  double loss = 0;          ///< by how much the logloss is higher where it is left out
  double contribution = 0;  ///< mean |log-odds| that it moves, over the lines that have it
};

struct NamespacesWorth {
  std::uint64_t examples = 0;
  std::uint64_t not_finite = 0;     ///< predictions; these examples are in no figure
  double logloss = 0;               ///< of whole lines
  std::vector<NamespaceWorth> all;  ///< the most valuable first
};

/// Means are weighted by importance. std::runtime_error where no example has a label.
NamespacesWorth namespaces_worth(const std::shared_ptr<const model::Model>& model,
                                 const InputOptions& data);

/// A table, or one line of JSON.
std::string worth_text(const NamespacesWorth& worth, bool json);

}  // namespace leveret::cli
