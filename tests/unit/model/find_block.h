/// A block of a model's network, to be called by itself.
#pragma once

#include <memory>
#include <stdexcept>

#include "kernels/dispatch.h"
#include "model/model.h"
#include "net/make_blocks.h"

namespace leveret::model {

/// The first one of class B, with the ids of the model's own.
template <class B>
class OneBlock {
 public:
  explicit OneBlock(const Model& model)
      : blocks_(net::make_blocks(model.config(), kernels::active())) {
    for (const auto& block : blocks_) {
      if (found_ == nullptr) found_ = dynamic_cast<const B*>(block.get());
    }
    if (found_ == nullptr) throw std::logic_error("a network without such a block");
  }
  const B& operator*() const { return *found_; }

 private:
  net::Blocks blocks_;
  const B* found_ = nullptr;
};

}  // namespace leveret::model
