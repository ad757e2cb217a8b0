// The connection to the X server: what this server can do, names as atoms, properties of windows.
//
// Requests are sent without waiting; errors of requests for windows of other programs, which may
// close at any time, arrive as events and are dropped. When the server ends, IsLost() is true and
// every request does nothing. Threads: all calls on one.
#ifndef CLIENT_WIN_X11_SYSTEM_X_CONNECTION_H_
#define CLIENT_WIN_X11_SYSTEM_X_CONNECTION_H_

#include <xcb/xcb.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sprites {

// clang-format off
#define SPRITES_ATOMS(X) \
  X(UTF8_STRING) X(SPRITES_DROP) X(RESOURCE_MANAGER) X(XdndActionCopy) X(XdndAware) X(XdndDrop) \
  X(XdndEnter) X(XdndFinished) X(XdndLeave) X(XdndPosition) X(XdndSelection) X(XdndStatus) \
  X(XdndTypeList) X(text_uri_list) X(_GTK_FRAME_EXTENTS) X(_NET_ACTIVE_WINDOW) X(_NET_CLIENT_LIST) \
  X(_NET_CLIENT_LIST_STACKING) X(_NET_CURRENT_DESKTOP) X(_NET_FRAME_EXTENTS) \
  X(_NET_WM_BYPASS_COMPOSITOR) X(_NET_WM_DESKTOP) X(_NET_WM_NAME) X(_NET_WM_PID) X(_NET_WM_STATE) \
  X(_NET_WM_STATE_FULLSCREEN) X(_NET_WM_STATE_HIDDEN) X(_NET_WM_STATE_MAXIMIZED_HORZ) \
  X(_NET_WM_STATE_MAXIMIZED_VERT) X(_NET_WM_STATE_SHADED) X(_NET_WM_STRUT) \
  X(_NET_WM_STRUT_PARTIAL) X(_NET_WM_WINDOW_TYPE) X(_NET_WM_WINDOW_TYPE_COMBO) \
  X(_NET_WM_WINDOW_TYPE_DESKTOP) X(_NET_WM_WINDOW_TYPE_DND) X(_NET_WM_WINDOW_TYPE_DOCK) \
  X(_NET_WM_WINDOW_TYPE_DROPDOWN_MENU) X(_NET_WM_WINDOW_TYPE_MENU) \
  X(_NET_WM_WINDOW_TYPE_NOTIFICATION) X(_NET_WM_WINDOW_TYPE_POPUP_MENU) \
  X(_NET_WM_WINDOW_TYPE_SPLASH) X(_NET_WM_WINDOW_TYPE_TOOLTIP) X(_NET_WM_WINDOW_TYPE_UTILITY)
// clang-format on

// The atoms that the program uses, by their names on the server.
enum class Atom : uint8_t {
#define SPRITES_ATOM_NAME(name) name,
  SPRITES_ATOMS(SPRITES_ATOM_NAME)
#undef SPRITES_ATOM_NAME
};
constexpr const char* kAtomNames[] = {
#define SPRITES_ATOM_TEXT(name) #name,
    SPRITES_ATOMS(SPRITES_ATOM_TEXT)
#undef SPRITES_ATOM_TEXT
};
constexpr size_t kAtoms = std::size(kAtomNames);

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};
// What the server answers or sends; xcb allocates it.
template <class T>
using Reply = std::unique_ptr<T, Freed>;

constexpr uint32_t kPropertyWordsMax = 1024;  // of 4 bytes: a list of so many windows

// How windows with pixels of their own are made.
struct PixelFormat {
  uint8_t depth = 24;
  xcb_visualid_t visual = 0;
  xcb_colormap_t colours = 0;
};

class XConnection {
 public:
  // Connects to $DISPLAY. Throws std::runtime_error with a sentence for the person.
  XConnection();
  ~XConnection();
  XConnection(const XConnection&) = delete;
  XConnection& operator=(const XConnection&) = delete;

  xcb_connection_t* get() const { return connection_; }
  int fd() const { return xcb_get_file_descriptor(connection_); }
  bool IsLost() const { return xcb_connection_has_error(connection_) != 0; }
  void Flush() const { xcb_flush(connection_); }
  const xcb_screen_t& screen() const { return *screen_; }
  xcb_window_t root() const { return screen_->root; }
  xcb_atom_t atom(Atom name) const { return atoms_[static_cast<size_t>(name)]; }

  // 32 bits with alpha where the server has that, else those of the root window.
  const PixelFormat& alpha_format() const { return alpha_format_; }
  // The selection that a compositor owns.
  xcb_atom_t compositor_selection() const { return compositor_selection_; }
  // Whether a compositor blends windows with what is below them. Cost: a round trip.
  bool IsComposited() const;

  // Whether this connection has made the window, or that of Adopt.
  bool IsOwn(xcb_window_t window) const {
    const xcb_setup_t* setup = xcb_get_setup(connection_);
    const uint32_t base = window & ~setup->resource_id_mask;
    return base == setup->resource_id_base || (base == adopted_base_ && base != 0);
  }
  // Counts all windows of another connection of this program as own ones: of that which has made
  // this window.
  void Adopt(xcb_window_t window) {
    adopted_base_ = window & ~xcb_get_setup(connection_)->resource_id_mask;
  }

  // The events of extensions begin at these numbers.
  uint8_t first_randr_event() const { return first_randr_event_; }
  uint8_t first_xfixes_event() const { return first_xfixes_event_; }

  xcb_get_property_cookie_t AskFor(xcb_window_t window, Atom property,
                                   uint32_t words_max = kPropertyWordsMax) const;
  // The numbers in a property of 32-bit numbers; none when there is no such property.
  std::vector<uint32_t> Numbers(xcb_get_property_cookie_t asked) const;
  // The bytes of a property of text, as many as were asked for.
  std::string Text(xcb_get_property_cookie_t asked) const;
  // Likewise, but empty when the property is longer than what was asked for.
  std::string WholeText(xcb_get_property_cookie_t asked) const;
  void SetNumbers(xcb_window_t window, Atom property, xcb_atom_t type,
                  const std::vector<uint32_t>& numbers) const;
  void SetText(xcb_window_t window, xcb_atom_t property, xcb_atom_t type,
               std::string_view text) const;
  // Title, class and process of a window of this program.
  void Name(xcb_window_t window, std::string_view title) const;

  // Sends pixels, 32 bits each, to the rows of a pixmap from `top` on.
  void Upload(xcb_pixmap_t pixmap, xcb_gcontext_t context, uint8_t depth, const uint32_t* pixels,
              int width, int height, int top) const;

 private:
  void FindFormats();
  void FindExtensions();
  void InternAtoms();

  xcb_connection_t* connection_;
  const xcb_screen_t* screen_ = nullptr;
  std::array<xcb_atom_t, kAtoms> atoms_{};
  PixelFormat alpha_format_;
  xcb_atom_t compositor_selection_ = 0;
  uint32_t adopted_base_ = 0;  // of all windows that are own ones too; 0 for none
  uint8_t first_randr_event_ = 0;
  uint8_t first_xfixes_event_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_X_CONNECTION_H_
