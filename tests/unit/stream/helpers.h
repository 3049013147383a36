/// What the tests of src/stream share: files, packers, pipes.
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "stream/byte_source.h"
#include "stream/text_reader.h"

namespace leveret::stream::testing {

/// A folder that goes away with its owner.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stream-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::string path_;
};

inline std::string gzip(std::string_view text) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

/// One frame with checksum and, when `known_size`, the size in its header.
inline std::string zstd(std::string_view text, bool known_size = true, int window_log = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, known_size);
  if (window_log) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  std::string out(ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_outBuffer output{out.data(), out.size(), 0};
  if (known_size) {
    output.pos = ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  } else {  // in two parts, the size unknown until the end
    ZSTD_inBuffer half{text.data(), text.size() / 2, 0};
    ZSTD_compressStream2(context, &output, &half, ZSTD_e_flush);
    ZSTD_inBuffer rest{text.data() + half.size, text.size() - half.size, 0};
    ZSTD_compressStream2(context, &output, &rest, ZSTD_e_end);
  }
  out.resize(output.pos);
  ZSTD_freeCCtx(context);
  return out;
}

/// RFC 8878, 3.1.2.
inline std::string zstd_skippable(std::string_view user_data) {
  std::string frame = "\x53\x2a\x4d\x18";
  for (int shift = 0; shift < 32; shift += 8) {
    frame += static_cast<char>((user_data.size() >> shift) & 0xff);
  }
  return frame.append(user_data);
}

/// Everything the source has; `error`, when given, receives the message it ends with.
inline std::string drain(ByteSource& source, std::string* error = nullptr,
                         std::size_t read_size = 4096) {
  std::string all, part(read_size, '\0');
  try {
    while (const std::size_t got = source.read(part.data(), part.size())) all.append(part, 0, got);
  } catch (const std::runtime_error& e) {
    if (!error) throw;
    *error = e.what();
  }
  return all;
}

/// A pipe whose reading end has a path that can be opened.
class Pipe {
 public:
  Pipe() {
    if (pipe2(fds_, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    path_ = "/proc/self/fd/" + std::to_string(fds_[0]);
  }
  ~Pipe() {
    end();
    close(fds_[0]);
  }
  const std::string& path() const { return path_; }
  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ::write(fds_[1], bytes.data(), bytes.size());
      if (put < 0) throw std::runtime_error("write to pipe");
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
  }
  void end() {
    if (fds_[1] >= 0) close(fds_[1]);
    fds_[1] = -1;
  }

 private:
  int fds_[2];
  std::string path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Some text lines that are not all alike.
inline std::string some_lines(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i % 3 ? "1 |a x" : "-1 |b y") + std::to_string(i * 2654435761u % 9973) + " z\n";
  }
  return text;
}

}  // namespace leveret::stream::testing
