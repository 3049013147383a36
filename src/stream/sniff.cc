#include "stream/sniff.h"

#include <algorithm>
#include <cstddef>

namespace leveret::stream {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  const char* what;
};

// Its third byte is the method, which is always 8.
constexpr std::string_view kGzip = "\x1f\x8b\x08"sv;

constexpr const char* kBzip2 = "bzip2-compressed; unpack it first (bzip2 -dc)";

// Letters alone could begin a line ("PAR1| a b" has a tag), so each of these holds a byte that
// text has no reason to begin with. None holds a line end among the bytes compared.
constexpr Magic kForeign[] = {
    {"\x7f"
     "ELF"sv,
     "an ELF program"},
    {"PK\x03\x04"sv, "a zip archive; unpack it first (unzip -p)"},
    {"PAR1\x15"sv, "a Parquet file; export it as text"},
    {"ARROW1\0"sv, "an Arrow file; export it as text"},
    {"Obj\x01"sv, "an Avro file; export it as text"},
    {"\x89PNG"sv, "a PNG image"},
    {"\x89HDF"sv, "an HDF5 file; export it as text"},
    {"\x93NUMPY"sv, "a NumPy array; export it as text"},
    {"\xff\xd8\xff"sv, "a JPEG image"},
    {"%PDF-1"sv, "a PDF document"},
    {"\xfd"
     "7zXZ\0"sv,
     "xz-compressed; unpack it first (xz -dc)"},
    {"BZh91AY&SY"sv, kBzip2},
    {"BZh61AY&SY"sv, kBzip2},
    {"BZh11AY&SY"sv, kBzip2},
    {"\x04\x22\x4d\x18"sv, "lz4-compressed; unpack it first (lz4 -dc)"},
    {"\xff\x06\x00\x00sNaPpY"sv, "snappy-compressed; unpack it first"},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive; unpack it first (7z x -so)"},
    {"Rar!\x1a"sv, "a rar archive; unpack it first"},
    {"\x1f\x9d"sv, "compressed by compress(1); unpack it first (zcat)"},
    {"SQLite format 3\0"sv, "an SQLite database; export it as text"},
    {"LVRTCACH"sv, "a Leveret cache; give it by -c (--cache), not as data"},
    {"\xff\xfe"sv, "UTF-16 text; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)"},
    {"\xfe\xff"sv, "UTF-16 text; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)"},
};

enum class Match { kNo, kPrefix, kYes };

Match match(std::string_view head, std::string_view magic) {
  const std::size_t n = std::min(head.size(), magic.size());
  if (head.substr(0, n) != magic.substr(0, n)) return Match::kNo;
  return n == magic.size() ? Match::kYes : Match::kPrefix;
}

/// RFC 8878: a zstd frame, or one of the 16 skippable ones.
Match match_zstd(std::string_view head) {
  if (head.empty()) return Match::kPrefix;
  if ((static_cast<unsigned char>(head[0]) & 0xf0) == 0x50) {
    return match(head.substr(1), "\x2a\x4d\x18"sv);
  }
  return match(head, "\x28\xb5\x2f\xfd"sv);
}

}  // namespace

Sniffed sniff(std::string_view head) {
  const Match gzip = match(head, kGzip);
  const Match zstd = match_zstd(head);
  if (gzip == Match::kYes) return {Format::kGzip, nullptr};
  if (zstd == Match::kYes) return {Format::kZstd, nullptr};
  bool prefix = gzip == Match::kPrefix || zstd == Match::kPrefix;
  for (const Magic& magic : kForeign) {
    const Match found = match(head, magic.bytes);
    if (found == Match::kYes) return {Format::kForeign, magic.what};
    prefix = prefix || found == Match::kPrefix;
  }
  return {prefix ? Format::kNeedMore : Format::kText, nullptr};
}

// Characters of ASCII alone may be meant: "(", which begins a zstd frame, or "P*", which begins a
// skippable one. Three characters of that are no line of ours either.
Format sniff_whole(std::string_view file) {
  if (!file.empty() && match(file, kGzip) != Match::kNo) return Format::kGzip;
  const bool zstd = match_zstd(file) != Match::kNo;
  return zstd && (file.size() > 2 || file.substr(0, 2) == "\x28\xb5"sv) ? Format::kZstd
                                                                        : Format::kText;
}

const char* looks_binary(std::string_view block) {
  constexpr std::size_t kTarMagicAt = 257;
  if (block.size() > kTarMagicAt + 5 && block.substr(kTarMagicAt, 5) == "ustar") {
    return "a tar archive; unpack it first (tar -xO)";
  }
  // NUL is ordinary data in VW text (a value some exporter left), but no text is full of it.
  const auto nuls = static_cast<std::size_t>(std::count(block.begin(), block.end(), '\0'));
  if (nuls >= 4 && nuls * 16 > block.size()) return "binary data (many NUL bytes)";
  return nullptr;
}

}  // namespace leveret::stream
