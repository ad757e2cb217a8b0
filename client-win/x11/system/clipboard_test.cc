#include "x11/system/clipboard.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "x11/test_desk.h"

namespace sprites {
namespace {

TEST_CASE("clipboard › bytes of a pasted text: one less than the limit, the limit, one more") {
  if (!HasServer()) {
    return;
  }
  const XConnection here;
  const XConnection there;  // another program
  std::optional<std::string> pasted;
  Clipboard reader(&here, [&](const std::string& text) { pasted = text; });
  Clipboard owner(&there, [](const std::string&) {});
  constexpr size_t kBytesMax = size_t{4} * kPasteWordsMax;
  for (const size_t size : {size_t{1}, kBytesMax - 1, kBytesMax, kBytesMax + 1}) {
    CAPTURE(size);
    const std::string text(size, 'x');
    REQUIRE(owner.Copy(text));
    pasted.reset();
    reader.Ask();
    xcb_flush(here.get());
    const OwnedEvent request = WaitForEvent(there, XCB_SELECTION_REQUEST);
    REQUIRE(request != nullptr);
    CHECK(owner.HandleEvent(*request));
    const OwnedEvent answer = [&] {
      xcb_flush(there.get());
      return WaitForEvent(here, XCB_SELECTION_NOTIFY);
    }();
    REQUIRE(answer != nullptr);
    CHECK(reader.HandleEvent(*answer));
    REQUIRE(pasted);
    CHECK(*pasted == text.substr(0, std::min(size, kBytesMax)));
  }
}

}  // namespace
}  // namespace sprites
