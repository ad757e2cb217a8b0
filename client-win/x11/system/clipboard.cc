#include "x11/system/clipboard.h"

#include <utility>

#include "x11/system/event.h"

namespace sprites {

Clipboard::Clipboard(const XConnection* connection, std::function<void(const std::string&)> pasted)
    : connection_(connection),
      pasted_(std::move(pasted)),
      window_(xcb_generate_id(connection->get())) {
  xcb_create_window(connection->get(), 0, window_, connection->root(), 0, 0, 1, 1, 0,
                    XCB_WINDOW_CLASS_INPUT_ONLY, XCB_COPY_FROM_PARENT, 0, nullptr);
  connection->Name(window_, "Sprites clipboard");
}

Clipboard::~Clipboard() { xcb_destroy_window(connection_->get(), window_); }

bool Clipboard::Copy(const std::string& text) {
  text_ = text;
  xcb_connection_t* x = connection_->get();
  const xcb_atom_t selection = connection_->atom(Atom::CLIPBOARD);
  xcb_set_selection_owner(x, window_, selection, XCB_CURRENT_TIME);
  const Reply<xcb_get_selection_owner_reply_t> owner(
      xcb_get_selection_owner_reply(x, xcb_get_selection_owner(x, selection), nullptr));
  return owner != nullptr && owner->owner == window_;
}

void Clipboard::Ask() {
  xcb_convert_selection(connection_->get(), window_, connection_->atom(Atom::CLIPBOARD),
                        connection_->atom(Atom::UTF8_STRING),
                        connection_->atom(Atom::SPRITES_PASTE), XCB_CURRENT_TIME);
}

bool Clipboard::HandleEvent(const xcb_generic_event_t& event) {
  switch (TypeOfEvent(event)) {
    case XCB_SELECTION_REQUEST:
      Answer(As<xcb_selection_request_event_t>(event));
      return true;
    case XCB_SELECTION_NOTIFY: {
      const auto& answer = As<xcb_selection_notify_event_t>(event);
      if (answer.requestor == window_ && answer.property != XCB_ATOM_NONE) {
        const std::string text =
            connection_->Text(connection_->AskFor(window_, Atom::SPRITES_PASTE, kPasteWordsMax));
        xcb_delete_property(connection_->get(), window_, answer.property);
        pasted_(text);
      }
      return true;
    }
    case XCB_SELECTION_CLEAR:
      text_.clear();
      return true;
    default:
      return false;
  }
}

void Clipboard::Answer(const xcb_selection_request_event_t& request) {
  // Old programs name no property.
  const xcb_atom_t property = request.property == XCB_ATOM_NONE ? request.target : request.property;
  const xcb_atom_t utf8 = connection_->atom(Atom::UTF8_STRING);
  xcb_selection_notify_event_t answer{};
  answer.response_type = XCB_SELECTION_NOTIFY;
  answer.time = request.time;
  answer.requestor = request.requestor;
  answer.selection = request.selection;
  answer.target = request.target;
  answer.property = property;
  if (request.target == connection_->atom(Atom::TARGETS)) {
    const uint32_t targets[] = {connection_->atom(Atom::TARGETS), utf8, XCB_ATOM_STRING};
    xcb_change_property(connection_->get(), XCB_PROP_MODE_REPLACE, request.requestor, property,
                        XCB_ATOM_ATOM, 32, 3, targets);
  } else if (!text_.empty() && (request.target == utf8 || request.target == XCB_ATOM_STRING)) {
    connection_->SetText(request.requestor, property, request.target, text_);
  } else {
    answer.property = XCB_ATOM_NONE;
  }
  xcb_send_event(connection_->get(), 0, request.requestor, 0,
                 reinterpret_cast<const char*>(&answer));
}

}  // namespace sprites
