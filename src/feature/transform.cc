// Which transforms read which: the order in which transforms can run, and where their numbers come
// from.
#include "feature/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace leveret::feature {
namespace {

using Index = std::unordered_map<std::string_view, std::size_t>;

Index index_of(const std::vector<Transform>& transforms) {
  Index index;
  for (std::size_t i = 0; i < transforms.size(); ++i) index.emplace(transforms[i].name, i);
  return index;
}

/// Depth first.
class Order {
 public:
  explicit Order(const std::vector<Transform>& transforms)
      : transforms_(transforms),
        index_(index_of(transforms)),
        state_(transforms.size(), State::kNew) {}

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
    for (const std::string& source : transforms_[i].sources) {
      const auto made = index_.find(source);
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
  Index index_;
  std::vector<State> state_;
  std::vector<std::size_t> path_, done_;
};

}  // namespace

std::vector<std::size_t> transform_order(const std::vector<Transform>& transforms) {
  return Order(transforms).all();
}

std::vector<std::vector<NumberSource>> number_sources(const std::vector<Transform>& transforms) {
  const Index index = index_of(transforms);
  std::vector<std::vector<NumberSource>> all(transforms.size());
  for (std::size_t i = 0; i < transforms.size(); ++i) {
    if (!transforms[i].is_binner()) continue;
    for (const std::string& source : transforms[i].sources) {
      NumberSource& number = all[i].emplace_back(NumberSource{source});
      for (auto at = index.find(number.name); at != index.end(); at = index.find(number.name)) {
        const Transform& made_by = transforms[at->second];
        if (made_by.kind != TransformKind::kWeight) {
          throw std::runtime_error(fmt::format(
              "--transform {}: {} reads numbers, and {}, made by {}, has none; read a namespace of "
              "the data, or one made by Weight from such a namespace",
              transforms[i].name, transform_kind_name(transforms[i].kind), made_by.name,
              transform_kind_name(made_by.kind)));
        }
        number.factor *= static_cast<double>(made_by.parameters[0]);
        number.name = made_by.sources[0];
      }
    }
  }
  return all;
}

std::vector<std::string> number_namespaces(const std::vector<Transform>& transforms) {
  std::set<std::string> names;
  for (const std::vector<NumberSource>& sources : number_sources(transforms)) {
    for (const NumberSource& source : sources) names.insert(source.name);
  }
  return {names.begin(), names.end()};
}

}  // namespace leveret::feature
