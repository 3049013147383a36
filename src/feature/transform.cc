// The order in which transforms can run: depth first over what reads what.
#include "feature/transform.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace leveret::feature {
namespace {

class Order {
 public:
  explicit Order(const std::vector<Transform>& transforms)
      : transforms_(transforms), state_(transforms.size(), State::kNew) {
    for (std::size_t i = 0; i < transforms.size(); ++i) index_.emplace(transforms[i].name, i);
  }

  std::vector<std::size_t> all() {
    for (std::size_t i = 0; i < transforms_.size(); ++i) visit(i);
    return std::move(done_);
  }

 private:
  enum class State { kNew, kOpen, kDone };

  /// No deeper than kMaxTransforms.
  void visit(std::size_t i) {
    if (state_[i] == State::kDone) return;
    path_.push_back(i);
    if (state_[i] == State::kOpen) refuse_cycle();
    state_[i] = State::kOpen;
    for (const TransformSource& source : transforms_[i].sources) {
      const auto made = index_.find(source.name);
      if (made != index_.end()) visit(made->second);
    }
    state_[i] = State::kDone;
    path_.pop_back();
    done_.push_back(i);
  }

  /// path_ ends where the cycle closes; what leads up to the cycle is no part of it.
  [[noreturn]] void refuse_cycle() const {
    std::string cycle;
    const auto first = std::find(path_.begin(), path_.end(), path_.back());
    for (auto at = first; at != path_.end(); ++at) {
      cycle += (cycle.empty() ? "" : " <- ") + transforms_[*at].name;
    }
    throw std::runtime_error("--transform: a cycle: " + cycle +
                             "; one of these namespaces must be made from others than these");
  }

  const std::vector<Transform>& transforms_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<State> state_;
  std::vector<std::size_t> path_, done_;
};

}  // namespace

std::vector<std::size_t> transform_order(const std::vector<Transform>& transforms) {
  return Order(transforms).all();
}

}  // namespace leveret::feature
