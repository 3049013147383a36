/// The C interface of include/leveret/leveret.h: arguments are looked at, exceptions become codes
/// and messages. What is done stands in requests.h.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "feature/feature_map.h"
#include "files/file_identity.h"
#include "leveret/leveret.h"
#include "serve/requests.h"
#include "serve/served.h"
#include "text/hash.h"

using leveret::serve::BadArgument;
using leveret::serve::BadLine;
using leveret::serve::Place;
using leveret::serve::Requests;
using leveret::serve::Served;

struct leveret_model {
  std::shared_ptr<Place> place;
};
struct leveret_predictor {
  Requests requests;
};

namespace {

/// Of this thread. No string: nothing here may fail, and nothing is left to be freed.
thread_local char message[1024] = "";

int fail(int code, const char* what) noexcept {
  const std::size_t size = std::min(std::strlen(what), sizeof message - 1);
  std::memcpy(message, what, size);
  message[size] = '\0';
  return code;
}

/// Does `work`, and answers for it. `other` is the code of errors that have none of their own.
template <class Work>
int answer(int other, Work work) noexcept {
  try {
    work();
    return LEVERET_OK;
  } catch (const BadArgument& error) {
    return fail(LEVERET_BAD_ARGUMENT, error.what());
  } catch (const BadLine& error) {
    return fail(LEVERET_BAD_LINE, error.what());
  } catch (const leveret::feature::BadExample& error) {
    return fail(LEVERET_BAD_LINE, error.what());
  } catch (const std::bad_alloc&) {
    return fail(LEVERET_NO_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return fail(other, error.what());
  } catch (...) {
    return fail(other, "an unknown error");
  }
}

void need(const void* pointer, const char* name) {
  if (pointer == nullptr) throw BadArgument(std::string(name) + " is NULL");
}

std::string_view text_of(const char* text, std::size_t size, const char* name) {
  if (size > 0) need(text, name);
  return size > 0 ? std::string_view(text, size) : std::string_view();
}

/// A model may be saved in place of its own file, but no patch that is read is written over.
void need_no_patch(const char* to, std::span<const char* const> patches) {
  const auto target = leveret::files::identify(to);
  for (const char* const patch : patches) {
    if (!target || target != leveret::files::identify(patch)) continue;
    throw BadArgument(std::string(to) + ": is the patch " + patch +
                      ", which would be overwritten; name another file to save the model to");
  }
}

std::shared_ptr<const Served> served(const leveret_model* model) {
  need(model, "model");
  return model->place->get();
}

}  // namespace

const char* leveret_version() { return LEVERET_VERSION_STRING; }
int leveret_abi_version() { return LEVERET_ABI_VERSION; }
const char* leveret_error_message() { return message; }

int leveret_model_open(const char* path, leveret_model** model) {
  return answer(LEVERET_BAD_FILE, [&] {
    need(model, "model");
    *model = nullptr;
    need(path, "path");
    *model = new leveret_model{std::make_shared<Place>(path)};
  });
}

int leveret_model_replace(leveret_model* model, const char* path) {
  return answer(LEVERET_BAD_FILE, [&] {
    need(model, "model");
    need(path, "path");
    model->place->replace(path);
  });
}

int leveret_model_patch(leveret_model* model, const char* const* patches, size_t count,
                        const char* to) {
  return answer(LEVERET_BAD_FILE, [&] {
    need(model, "model");
    need(patches, "patches");
    if (count == 0) throw BadArgument("count is 0: no patch is given");
    for (size_t i = 0; i < count; ++i) need(patches[i], "a patch");
    if (to != nullptr && *to == '\0') throw BadArgument("to is empty; NULL saves nothing");
    if (to != nullptr) need_no_patch(to, {patches, count});
    model->place->patch({patches, patches + count}, to != nullptr ? to : "");
  });
}

void leveret_model_close(leveret_model* model) { delete model; }

int leveret_hash_namespace(const leveret_model* model, const char* name, size_t size,
                           uint32_t* hash) {
  return answer(LEVERET_FAILED, [&] {
    need(hash, "hash");
    *hash = served(model)->hash_of_name(text_of(name, size, "name"));
  });
}

int leveret_hash_feature(const leveret_model* model, uint32_t namespace_hash, const char* name,
                         size_t size, uint32_t* hash) {
  return answer(LEVERET_FAILED, [&] {
    need(hash, "hash");
    *hash = leveret::text::hash_name(text_of(name, size, "name"), namespace_hash,
                                     served(model)->parser().hash);
  });
}

int leveret_field_count(const leveret_model* model, uint32_t* count) {
  return answer(LEVERET_FAILED, [&] {
    need(count, "count");
    *count = served(model)->fields();
  });
}

int leveret_predictor_new(leveret_model* model, const char* context,
                          leveret_predictor** predictor) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    *predictor = nullptr;
    need(model, "model");
    *predictor = new leveret_predictor{Requests(model->place, context != nullptr ? context : "")};
  });
}

void leveret_predictor_free(leveret_predictor* predictor) { delete predictor; }

int leveret_set_context(leveret_predictor* predictor, const char* line, size_t size) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    predictor->requests.clear_context();
    predictor->requests.set_context(text_of(line, size, "line"));
  });
}

int leveret_clear_context(leveret_predictor* predictor) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    predictor->requests.clear_context();
  });
}

int leveret_predict_lines(leveret_predictor* predictor, const char* text, size_t size,
                          float* probabilities, size_t count) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    if (count > 0) need(probabilities, "probabilities");
    predictor->requests.predict(text_of(text, size, "text"), {probabilities, count});
  });
}

int leveret_predict_features(leveret_predictor* predictor, int by, const leveret_feature* features,
                             const size_t* ends, float* probabilities, size_t count) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    if (count > 0) need(ends, "ends");
    if (count > 0) need(probabilities, "probabilities");
    if (count > 0 && ends[count - 1] > 0) need(features, "features");
    predictor->requests.predict(by, features, {ends, count}, {probabilities, count});
  });
}

int leveret_set_context_features(leveret_predictor* predictor, int by,
                                 const leveret_feature* features, size_t count) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    predictor->requests.clear_context();
    if (count > 0) need(features, "features");
    predictor->requests.set_context(by, {features, count});
  });
}
