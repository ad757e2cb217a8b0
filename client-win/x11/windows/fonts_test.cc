#include "x11/windows/fonts.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace sprites {
namespace {

TEST_CASE("fonts › letters kept: one less than the limit, the limit; one more begins again") {
  Fonts fonts;
  const FontSize size{8, Weight::kRegular};
  constexpr char32_t kFirst = 0x4E00;  // Chinese: enough letters in a row
  size_t asked = 0;
  for (const size_t count : {kGlyphsMax - 1, kGlyphsMax}) {
    for (; asked < count; asked++) {
      fonts.Find(size, static_cast<char32_t>(kFirst + asked));
    }
    CHECK(fonts.kept() == count);
  }
  fonts.Find(size, static_cast<char32_t>(kFirst + asked));
  CHECK(fonts.kept() == 1);
}

TEST_CASE("fonts › a text is broken at spaces, and a long word where the line ends") {
  Fonts fonts;
  const FontSize size{14, Weight::kRegular};
  const auto lines = fonts.Wrapped(size, "one two\nthree", 10'000);
  CHECK(lines == std::vector<std::string>{"one two", "three"});
  for (const std::string& line : fonts.Wrapped(size, "one two three four five six", 60)) {
    CHECK(fonts.WidthOf(size, line) <= 60);
  }
}

TEST_CASE("fonts › invalid UTF-8 is a replacement for each byte") {
  CHECK(LettersOf("a\xFF"
                  "b") ==
        U"a\xFFFD"
        "b");
  CHECK(LettersOf("\xC3\xBC") == U"\u00FC");
}

}  // namespace
}  // namespace sprites
