#include "cache/cache_writer.h"

#include <fmt/format.h>
#include <zstd.h>

#include <new>
#include <span>
#include <stdexcept>

#include "cache/cache_checksum.h"
#include "files/bytes.h"

namespace leveret::cache {
namespace {

/// The columns leave little to find but byte frequencies; higher levels gain 1 % at best.
constexpr int kZstdLevel = 1;

text::ParserOptions parser_options_of(const CacheKey& key) {
  text::ParserOptions options;
  options.hash = key.hash;
  options.hash_seed = key.hash_seed;
  return options;
}

}  // namespace

class CacheWriter::Packer {
 public:
  Packer() : context_(ZSTD_createCCtx()) {
    if (!context_) throw std::bad_alloc();
  }
  ~Packer() { ZSTD_freeCCtx(context_); }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  /// Packs `from` into `to`; false when that does not save half of it, as a linear model learns a
  /// sixth slower from packed blocks, or saves too much (cache_format.h).
  bool pack(const std::string& from, std::string& to) {
    if (in_vain_ % kTryEach != 0) {
      ++in_vain_;
      return false;
    }
    to.resize(ZSTD_compressBound(from.size()));
    const std::size_t size =
        ZSTD_compressCCtx(context_, to.data(), to.size(), from.data(), from.size(), kZstdLevel);
    if (ZSTD_isError(size)) throw std::bad_alloc();  // the one error a large enough output leaves
    to.resize(size);
    const bool suspicious = from.size() > kFreeBlockBytes && from.size() / kMaxBlockRatio > size;
    const bool worth_it = 2 * size < from.size() && !suspicious;
    in_vain_ = worth_it ? 0 : in_vain_ + 1;
    return worth_it;
  }

 private:
  /// Packing takes longer than all else that is done to a block, so it is not tried with each
  /// where it has not been worth it.
  static constexpr std::size_t kTryEach = 16;

  ZSTD_CCtx* context_;
  std::size_t in_vain_ = 0;  ///< blocks since it last was
};

CacheWriter::CacheWriter(const std::string& cache_path, std::vector<std::string> paths,
                         CacheKey key, const text::NamespaceNames& names)
    : paths_(std::move(paths)),
      key_(std::move(key)),
      file_(cache_path),
      packer_(std::make_unique<Packer>()),
      encoder_(names) {
  std::string body;
  put_cache_key(key_, body);
  std::string header(kCacheMagic);
  files::put(header, kCacheVersion);
  files::put_text(header, body);
  files::put(header, cache_checksum(header));
  write(header);
}

CacheWriter::~CacheWriter() = default;

void CacheWriter::write(std::string_view bytes) {
  file_.write(std::as_bytes(std::span<const char>(bytes)));
}

void CacheWriter::add(const text::ExampleChunk& chunk) {
  totals_.bad_lines += chunk.bad.size();
  totals_.blank_lines += chunk.blank_lines;
  BlockEncoder::At at;
  while (!encoder_.add(chunk, at)) write_block();
}

void CacheWriter::write_block() {
  if (encoder_.empty()) return;
  ++totals_.blocks;
  totals_.examples += encoder_.examples();
  totals_.features += encoder_.features();
  unpacked_.clear();
  encoder_.finish(unpacked_);
  if (unpacked_.size() > kMaxBlockBytes) {
    throw std::runtime_error(fmt::format(
        "{}: a line is too long for the cache; skip it by a smaller --max_line, or use no cache",
        file_.path()));
  }
  const bool packed = packer_->pack(unpacked_, packed_);
  const std::string& content = packed ? packed_ : unpacked_;
  std::string header;
  files::put(header, kBlockMagic);
  files::put(header,
             static_cast<std::uint32_t>(packed ? BlockPacking::kZstd : BlockPacking::kStored));
  files::put<std::uint64_t>(header, unpacked_.size());
  files::put<std::uint64_t>(header, content.size());
  files::put(header, cache_checksum(content, cache_checksum(header)));
  write(header);
  write(content);
}

void CacheWriter::finish(const std::vector<stream::TextSum>& sums) {
  write_block();
  std::string texts;
  for (const stream::TextSum& sum : sums) {
    for (const std::uint64_t part : {sum.content, sum.bytes, sum.head}) files::put(texts, part);
  }
  if (!texts.empty()) files::put(texts, cache_checksum(texts));
  write(texts);
  std::string end;
  files::put(end, kEndMagic);
  files::put(end, static_cast<std::uint32_t>(sums.size()));
  for (const std::uint64_t total : {totals_.blocks, totals_.examples, totals_.features,
                                    totals_.bad_lines, totals_.blank_lines}) {
    files::put(end, total);
  }
  files::put(end, cache_checksum(end));
  write(end);
  const CacheKey now = make_cache_key(paths_, parser_options_of(key_), key_.max_line);
  for (std::size_t i = 0; i < key_.sources.size(); ++i) {
    const SourceIdentity& before = key_.sources[i];
    const SourceIdentity& after = now.sources.at(i);
    if (before.is_regular && (before.size != after.size || before.mtime_ns != after.mtime_ns)) {
      throw std::runtime_error(fmt::format(
          "{}: was changed while the cache {} was made from it; run again when it is complete",
          before.name, file_.path()));
    }
  }
  file_.commit();
}

}  // namespace leveret::cache
