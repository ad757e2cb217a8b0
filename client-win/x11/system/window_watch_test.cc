#include "x11/system/window_watch.h"

#include <doctest/doctest.h>

#include <vector>

#include "test/x11/test_desk.h"

namespace sprites {
namespace {

// Another program whose window has so many windows around it; says that the window manager has
// placed the innermost one.
class Nest {
 public:
  explicit Nest(int depth) {
    const uint32_t unmanaged = 1;
    for (int i = 0; i < depth; i++) {
      const xcb_window_t parent = windows_.empty() ? x_.root() : windows_.back();
      windows_.push_back(xcb_generate_id(x_.get()));
      xcb_create_window(x_.get(), 0, windows_.back(), parent, 0, 0, 9, 9, 0,
                        XCB_WINDOW_CLASS_INPUT_ONLY, XCB_COPY_FROM_PARENT, XCB_CW_OVERRIDE_REDIRECT,
                        &unmanaged);
    }
    before_ = x_.Numbers(x_.AskFor(x_.root(), Atom::_NET_CLIENT_LIST_STACKING));
    SetList({windows_.back()});
  }
  ~Nest() { SetList(before_); }
  Nest(const Nest&) = delete;
  Nest& operator=(const Nest&) = delete;

  xcb_window_t outermost() const { return windows_.front(); }

 private:
  void SetList(const std::vector<uint32_t>& windows) {
    x_.SetNumbers(x_.root(), Atom::_NET_CLIENT_LIST_STACKING, XCB_ATOM_WINDOW, windows);
    Sync(x_);
  }

  XConnection x_;
  std::vector<xcb_window_t> windows_;
  std::vector<uint32_t> before_;
};

TEST_CASE("window watch › frames around a window: one less than the limit, the limit, one more") {
  if (!HasServer()) {
    return;
  }
  for (const int depth : {1, 2, kAncestorsMax - 1, kAncestorsMax, kAncestorsMax + 1}) {
    CAPTURE(depth);
    const Nest nest(depth);
    const XConnection x;
    WindowWatch watch(&x);
    watch.Look();
    CHECK(watch.TopFrame() ==
          (depth <= kAncestorsMax ? nest.outermost() : xcb_window_t{XCB_WINDOW_NONE}));
  }
}

}  // namespace
}  // namespace sprites
