#include "core/text/text.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

TEST_CASE("text › is plain without control, invisible and reordering characters") {
  for (const char* plain : {"", "Bob", "Zoë", "日本", "🐈", "a b"}) {
    CAPTURE(plain);
    CHECK(IsPlainText(plain));
    CHECK(PlainText(plain, 100) == plain);
  }
  for (const char* hidden : {"a\nb", "\x7f", "\u0085", "\u200b", "\u202e", "\u2060", "\ufeff"}) {
    CAPTURE(hidden);
    CHECK(!IsPlainText(hidden));
  }
}

TEST_CASE("text › is not plain with bytes that are not UTF-8") {
  for (const char* broken : {"\xff", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                             "\xe2\x82", "\x80"}) {
    CAPTURE(broken);
    CHECK(!IsPlainText(broken));
    CHECK(PlainText(std::string("a") + broken + "b", 9) == "ab");
  }
}

TEST_CASE("text › is cut between characters, at the limit") {
  CHECK(PlainText("aéé", 4) == "aé");
  CHECK(PlainText("aéé", 5) == "aéé");
  CHECK(PlainText("\nabc", 2) == "ab");
}

TEST_CASE("text › in a header or an address can't end it") {
  CHECK(IsToken("1a2b-3f.0011"));
  CHECK(!IsToken("a b"));
  CHECK(!IsToken("a\r\nX: y"));
  CHECK(!IsToken("é"));
  CHECK(PercentEncoded("6a1f-0/é?&") == "6a1f-0%2F%C3%A9%3F%26");
}

}  // namespace
}  // namespace sprites
