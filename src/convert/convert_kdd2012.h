/// KDD Cup 2012, track 2 (search advertising at Tencent Soso): tab separated clicks, impressions
/// and ten columns of numbers that are names, all categorical. The test file lacks the first two.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "convert/convert_rows.h"
#include "convert/convert_vw.h"

namespace leveret::convert {

/// A row stands for `impression` showings of which `click` were clicked: it becomes a positive line
/// of importance click and a negative one of importance impression - click; the one whose
/// importance is 0 is not written. Columns become namespaces under the names of the competition
/// (DisplayURL, AdID, ...); the UserID 0 means unknown and is missing.
class Kdd2012Converter : public Converter {
 public:
  explicit Kdd2012Converter(ConvertCallbacks callbacks, std::size_t max_row = kMaxRow);

 protected:
  bool take_header(std::string_view row) override;
  std::size_t room(std::size_t row_bytes) const override;
  char* convert_row(std::string_view row, char* out, Fault& fault) override;
  std::uint64_t lines_written() const override { return lines_; }

 private:
  static constexpr int kColumns = 10;
  using Cells = std::array<std::string_view, kColumns>;

  char* put_line(char* out, bool labelled, bool clicked, std::uint64_t importance,
                 const Cells& cells) const;

  bool labelled_ = true;
  std::uint64_t lines_ = 0;
  std::vector<Prefix> prefixes_;
};

}  // namespace leveret::convert
