#include "x11/windows/drop_target.h"

#include <doctest/doctest.h>
#include <glib.h>

#include <algorithm>
#include <optional>
#include <string>

#include "posix/files.h"
#include "test/x11/test_desk.h"

namespace sprites {
namespace {

// Another program that drags something.
struct Source {
  explicit Source(const XConnection& x) : x(x), window(xcb_generate_id(x.get())) {
    xcb_create_window(x.get(), 0, window, x.root(), 0, 0, 1, 1, 0, XCB_WINDOW_CLASS_INPUT_ONLY,
                      XCB_COPY_FROM_PARENT, 0, nullptr);
    Sync(x);
  }

  // Whether the last answer accepts a drop. Empty without an answer.
  std::optional<bool> PopStatus() const {
    Sync(x);
    while (OwnedEvent event{xcb_poll_for_event(x.get())}) {
      const auto& message = As<xcb_client_message_event_t>(*event);
      if (TypeOfEvent(*event) == XCB_CLIENT_MESSAGE && message.window == window &&
          message.type == x.atom(Atom::XdndStatus)) {
        return (message.data.data32[1] & 1) != 0;
      }
    }
    return std::nullopt;
  }

  const XConnection& x;
  xcb_window_t window;
};

struct Fixture {
  void Receive(Atom type, const Source& from, uint32_t second = 0, uint32_t third = 0) {
    xcb_client_message_event_t message{};
    message.response_type = XCB_CLIENT_MESSAGE;
    message.format = 32;
    message.window = 1;  // whatever window: only the program that drags matters
    message.type = here.atom(type);
    message.data.data32[0] = from.window;
    message.data.data32[1] = second;
    message.data.data32[2] = third;
    CHECK(target.HandleEvent(reinterpret_cast<const xcb_generic_event_t&>(message)));
    Sync(here);
  }
  void Enter(const Source& from, uint32_t version = 5) {
    Receive(Atom::XdndEnter, from, version << 24, here.atom(Atom::text_uri_list));
  }
  // Whether something from a program is welcome.
  std::optional<bool> Hover(const Source& from) {
    Receive(Atom::XdndPosition, from);
    return from.PopStatus();
  }

  const XConnection here;
  const XConnection there;
  std::optional<std::string> dropped;
  DropTarget target{&here, [this](const std::string& uris) { dropped = uris; }};
};

TEST_CASE(
    "drop target › version of the protocol: below the oldest, the oldest … the newest, above it") {
  if (!HasServer()) {
    return;
  }
  for (const uint32_t version : {2, 3, 4, 5, 6}) {
    CAPTURE(version);
    Fixture fixture;
    const Source source(fixture.there);
    fixture.Enter(source, version);
    CHECK(fixture.Hover(source) ==
          (version >= 3 && version <= 5 ? std::optional(true) : std::nullopt));
  }
}

TEST_CASE(
    "drop target › ignores a program that never entered, has left, or was followed by another") {
  if (!HasServer()) {
    return;
  }
  Fixture fixture;
  const Source first(fixture.there);
  const Source second(fixture.there);
  CHECK(!fixture.Hover(first));
  fixture.Enter(first);
  CHECK(fixture.Hover(first) == true);
  CHECK(!fixture.Hover(second));
  fixture.Receive(Atom::XdndLeave, second);
  CHECK(fixture.Hover(first) == true);
  fixture.Enter(second);  // the first one has ended without a word
  CHECK(!fixture.Hover(first));
  CHECK(fixture.Hover(second) == true);
  fixture.Receive(Atom::XdndLeave, second);
  CHECK(!fixture.Hover(second));
  fixture.Receive(Atom::XdndDrop, second);
  CHECK(!fixture.dropped);
}

TEST_CASE("drop target › takes nothing from a program that drops, but has nothing to give") {
  if (!HasServer()) {
    return;
  }
  Fixture fixture;
  const Source source(fixture.there);
  fixture.Enter(source);
  fixture.Receive(Atom::XdndDrop, source);  // no program owns the selection
  const OwnedEvent answer = WaitForEvent(fixture.here, XCB_SELECTION_NOTIFY);
  REQUIRE(answer != nullptr);
  CHECK(fixture.target.HandleEvent(*answer));
  CHECK(fixture.dropped == "");
  fixture.Enter(source);  // and it takes the next one
  CHECK(fixture.Hover(source) == true);
}

using Files = std::vector<std::filesystem::path>;

TEST_CASE("drop target › files are those of this machine, in their order") {
  CHECK(FilesOf("").empty());
  const std::string own = "file://" + std::string(g_get_host_name()) + "/c";
  CHECK(FilesOf("# a comment\r\nfile:///tmp/a.png\nfile://localhost/b%20c.gif\r\n" + own) ==
        Files{"/tmp/a.png", "/b c.gif", "/c"});
  for (const char* other : {"file://grace.example/a", "https://relay.example/a", "file:a",
                            "file:///a%00", "file:///a%4"}) {
    CHECK_MESSAGE(FilesOf(other).empty(), other);
  }
}

TEST_CASE("drop target › files of a list: one less than the limit, the limit, one more") {
  for (const size_t count : {kUriListPathsMax - 1, kUriListPathsMax, kUriListPathsMax + 1}) {
    std::string uris;
    for (size_t i = 0; i < count; i++) {
      uris += "file:///" + std::to_string(i) + "\r\n";
    }
    CHECK(FilesOf(uris).size() == std::min(count, kUriListPathsMax));
  }
}

TEST_CASE("drop target › bytes of a path: one less than the limit, the limit, one more") {
  for (const size_t size : {kPathBytesMax - 1, kPathBytesMax, kPathBytesMax + 1}) {
    CHECK(FilesOf("file:///" + std::string(size - 1, 'x')).size() ==
          (size <= kPathBytesMax ? 1 : 0));
  }
}

}  // namespace
}  // namespace sprites
