/// Arrays whose elements have no value until they are written, so that growing one costs nothing.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace leveret::text {

template <class T>
struct NoFill : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = NoFill<U>;
  };
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
};

template <class T>
using Unfilled = std::vector<T, NoFill<T>>;

}  // namespace leveret::text
