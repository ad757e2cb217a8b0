#include "x11/system/x_connection.h"

#include <unistd.h>
#include <xcb/randr.h>
#include <xcb/shape.h>
#include <xcb/xfixes.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace sprites {

namespace {

constexpr uint32_t kXFixesMajor = 4;  // regions as shapes of windows, and selections, came with 2
constexpr uint32_t kRandrMajor = 1;
constexpr uint32_t kRandrMinor = 5;  // monitors
constexpr uint8_t kAlphaDepth = 32;
constexpr uint32_t kPutImageBytes = 64;  // of the request before its pixels: more than it has

// Whether pixels are 0xRRGGBB, as the core draws them.
bool IsRgb(const xcb_visualtype_t& visual) {
  return visual._class == XCB_VISUAL_CLASS_TRUE_COLOR && visual.red_mask == 0xFF0000 &&
         visual.green_mask == 0x00FF00 && visual.blue_mask == 0x0000FF;
}

xcb_intern_atom_cookie_t AskForAtom(xcb_connection_t* connection, std::string_view name) {
  return xcb_intern_atom(connection, 0, static_cast<uint16_t>(name.size()), name.data());
}

// Empty when the property is not one of bytes.
std::string BytesOf(const xcb_get_property_reply_t& reply) {
  const auto* bytes = static_cast<const char*>(xcb_get_property_value(&reply));
  return reply.format != 8 ? "" : std::string(bytes, xcb_get_property_value_length(&reply));
}

// The name of the one atom that is no word of C++.
std::string_view NameOnServer(std::string_view name) {
  return name == "text_uri_list" ? "text/uri-list" : name;
}

}  // namespace

XConnection::XConnection() {
  int number = 0;
  connection_ = xcb_connect(nullptr, &number);
  try {
    if (IsLost()) {
      throw std::runtime_error("There is no X server to show sprites on. Is DISPLAY set?");
    }
    const xcb_setup_t* setup = xcb_get_setup(connection_);
    const bool is_big_endian = std::endian::native == std::endian::big;
    if ((setup->image_byte_order == XCB_IMAGE_ORDER_MSB_FIRST) != is_big_endian) {
      throw std::runtime_error("The X server has the other byte order, which is not supported.");
    }
    auto screen = xcb_setup_roots_iterator(setup);
    for (int i = 0; i < number && screen.rem > 1; i++) {
      xcb_screen_next(&screen);
    }
    screen_ = screen.data;
    FindExtensions();
    FindFormats();
    InternAtoms();
  } catch (...) {
    xcb_disconnect(connection_);
    throw;
  }
}

XConnection::~XConnection() { xcb_disconnect(connection_); }

void XConnection::FindExtensions() {
  xcb_prefetch_extension_data(connection_, &xcb_xfixes_id);
  xcb_prefetch_extension_data(connection_, &xcb_shape_id);
  xcb_prefetch_extension_data(connection_, &xcb_randr_id);
  const auto* xfixes = xcb_get_extension_data(connection_, &xcb_xfixes_id);
  const auto* shape = xcb_get_extension_data(connection_, &xcb_shape_id);
  const auto* randr = xcb_get_extension_data(connection_, &xcb_randr_id);
  if (xfixes == nullptr || !xfixes->present || shape == nullptr || !shape->present ||
      randr == nullptr || !randr->present) {
    throw std::runtime_error("The X server lacks XFIXES, SHAPE or RANDR.");
  }
  first_xfixes_event_ = xfixes->first_event;
  first_randr_event_ = randr->first_event;
  const auto fixes = xcb_xfixes_query_version(connection_, kXFixesMajor, 0);
  const auto monitors = xcb_randr_query_version(connection_, kRandrMajor, kRandrMinor);
  Reply<void> fixes_reply(xcb_xfixes_query_version_reply(connection_, fixes, nullptr));
  const Reply<xcb_randr_query_version_reply_t> version(
      xcb_randr_query_version_reply(connection_, monitors, nullptr));
  if (version == nullptr ||
      (version->major_version == kRandrMajor && version->minor_version < kRandrMinor)) {
    throw std::runtime_error("The X server's RANDR is older than 1.5.");
  }
}

void XConnection::FindFormats() {
  PixelFormat root_format;
  for (auto depth = xcb_screen_allowed_depths_iterator(screen_); depth.rem > 0;
       xcb_depth_next(&depth)) {
    for (auto visual = xcb_depth_visuals_iterator(depth.data); visual.rem > 0;
         xcb_visualtype_next(&visual)) {
      if (visual.data->visual_id == screen_->root_visual && IsRgb(*visual.data)) {
        root_format = {depth.data->depth, visual.data->visual_id, screen_->default_colormap};
      }
      if (depth.data->depth == kAlphaDepth && IsRgb(*visual.data) && alpha_format_.visual == 0) {
        const xcb_colormap_t colours = xcb_generate_id(connection_);
        xcb_create_colormap(connection_, XCB_COLORMAP_ALLOC_NONE, colours, screen_->root,
                            visual.data->visual_id);
        alpha_format_ = {kAlphaDepth, visual.data->visual_id, colours};
      }
    }
  }
  if (root_format.visual == 0) {
    throw std::runtime_error("The X server's screen does not have 24 bits of true colour.");
  }
  if (alpha_format_.visual == 0) {
    alpha_format_ = root_format;
  }
}

void XConnection::InternAtoms() {
  std::array<xcb_intern_atom_cookie_t, kAtoms> asked;
  for (size_t i = 0; i < kAtoms; i++) {
    asked[i] = AskForAtom(connection_, NameOnServer(kAtomNames[i]));
  }
  const auto compositor = AskForAtom(connection_, "_NET_WM_CM_S0");
  const auto value = [this](xcb_intern_atom_cookie_t cookie) {
    const Reply<xcb_intern_atom_reply_t> reply(xcb_intern_atom_reply(connection_, cookie, nullptr));
    return reply == nullptr ? xcb_atom_t{XCB_ATOM_NONE} : reply->atom;
  };
  std::ranges::transform(asked, atoms_.begin(), value);
  compositor_selection_ = value(compositor);
}

bool XConnection::IsComposited() const {
  const Reply<xcb_get_selection_owner_reply_t> owner(xcb_get_selection_owner_reply(
      connection_, xcb_get_selection_owner(connection_, compositor_selection_), nullptr));
  return alpha_format_.depth == kAlphaDepth && owner != nullptr && owner->owner != XCB_WINDOW_NONE;
}

xcb_get_property_cookie_t XConnection::AskFor(xcb_window_t window, Atom property,
                                              uint32_t words_max) const {
  return xcb_get_property(connection_, 0, window, atom(property), XCB_GET_PROPERTY_TYPE_ANY, 0,
                          words_max);
}

std::vector<uint32_t> XConnection::Numbers(xcb_get_property_cookie_t asked) const {
  const Reply<xcb_get_property_reply_t> reply(xcb_get_property_reply(connection_, asked, nullptr));
  if (reply == nullptr || reply->format != 32) {
    return {};
  }
  const auto* first = static_cast<const uint32_t*>(xcb_get_property_value(reply.get()));
  return {first, first + xcb_get_property_value_length(reply.get()) / sizeof *first};
}

std::string XConnection::Text(xcb_get_property_cookie_t asked) const {
  const Reply<xcb_get_property_reply_t> reply(xcb_get_property_reply(connection_, asked, nullptr));
  return reply == nullptr ? "" : BytesOf(*reply);
}

std::string XConnection::WholeText(xcb_get_property_cookie_t asked) const {
  const Reply<xcb_get_property_reply_t> reply(xcb_get_property_reply(connection_, asked, nullptr));
  return reply == nullptr || reply->bytes_after > 0 ? "" : BytesOf(*reply);
}

void XConnection::SetNumbers(xcb_window_t window, Atom property, xcb_atom_t type,
                             const std::vector<uint32_t>& numbers) const {
  xcb_change_property(connection_, XCB_PROP_MODE_REPLACE, window, atom(property), type, 32,
                      static_cast<uint32_t>(numbers.size()), numbers.data());
}

void XConnection::SetText(xcb_window_t window, xcb_atom_t property, xcb_atom_t type,
                          std::string_view text) const {
  xcb_change_property(connection_, XCB_PROP_MODE_REPLACE, window, property, type, 8,
                      static_cast<uint32_t>(text.size()), text.data());
}

void XConnection::Name(xcb_window_t window, std::string_view title) const {
  constexpr std::string_view kClass("sprites\0Sprites\0", 16);
  SetText(window, XCB_ATOM_WM_NAME, XCB_ATOM_STRING, title);
  SetText(window, atom(Atom::_NET_WM_NAME), atom(Atom::UTF8_STRING), title);
  SetText(window, XCB_ATOM_WM_CLASS, XCB_ATOM_STRING, kClass);
  SetNumbers(window, Atom::_NET_WM_PID, XCB_ATOM_CARDINAL, {static_cast<uint32_t>(getpid())});
}

void XConnection::Upload(xcb_pixmap_t pixmap, xcb_gcontext_t context, uint8_t depth,
                         const uint32_t* pixels, int width, int height, int top) const {
  const size_t row_bytes = static_cast<size_t>(width) * sizeof *pixels;
  const size_t bytes_max = size_t{4} * xcb_get_maximum_request_length(connection_) - kPutImageBytes;
  const int rows_max = std::max<int>(1, static_cast<int>(bytes_max / row_bytes));
  for (int y = 0; y < height; y += rows_max) {
    const int rows = std::min(rows_max, height - y);
    xcb_put_image(connection_, XCB_IMAGE_FORMAT_Z_PIXMAP, pixmap, context,
                  static_cast<uint16_t>(width), static_cast<uint16_t>(rows), 0,
                  static_cast<int16_t>(top + y), 0, depth,
                  static_cast<uint32_t>(row_bytes * static_cast<size_t>(rows)),
                  reinterpret_cast<const uint8_t*>(pixels + static_cast<size_t>(y) * width));
  }
}

}  // namespace sprites
