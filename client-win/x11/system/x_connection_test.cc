#include "x11/system/x_connection.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <numeric>

#include "x11/windows/frame_pixmap.h"

namespace sprites {
namespace {

// A connection and a window of its own; nothing without an X server.
struct Desk {
  Desk() {
    xcb_create_window(x.get(), 0, window, x.root(), 0, 0, 1, 1, 0, XCB_WINDOW_CLASS_INPUT_ONLY,
                      XCB_COPY_FROM_PARENT, 0, nullptr);
  }
  static std::unique_ptr<Desk> Make() {
    if (std::getenv("DISPLAY") == nullptr) {
      MESSAGE("there is no X server");
      return nullptr;
    }
    return std::make_unique<Desk>();
  }

  XConnection x;
  xcb_window_t window = xcb_generate_id(x.get());
};

TEST_CASE("x connection › a list is read up to as many numbers as were asked for") {
  const auto desk = Desk::Make();
  for (const size_t count :
       {size_t{kPropertyWordsMax} - 1, size_t{kPropertyWordsMax}, size_t{kPropertyWordsMax} + 1}) {
    if (desk == nullptr) {
      return;
    }
    std::vector<uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 1);
    desk->x.SetNumbers(desk->window, Atom::_NET_CLIENT_LIST, XCB_ATOM_WINDOW, numbers);
    const auto read = desk->x.Numbers(desk->x.AskFor(desk->window, Atom::_NET_CLIENT_LIST));
    CHECK(read.size() == std::min<size_t>(count, kPropertyWordsMax));
    CHECK(read.back() == read.size());
  }
}

TEST_CASE("x connection › a text that must be whole is empty when it is longer than asked for") {
  const auto desk = Desk::Make();
  for (const size_t size : {15, 16, 17}) {
    if (desk == nullptr) {
      return;
    }
    const std::string text(size, 'x');
    desk->x.SetText(desk->window, desk->x.atom(Atom::SPRITES_DROP), XCB_ATOM_STRING, text);
    const auto ask = [&] { return desk->x.AskFor(desk->window, Atom::SPRITES_DROP, 4); };
    CHECK(desk->x.WholeText(ask()) == (size <= 16 ? text : ""));
    CHECK(desk->x.Text(ask()) == text.substr(0, 16));
  }
}

TEST_CASE("x connection › a frame has a pixmap up to the sides that X allows") {
  const auto desk = Desk::Make();
  for (const int side : {32'766, 32'767, 32'768}) {
    if (desk == nullptr) {
      return;
    }
    CHECK((FramePixmap::Make(&desk->x, side, 1) != nullptr) == (side <= 32'767));
    CHECK((FramePixmap::Make(&desk->x, 1, side) != nullptr) == (side <= 32'767));
  }
}

TEST_CASE("x connection › names of atoms are those of the specifications") {
  const auto desk = Desk::Make();
  if (desk == nullptr) {
    return;
  }
  const Reply<xcb_get_atom_name_reply_t> name(xcb_get_atom_name_reply(
      desk->x.get(), xcb_get_atom_name(desk->x.get(), desk->x.atom(Atom::text_uri_list)), nullptr));
  REQUIRE(name != nullptr);
  CHECK(std::string(xcb_get_atom_name_name(name.get()),
                    xcb_get_atom_name_name_length(name.get())) == "text/uri-list");
}

}  // namespace
}  // namespace sprites
