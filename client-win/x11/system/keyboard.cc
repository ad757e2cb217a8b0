#include "x11/system/keyboard.h"

#include <xkbcommon/xkbcommon-x11.h>

namespace sprites {

namespace {

constexpr uint32_t kModifiers = 0xFF;  // in the state of an event; the group is in bits 13 and 14
constexpr int kGroupShift = 13;
constexpr uint32_t kGroupMask = 3;

}  // namespace

Keyboard::Keyboard(const XConnection& connection)
    : connection_(connection.get()),
      context_(xkb_context_new(XKB_CONTEXT_NO_FLAGS)),
      has_extension_(context_ != nullptr &&
                     xkb_x11_setup_xkb_extension(connection_, XKB_X11_MIN_MAJOR_XKB_VERSION,
                                                 XKB_X11_MIN_MINOR_XKB_VERSION,
                                                 XKB_X11_SETUP_XKB_EXTENSION_NO_FLAGS, nullptr,
                                                 nullptr, nullptr, nullptr) != 0) {
  Load();
}

void Keyboard::Load() {
  const int32_t device = has_extension_ ? xkb_x11_get_core_keyboard_device_id(connection_) : -1;
  xkb_keymap* map = device < 0 ? nullptr
                               : xkb_x11_keymap_new_from_device(context_, connection_, device,
                                                                XKB_KEYMAP_COMPILE_NO_FLAGS);
  if (map != nullptr) {
    xkb_state_unref(state_);
    xkb_keymap_unref(map_);
    map_ = map;
    state_ = xkb_state_new(map);
  }
}

Keyboard::~Keyboard() {
  xkb_state_unref(state_);
  xkb_keymap_unref(map_);
  xkb_context_unref(context_);
}

Keyboard::Stroke Keyboard::Read(const xcb_key_press_event_t& event) const {
  if (state_ == nullptr) {
    return {};
  }
  xkb_state_update_mask(state_, event.state & kModifiers, 0, 0, 0, 0,
                        event.state >> kGroupShift & kGroupMask);
  Stroke stroke;
  stroke.symbol = xkb_state_key_get_one_sym(state_, event.detail);
  stroke.has_control = (event.state & XCB_MOD_MASK_CONTROL) != 0;
  const int size = xkb_state_key_get_utf8(state_, event.detail, nullptr, 0);
  if (size > 0) {
    stroke.text.resize(static_cast<size_t>(size) + 1);
    xkb_state_key_get_utf8(state_, event.detail, stroke.text.data(), stroke.text.size());
    stroke.text.pop_back();  // the zero at its end
  }
  return stroke;
}

}  // namespace sprites
