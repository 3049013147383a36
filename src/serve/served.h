/// The state that predictors of one model share, and the place where one model takes another's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/model.h"
#include "modelfile/model_line.h"
#include "serve/request_chunk.h"
#include "store/checksum.h"
#include "store/model_file.h"
#include "text/namespace_names.h"
#include "text/parser.h"

namespace leveret::serve {

/// Const after construction; any number of threads.
class Served {
 public:
  /// Throws as modelfile::load_model does.
  explicit Served(const store::ModelFile& file);
  /// For a model that is no file's: without fingerprint and sequence. It stays as it is meanwhile.
  explicit Served(std::shared_ptr<const model::Model> model);
  /// The stand-in for a model that has not come yet. It knows no namespace, and nothing is to be
  /// answered by it.
  static std::shared_ptr<const Served> nothing();
  bool is_nothing() const { return is_nothing_; }

  const std::shared_ptr<const model::Model>& model() const { return model_; }
  /// Closed: a parser adds nothing to them.
  text::NamespaceNames& names() const { return names_; }
  const text::ParserOptions& parser() const { return parser_; }
  std::uint32_t fields() const { return model_->parameters().layout.fields; }
  /// The file's fingerprint: equal for equal models.
  const store::Checksum& fingerprint() const { return fingerprint_; }
  /// Examples learned; modelfile::kNoSequence where the file does not tell.
  std::uint64_t sequence() const { return sequence_; }
  /// Bytes that its tables take, which is nearly all of it.
  std::uint64_t memory() const { return model_->tables().budget().used(); }

  /// The namespace with this hash; one that stands for all that the model does not know, if it is
  /// none of those that it knows.
  Space space_of_hash(std::uint32_t hash) const;
  /// A namespace of this field, and of no field before it if there is one. field < fields().
  Space space_of_field(std::uint32_t field) const { return space_of_field_[field]; }
  std::uint32_t hash_of_name(std::string_view name) const;

 private:
  void close_names();
  void find_spaces_of_fields();

  std::shared_ptr<const model::Model> model_;
  store::Checksum fingerprint_ = {};
  std::uint64_t sequence_ = modelfile::kNoSequence;
  mutable text::NamespaceNames names_;
  text::ParserOptions parser_;
  std::unordered_map<std::uint32_t, std::uint32_t> name_of_hash_;
  std::vector<Space> space_of_field_;
  bool is_nothing_ = false;
};

/// Holds a Served, all of which is in memory of its own when others see it, until it is given
/// another; any number of threads.
class Place {
 public:
  explicit Place(const std::string& path);
  /// One that waits for its first model, and has Served::nothing() until then.
  Place() : served_(Served::nothing()) {}

  /// Asked of each model that is read to come here, before it does; what it throws keeps it out. To
  /// be set before other threads come.
  using Admit = std::function<void(const Served& next)>;
  void set_admit(Admit admit) { admit_ = std::move(admit); }

  std::shared_ptr<const Served> get() const {
    const std::lock_guard lock(mutex_);
    return served_;
  }
  /// Whether `get` would say something else now than at the `time` that it was.
  std::uint64_t time() const { return time_.load(std::memory_order_acquire); }

  // Where one of these throws, nothing is changed.

  /// With patches: by what the chain makes of the model in that file, of which nobody sees anything
  /// before the last is applied. One thread works.
  void replace(const std::string& path, const std::vector<std::string>& patches = {});
  /// Another model is what a chain of patches makes of the one that is here; it is saved as `to`,
  /// too, unless that is empty. One thread works. `to` is none of the patches, and no file of
  /// another kind (store/content.h).
  void patch(std::vector<std::string> patches, const std::string& to);

 private:
  void put(store::ModelFile file);
  void put(store::ModelFile file, std::shared_ptr<const Served> served);

  Admit admit_;
  std::mutex changing_;  ///< one at a time: a patch is for the model that is here
  /// The file that it was read from. It stays open, so that patches have their base when another
  /// file has its name.
  std::optional<store::ModelFile> file_;  ///< none while it waits for one
  mutable std::mutex mutex_;
  std::shared_ptr<const Served> served_;
  std::atomic<std::uint64_t> time_{0};
};

}  // namespace leveret::serve
