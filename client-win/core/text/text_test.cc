#include "core/text/text.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "test/core/vectors.h"

namespace sprites {
namespace {

std::string Utf8(uint32_t code) {
  const auto tail = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    return {static_cast<char>(code)};
  }
  if (code < 0x800) {
    return {static_cast<char>(0xc0 | code >> 6), tail(0)};
  }
  if (code < 0x10000) {
    return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
  }
  return {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
}

TEST_CASE("text › follows the relay's vectors of hidden characters") {
  const Json vectors = ReadVectors(HIDDEN_VECTORS);
  for (const Json& text : vectors["plain"]) {
    CAPTURE(text.dump());
    CHECK(IsPlainText(text.get<std::string>()));
    CHECK(PlainText(text.get<std::string>(), 100) == text.get<std::string>());
  }
  for (const Json& text : vectors["notPlain"]) {
    CAPTURE(text.dump());
    CHECK(!IsPlainText(text.get<std::string>()));
    CHECK(IsPlainText(PlainText(text.get<std::string>(), 100)));
  }
  for (const Json& text : vectors["onlyMarks"]) {
    CAPTURE(text.dump());
    CHECK(!IsPlainText(text.get<std::string>()));
    CHECK(PlainText(text.get<std::string>(), 100).empty());
  }
  for (const Json& text : vectors["notOnlyMarks"]) {
    CAPTURE(text.dump());
    CHECK(IsPlainText(text.get<std::string>()));
    CHECK(PlainText(text.get<std::string>(), 100) == text.get<std::string>());
  }
  for (const Json& range : vectors["marks"]) {
    for (size_t end = 0; end < 2; end++) {
      const std::string mark = Utf8(std::stoul(range[end].get<std::string>(), nullptr, 16));
      CAPTURE(range.dump());
      CHECK(PlainText(mark, 100).empty());
    }
  }
  const auto bound = [&](size_t range, size_t end) {
    return std::stoul(vectors["hidden"][range][end].get<std::string>(), nullptr, 16);
  };
  size_t range = 0;
  size_t wrong = 0;
  uint32_t last = bound(0, 1);
  uint32_t first = bound(0, 0);
  for (uint32_t code = 1; code < 0x110000; code++) {
    if (code > last && range + 1 < vectors["hidden"].size()) {
      range++;
      first = bound(range, 0);
      last = bound(range, 1);
    }
    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    const bool is_hidden = is_surrogate || (code >= first && code <= last);
    wrong += IsPlainText("a" + Utf8(code) + "b") == is_hidden;
  }
  CHECK(wrong == 0);
}

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

TEST_CASE("text › is shortened to a number of letters: one more, as many, one less than it has") {
  CHECK(Shortened("aéé", 4) == "aéé");
  CHECK(Shortened("aéé", 3) == "aéé");
  CHECK(Shortened("aéé", 2) == "aé…");
  CHECK(Shortened("", 0).empty());
  CHECK(BytesOfLetters("aéé", 2) == 3);
}

TEST_CASE("text › in a header or an address can't end it") {
  CHECK(IsToken("1a2b-3f.0011"));
  CHECK(!IsToken("a b"));
  CHECK(!IsToken("a\r\nX: y"));
  CHECK(!IsToken("é"));
  CHECK(PercentEncoded("6a1f-0/é?&") == "6a1f-0%2F%C3%A9%3F%26");
}

TEST_CASE("text › is read from right to left if its first letter is") {
  for (const char* text : {"שלום", "مرحبا", "123 שלום", "\"😀 مرحبا, Bob", "\u0591א"}) {
    CAPTURE(text);
    CHECK(ReadsRightToLeft(text));
  }
  for (const char* text : {"", "123", "Hello שלום", "Привет", "漢字 שלום", "😀", "é א", "\xff"}) {
    CAPTURE(text);
    CHECK(!ReadsRightToLeft(text));
  }
}

}  // namespace
}  // namespace sprites
