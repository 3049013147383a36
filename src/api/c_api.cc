/// The C interface of include/leveret/leveret.h: arguments are looked at, exceptions become codes
/// and messages. What is done stands in requests.h.
#include "api/c_api.h"

#include <span>
#include <string>
#include <string_view>

#include "files/file_identity.h"
#include "store/checksum.h"
#include "text/hash.h"

using leveret::api::answer;
using leveret::api::need;
using leveret::api::need_features;
using leveret::api::put_text;
using leveret::api::text_of;
using leveret::serve::BadArgument;
using leveret::serve::Place;
using leveret::serve::Requests;
using leveret::serve::Served;

namespace {

/// The message of this thread's last call. No string: nothing here may fail, and nothing is left to
/// be freed.
thread_local char message[1024] = "";

}  // namespace

int leveret::api::fail(int code, const char* what) noexcept {
  const std::size_t size = std::min(std::strlen(what), sizeof message - 1);
  std::memcpy(message, what, size);
  message[size] = '\0';
  return code;
}

namespace {

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

/// 32 digits and a zero.
void put_fingerprint(const Served& served, char* to) {
  const std::string digits = leveret::store::to_hex(served.fingerprint());
  std::memcpy(to, digits.c_str(), digits.size() + 1);
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
    *model = new leveret_model{std::make_shared<Place>(path), {}, {}};
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
    if (count == 0) throw BadArgument("count is 0: give at least one patch");
    for (size_t i = 0; i < count; ++i) need(patches[i], "a patch");
    if (to != nullptr && *to == '\0')
      throw BadArgument("the path `to` is empty: give a path, or NULL to save nothing");
    if (to != nullptr) need_no_patch(to, {patches, count});
    model->place->patch({patches, patches + count}, to != nullptr ? to : "");
  });
}

void leveret_model_close(leveret_model* model) { delete model; }

int leveret_model_fingerprint(const leveret_model* model, char fingerprint[33]) {
  return answer(LEVERET_FAILED, [&] {
    need(fingerprint, "fingerprint");
    put_fingerprint(*served(model), fingerprint);
  });
}

int leveret_model_sequence(const leveret_model* model, uint64_t* sequence) {
  return answer(LEVERET_FAILED, [&] {
    need(sequence, "sequence");
    *sequence = served(model)->sequence();
  });
}

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

int leveret_set_context_row(leveret_predictor* predictor, const char* row, size_t size) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    predictor->requests.clear_context();
    predictor->requests.set_context_row(text_of(row, size, "row"));
  });
}

int leveret_predict_rows(leveret_predictor* predictor, const char* rows, size_t size,
                         float* probabilities, size_t count) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    if (count > 0) need(probabilities, "probabilities");
    predictor->requests.predict_rows(text_of(rows, size, "rows"), {probabilities, count});
  });
}

int leveret_predict_features(leveret_predictor* predictor, int by, const leveret_feature* features,
                             const size_t* ends, float* probabilities, size_t count) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    if (count > 0) need(probabilities, "probabilities");
    need_features(features, ends, count);
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

int leveret_predictor_fingerprint(const leveret_predictor* predictor, char fingerprint[33]) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    need(fingerprint, "fingerprint");
    put_fingerprint(predictor->requests.served(), fingerprint);
  });
}

int leveret_predictor_skew(const leveret_predictor* predictor, uint64_t* windows, uint64_t* skewed,
                           char* text, size_t size) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    if (size > 0) need(text, "text");
    const Requests& requests = predictor->requests;
    if (windows != nullptr) *windows = requests.skew_counts().windows;
    if (skewed != nullptr) *skewed = requests.skew_counts().skewed_windows;
    put_text(requests.skew_text(), text, size);
  });
}

int leveret_predictor_sequence(const leveret_predictor* predictor, uint64_t* sequence) {
  return answer(LEVERET_FAILED, [&] {
    need(predictor, "predictor");
    need(sequence, "sequence");
    *sequence = predictor->requests.served().sequence();
  });
}
