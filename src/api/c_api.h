/// Helpers that the files of the C interface share. Private to the library.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "feature/feature_map.h"
#include "leveret/leveret.h"
#include "serve/requests.h"
#include "serve/served.h"

struct leveret_model {
  std::shared_ptr<leveret::serve::Place> place;
  mutable std::mutex mutex;     ///< guards what follows
  std::shared_ptr<void> watch;  ///< null: nobody looks for new models (src/api/c_api_watch.cc)
};
struct leveret_predictor {
  leveret::serve::Requests requests;
};

namespace leveret::api {

/// Notes a message for this thread, and returns the code.
int fail(int code, const char* what) noexcept;

/// Does `work`, and answers for it. `other` is the code of errors that have none of their own.
template <class Work>
int answer(int other, Work work) noexcept {
  try {
    work();
    return LEVERET_OK;
  } catch (const serve::BadArgument& error) {
    return fail(LEVERET_BAD_ARGUMENT, error.what());
  } catch (const serve::BadLine& error) {
    return fail(LEVERET_BAD_LINE, error.what());
  } catch (const feature::BadExample& error) {
    return fail(LEVERET_BAD_LINE, error.what());
  } catch (const std::bad_alloc&) {
    return fail(LEVERET_NO_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return fail(other, error.what());
  } catch (...) {
    return fail(other, "an unknown error");
  }
}

/// Cut to `size` bytes with the zero behind it; without room nothing.
inline void put_text(const std::string& words, char* to, std::size_t size) {
  if (size == 0) return;
  const std::size_t length = std::min(words.size(), size - 1);
  std::memcpy(to, words.data(), length);
  to[length] = '\0';
}

inline void need(const void* pointer, const char* name) {
  if (pointer == nullptr) throw serve::BadArgument(std::string(name) + " is NULL");
}

inline std::string_view text_of(const char* text, std::size_t size, const char* name) {
  if (size > 0) need(text, name);
  return size > 0 ? std::string_view(text, size) : std::string_view();
}

/// Fails where the features of `count` examples are not there.
inline void need_features(const leveret_feature* features, const std::size_t* ends,
                          std::size_t count) {
  if (count > 0) need(ends, "ends");
  if (count > 0 && ends[count - 1] > 0) need(features, "features");
}

}  // namespace leveret::api
