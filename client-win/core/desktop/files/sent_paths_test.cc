#include "core/desktop/files/sent_paths.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace sprites {
namespace {

using namespace std::string_view_literals;

TEST_CASE("sent paths › each ends with a 0, and may be empty or absent") {
  CHECK(ReadSentPaths(""sv)->empty());
  CHECK(*ReadSentPaths(u"C:\\a\0b ü\0\0"sv) == std::vector<std::u16string>{u"C:\\a", u"b ü", u""});
  CHECK(!ReadSentPaths("a\0b"sv));
}

TEST_CASE("sent paths › paths: one less than the limit, the limit; one more is left out") {
  for (const size_t count : {kSentPathsMax - 1, kSentPathsMax, kSentPathsMax + 1}) {
    const std::string text(2 * count, 'a');
    std::string paths = text;
    for (size_t i = 1; i < paths.size(); i += 2) {
      paths[i] = 0;
    }
    CHECK(ReadSentPaths(std::string_view(paths))->size() == std::min(count, kSentPathsMax));
  }
}

TEST_CASE("sent paths › bytes: one letter less than the limit, the limit; more is rejected") {
  const std::u16string text(kSentBytesMax, u'a');
  constexpr size_t kLetter = sizeof(char16_t);
  for (const size_t bytes : {kSentBytesMax - kLetter, kSentBytesMax}) {
    CHECK(ReadSentText<char16_t>(text.data(), bytes)->size() == bytes / kLetter);
  }
  CHECK(!ReadSentText<char>(text.data(), kSentBytesMax + 1));
  CHECK(!ReadSentText<char16_t>(text.data(), kSentBytesMax + kLetter));
  CHECK(!ReadSentText<char16_t>(text.data(), kSentBytesMax - 1));
}

}  // namespace
}  // namespace sprites
