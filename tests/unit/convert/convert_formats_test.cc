/// Criteo, Avazu, KDD Cup 2012 and libffm rows, good and bad.
#include <catch2/catch.hpp>

#include "convert/convert_avazu.h"
#include "convert/convert_criteo.h"
#include "convert/convert_harness.h"
#include "convert/convert_kdd2012.h"
#include "convert/convert_libffm.h"

namespace leveret::convert {
namespace {

auto criteo(NumericForm form = NumericForm::kLog2Bucket) {
  return
      [form](ConvertCallbacks c) { return std::make_unique<CriteoConverter>(form, std::move(c)); };
}
auto avazu() {
  return [](ConvertCallbacks c) {
    return std::make_unique<CsvConverter>(avazu_options(), std::move(c));
  };
}
auto kdd() {
  return [](ConvertCallbacks c) { return std::make_unique<Kdd2012Converter>(std::move(c)); };
}
auto libffm(LibffmFields fields = {}) {
  return [fields](ConvertCallbacks c) {
    return std::make_unique<LibffmConverter>(fields, std::move(c));
  };
}

/// A Criteo row: the label, the first integer, the last category, all else missing.
std::string criteo_row(const std::string& label, const std::string& i1, const std::string& c26) {
  return label + '\t' + i1 + std::string(13 + 25, '\t') + c26 + '\n';
}

TEST_CASE("criteo: missing cells make no feature") {
  Converted got =
      convert_text(criteo(), criteo_row("1", "5", "") + criteo_row("0", "", "0a1b2c3d") +
                                 criteo_row("0", "", "") + criteo_row("1", "-2", "x y"));
  CHECK(got.text == "1 |I1 b3\n-1 |C26 0a1b2c3d\n-1 |\n1 |I1 b-2 |C26 x%20y\n");
  CHECK(got.bad.empty());
  CHECK(got.counts.rows == 4);
  CHECK(got.counts.examples == 4);
}

TEST_CASE("criteo: a full row, in every form") {
  std::string row = "1", want = "1", both = "1";
  for (int i = 1; i <= 13; ++i) {
    row += "\t2";
    want += " |I" + std::to_string(i) + " b2";
    both += " |I" + std::to_string(i) + " b2 v:1.09861";
  }
  for (int i = 1; i <= 26; ++i) {
    row += "\t68fd1e64";
    want += " |C" + std::to_string(i) + " 68fd1e64";
    both += " |C" + std::to_string(i) + " 68fd1e64";
  }
  CHECK(convert_text(criteo(), row).text == want + "\n");
  CHECK(convert_text(criteo(NumericForm::kBoth), row + "\r\n").text == both + "\n");
}

TEST_CASE("criteo: bad rows are told by line and column and leave nothing behind") {
  std::string good = criteo_row("1", "5", "aa");
  Converted got = convert_text(
      criteo(), good + criteo_row("2", "5", "aa") + criteo_row("1", "5x", "aa") +
                    criteo_row("1", "1234567890123456789", "") + "1\t5\n" + "\n" + "0\t7" +
                    std::string(38, '\t') + "\t\n" + criteo_row(" ", "5", "aa") + good);
  CHECK(got.text == "1 |I1 b3 |C26 aa\n1 |I1 b3 |C26 aa\n");
  REQUIRE(got.bad.size() == 6);
  CHECK(got.bad[0].line == 2);
  CHECK(got.bad[0].column == 1);
  CHECK(got.bad[0].what == "the label is not 0 or 1");
  CHECK(got.bad[1].line == 3);
  CHECK(got.bad[1].column == 4);
  CHECK(got.bad[2].line == 4);
  CHECK(got.bad[3].what == "too few columns");
  CHECK(got.bad[4].line == 7);
  CHECK(got.bad[4].what == "too many columns");
  CHECK(got.bad[5].line == 8);
  CHECK(got.counts.blank == 1);
  CHECK(got.counts.bad == 6);
  CHECK(got.counts.examples == 2);
}

TEST_CASE("criteo: a source whose first row has 39 columns has no labels") {
  std::string row = "5" + std::string(38, '\t') + "ff\n";
  CHECK(convert_text(criteo(), row + row).text == "|I1 b3 |C26 ff\n|I1 b3 |C26 ff\n");
  CHECK(convert_text(criteo(), std::string(38, '\t') + "\n").text == "|\n");
}

TEST_CASE("avazu: with and without header, hour of the day, minus one is a value") {
  const std::string header =
      "id,click,hour,C1,banner_pos,site_id,site_domain,site_category,app_id,app_domain,"
      "app_category,device_id,device_ip,device_model,device_type,device_conn_type,C14,C15,C16,C17,"
      "C18,C19,C20,C21\n";
  const std::string row =
      "99,1,14102123,1005,0,s1,s2,s3,a1,a2,a3,d1,d2,d3,1,2,14,15,16,17,18,19,-1,21\n";
  const std::string want =
      "1 |hour 23 |C1 1005 |banner_pos 0 |site_id s1 |site_domain s2 |site_category s3 |app_id a1 "
      "|app_domain a2 |app_category a3 |device_id d1 |device_ip d2 |device_model d3 |device_type 1 "
      "|device_conn_type 2 |C14 14 |C15 15 |C16 16 |C17 17 |C18 18 |C19 19 |C20 -1 |C21 21\n";
  CHECK(convert_text(avazu(), header + row).text == want);
  CHECK(convert_text(avazu(), row).text == want);
  CHECK(convert_text(avazu(), header).counts.rows == 0);

  std::string unlabelled = row, unlabelled_header = header;
  unlabelled.erase(3, 2);
  unlabelled_header.erase(3, 6);
  std::string plain = want.substr(2);
  CHECK(convert_text(avazu(), unlabelled_header + unlabelled).text == plain);
  CHECK(convert_text(avazu(), unlabelled).text == plain);

  std::string bad_hour = row;
  bad_hour.replace(5, 8, "14102124");
  Converted got = convert_text(avazu(), header + bad_hour);
  REQUIRE(got.bad.size() == 1);
  CHECK(got.bad[0].column == 6);
  CHECK(got.bad[0].what == "not an hour as YYMMDDHH");
}

TEST_CASE("kdd2012: impressions and clicks become weighted lines") {
  const std::string tail = "\t10\t20\t30\t2\t1\t40\t50\t60\t70\t";
  const std::string names =
      " |DisplayURL 10 |AdID 20 |AdvertiserID 30 |Depth 2 |Position 1 |QueryID 40 |KeywordID 50 "
      "|TitleID 60 |DescriptionID 70";
  CHECK(convert_text(kdd(), "0\t1" + tail + "9\n").text == "-1" + names + " |UserID 9\n");
  CHECK(convert_text(kdd(), "1\t1" + tail + "0\n").text == "1" + names + "\n");
  Converted got = convert_text(kdd(), "2\t7" + tail + "0\n" + "3\t3" + tail + "0\n");
  CHECK(got.text == "1 2" + names + "\n-1 5" + names + "\n1 3" + names + "\n");
  CHECK(got.counts.rows == 2);
  CHECK(got.counts.examples == 3);
  CHECK(convert_text(kdd(), tail.substr(1) + "0\n").text == names.substr(1) + "\n");

  got = convert_text(kdd(), "0\t1" + tail + "9\n" + "2\t1" + tail + "9\n" + "0\t0" + tail + "9\n" +
                                "x\t1" + tail + "9\n" + "0\t1\t5\n" + "0\t16777216" + tail + "9\n" +
                                "0\t1" + tail + "9\t9\n");
  CHECK(got.counts.examples == 1);
  REQUIRE(got.bad.size() == 6);
  CHECK(got.bad[0].what == "more clicks than impressions");
  CHECK(got.bad[1].column == 3);
  CHECK(got.bad[3].what == "too few columns");
  CHECK(got.bad[5].what == "too many columns");
}

TEST_CASE("libffm: fields become namespaces, ones lose their value, zeros vanish") {
  Converted got =
      convert_text(libffm(), "1 0:5:1 0:6:0.5 12:7:1 13:8:0\n0  3:1:1e-2\t\n-1\n+1 4:1:0 # no\n");
  CHECK(got.text == "1 |f0 5 6:0.5 |f12 7\n-1 |f3 1:1e-2\n-1 |\n1 |\n");
  CHECK(got.bad.empty());
}

TEST_CASE("libsvm: one namespace, or fields by position or by the feature's number") {
  const std::string row = "1 3:1 17:2.5 90:1\n";
  CHECK(convert_text(libffm(), row).text == "1 |f 3 17:2.5 90\n");
  CHECK(convert_text(libffm({true, {}}), row).text == "1 |f1 3 |f2 17:2.5 |f3 90\n");
  LibffmFields starts{false, {{"user", 0}, {"item", 10}, {"my day", 80}}};
  CHECK(convert_text(libffm(starts), row).text == "1 |user 3 |item 17:2.5 |my%20day 90\n");
  starts.starts[0].second = 5;
  Converted got = convert_text(libffm(starts), row + "1 x:1\n");
  REQUIRE(got.bad.size() == 2);
  CHECK(got.bad[0].column == 3);
  CHECK(got.bad[1].what == "no field of --fields has this feature");
}

TEST_CASE("libffm: bad rows") {
  Converted got = convert_text(
      libffm(), "2 1:1\n1 1\n1 1:\n1 :1\n1 1:2:x\n1 1:2:3:4\n1 :2:1\n1 1:nan\n1 1:1e39\n1 a:1:1\n");
  REQUIRE(got.bad.size() == 9);
  for (std::size_t i = 0; i < got.bad.size(); ++i) {
    INFO(i << " " << got.bad[i].what);
    CHECK(got.bad[i].line == i + 1);
    CHECK(got.bad[i].column == (i == 0 ? 1 : 3));
  }
  CHECK(got.text == "1 |fa 1\n");
}

TEST_CASE("a source may be cut anywhere and may begin with a byte order mark") {
  const std::string text =
      "\xef\xbb\xbf"
      "1 0:5:1 0:6:0.5\r\n\r\n2 bad\n0 1:1:1";
  const Converted whole = convert_text(libffm(), text);
  CHECK(whole.text == "1 |f0 5 6:0.5\n-1 |f1 1\n");
  CHECK(whole.counts.blank == 1);
  REQUIRE(whole.bad.size() == 1);
  CHECK(whole.bad[0].line == 3);
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    const Converted cut = convert_text(libffm(), text, piece);
    INFO(piece);
    CHECK(cut.text == whole.text);
    CHECK(cut.bad == whole.bad);
  }
}

TEST_CASE("each piece's whole rows are handed on at once") {
  std::string text;
  LibffmConverter converter({}, {[&](std::string_view t) { text += t; }, [](const BadRow&) {}});
  converter.feed("1 1:1\n0 2:");
  CHECK(text == "1 |f 1\n");
  converter.feed("1\n");
  CHECK(text == "1 |f 1\n-1 |f 2\n");
}

TEST_CASE("a row beyond the limit is refused, whether its end has come or not") {
  for (const char* end : {"", "\n"}) {
    for (std::size_t piece : {7, 1000}) {
      auto small = [](ConvertCallbacks c) {
        return std::make_unique<LibffmConverter>(LibffmFields{}, std::move(c), 100);
      };
      std::string row = "1 1:1\n1 " + std::string(100, 'x') + end;
      CHECK_THROWS_WITH(convert_text(small, row, piece), "a row of more than 100 bytes");
    }
  }
}

}  // namespace
}  // namespace leveret::convert
