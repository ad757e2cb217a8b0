#include "test/x11/drag_source.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "x11/system/event.h"

namespace sprites {

namespace {

constexpr uint32_t kVersion = 5;

template <class T>
using Reply = std::unique_ptr<T, decltype(&std::free)>;

}  // namespace

DragSource::DragSource(xcb_connection_t* x, xcb_window_t root, xcb_window_t window, AtomOf atom_of,
                       std::string type, std::string content)
    : x_(x),
      root_(root),
      window_(window),
      atom_of_(std::move(atom_of)),
      type_(atom_of_(type)),
      content_(std::move(content)) {}

void DragSource::HandleEvent(const xcb_generic_event_t& event) {
  switch (TypeOfEvent(event)) {
    case XCB_BUTTON_PRESS:
      xcb_set_selection_owner(x_, window_, atom_of_("XdndSelection"),
                              As<xcb_button_press_event_t>(event).time);
      break;
    case XCB_MOTION_NOTIFY:
      Move(As<xcb_motion_notify_event_t>(event));
      break;
    case XCB_BUTTON_RELEASE:
      is_dropped_ = true;
      dropped_ms_ = As<xcb_button_release_event_t>(event).time;
      Drop(dropped_ms_);
      break;
    case XCB_CLIENT_MESSAGE: {
      const auto& message = As<xcb_client_message_event_t>(event);
      if (message.type == atom_of_("XdndStatus")) {
        is_accepted_ = (message.data.data32[1] & 1) != 0;
        Drop(dropped_ms_);
      }
      break;
    }
    case XCB_SELECTION_REQUEST:
      Give(As<xcb_selection_request_event_t>(event));
      break;
    default:
      break;
  }
  xcb_flush(x_);
}

void DragSource::Move(const xcb_motion_notify_event_t& event) {
  const xcb_window_t below = TargetBelowPointer();
  if (below != target_) {
    if (target_ != XCB_WINDOW_NONE) {
      Send("XdndLeave", 0, 0, 0, 0);
    }
    target_ = below;
    is_accepted_ = false;
    if (target_ != XCB_WINDOW_NONE) {
      Send("XdndEnter", kVersion << 24, type_, 0, 0);
    }
  }
  if (target_ != XCB_WINDOW_NONE) {
    const auto x = static_cast<uint32_t>(event.root_x);
    Send("XdndPosition", 0, x << 16 | static_cast<uint16_t>(event.root_y), event.time,
         atom_of_("XdndActionCopy"));
  }
}

void DragSource::Drop(uint32_t ms) {
  if (is_dropped_ && is_accepted_) {
    is_dropped_ = false;
    Send("XdndDrop", 0, ms, 0, 0);
  }
}

void DragSource::Give(const xcb_selection_request_event_t& request) {
  xcb_selection_notify_event_t answer{};
  answer.response_type = XCB_SELECTION_NOTIFY;
  answer.time = request.time;
  answer.requestor = request.requestor;
  answer.selection = request.selection;
  answer.target = request.target;
  answer.property = request.target == type_ ? request.property : xcb_atom_t{XCB_ATOM_NONE};
  // A property may be longer than a request.
  const size_t part = size_t{4} * xcb_get_maximum_request_length(x_) / 2;
  for (size_t at = 0; at < content_.size(); at += part) {
    const size_t size = std::min(part, content_.size() - at);
    xcb_change_property(x_, at == 0 ? XCB_PROP_MODE_REPLACE : XCB_PROP_MODE_APPEND,
                        request.requestor, request.property, type_, 8, static_cast<uint32_t>(size),
                        content_.data() + at);
  }
  xcb_send_event(x_, 0, request.requestor, 0, reinterpret_cast<const char*>(&answer));
}

// The window below the pointer that says that it takes drops, if there is one.
xcb_window_t DragSource::TargetBelowPointer() const {
  const xcb_atom_t aware = atom_of_("XdndAware");
  for (xcb_window_t window = root_; window != XCB_WINDOW_NONE;) {
    const Reply<xcb_get_property_reply_t> version(
        xcb_get_property_reply(x_, xcb_get_property(x_, 0, window, aware, XCB_ATOM_ATOM, 0, 1),
                               nullptr),
        &std::free);
    if (version != nullptr && xcb_get_property_value_length(version.get()) > 0) {
      return window;
    }
    const Reply<xcb_query_pointer_reply_t> pointer(
        xcb_query_pointer_reply(x_, xcb_query_pointer(x_, window), nullptr), &std::free);
    window = pointer == nullptr ? xcb_window_t{XCB_WINDOW_NONE} : pointer->child;
  }
  return XCB_WINDOW_NONE;
}

void DragSource::Send(std::string_view type, uint32_t second, uint32_t third, uint32_t fourth,
                      uint32_t fifth) {
  xcb_client_message_event_t message{};
  message.response_type = XCB_CLIENT_MESSAGE;
  message.format = 32;
  message.window = target_;
  message.type = atom_of_(type);
  const uint32_t numbers[] = {window_, second, third, fourth, fifth};
  std::ranges::copy(numbers, message.data.data32);
  xcb_send_event(x_, 0, target_, 0, reinterpret_cast<const char*>(&message));
}

}  // namespace sprites
