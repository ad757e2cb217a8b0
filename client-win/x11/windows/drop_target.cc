#include "x11/windows/drop_target.h"

#include <glib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "posix/files.h"
#include "x11/system/event.h"

namespace sprites {

namespace {

constexpr uint32_t kVersion = 5;     // the newest; older programs use what they know of it
constexpr uint32_t kVersionMin = 3;  // older than 1999
constexpr uint32_t kVersionShift = 24;
constexpr uint32_t kHasMoreTypes = 1;  // than the three in the message
constexpr uint32_t kAccepts = 1;

using OwnedText = std::unique_ptr<char, decltype(&g_free)>;

// The path of a file: URI of this machine.
std::optional<std::string> PathOf(const char* uri) {
  char* host = nullptr;
  const OwnedText path(g_filename_from_uri(uri, &host, nullptr), &g_free);
  const OwnedText owner(host, &g_free);
  const bool is_here = owner == nullptr || strcmp(owner.get(), "localhost") == 0 ||
                       strcmp(owner.get(), g_get_host_name()) == 0;
  const bool is_path = path != nullptr && is_here && strlen(path.get()) <= kPathBytesMax;
  return is_path ? std::optional(path.get()) : std::nullopt;
}

}  // namespace

std::vector<std::filesystem::path> FilesOf(const std::string& uris) {
  std::vector<std::filesystem::path> files;
  char** all = g_uri_list_extract_uris(uris.c_str());
  for (char** uri = all; *uri != nullptr && files.size() < kUriListPathsMax; uri++) {
    if (const auto path = PathOf(*uri)) {
      files.emplace_back(*path);
    }
  }
  g_strfreev(all);
  return files;
}

DropTarget::DropTarget(const XConnection* connection,
                       std::function<void(const std::string&)> dropped)
    : connection_(connection),
      dropped_(std::move(dropped)),
      window_(xcb_generate_id(connection->get())) {
  xcb_create_window(connection->get(), 0, window_, connection->root(), 0, 0, 1, 1, 0,
                    XCB_WINDOW_CLASS_INPUT_ONLY, XCB_COPY_FROM_PARENT, 0, nullptr);
  connection->Name(window_, "Sprites drop");
}

DropTarget::~DropTarget() { xcb_destroy_window(connection_->get(), window_); }

void DropTarget::Offer(const XConnection& connection, xcb_window_t window) {
  connection.SetNumbers(window, Atom::XdndAware, XCB_ATOM_ATOM, {kVersion});
}

bool DropTarget::HandleEvent(const xcb_generic_event_t& event) {
  if (TypeOfEvent(event) == XCB_SELECTION_NOTIFY) {
    const auto& answer = As<xcb_selection_notify_event_t>(event);
    if (answer.requestor == window_) {
      HandleList(answer);
    }
    return answer.requestor == window_;
  }
  if (TypeOfEvent(event) != XCB_CLIENT_MESSAGE) {
    return false;
  }
  const auto& message = As<xcb_client_message_event_t>(event);
  const auto is = [&](Atom name) { return message.type == connection_->atom(name); };
  if (is(Atom::XdndEnter)) {
    HandleEnter(message);
    return true;
  }
  // What comes from another program than the one that has entered is late.
  const bool is_current = source_ != XCB_WINDOW_NONE && message.data.data32[0] == source_;
  if (is(Atom::XdndPosition) && is_current) {
    HandlePosition(message);
  } else if (is(Atom::XdndDrop) && is_current) {
    HandleDrop(message);
  } else if (is(Atom::XdndLeave) && is_current) {
    source_ = XCB_WINDOW_NONE;
  }
  return is(Atom::XdndPosition) || is(Atom::XdndDrop) || is(Atom::XdndLeave);
}

void DropTarget::HandleEnter(const xcb_client_message_event_t& message) {
  const uint32_t version = message.data.data32[1] >> kVersionShift;
  if (version < kVersionMin || version > kVersion) {
    return;
  }
  source_ = message.data.data32[0];
  target_ = message.window;
  std::vector<uint32_t> types(message.data.data32 + 2, message.data.data32 + 5);
  if ((message.data.data32[1] & kHasMoreTypes) != 0) {
    types = connection_->Numbers(connection_->AskFor(source_, Atom::XdndTypeList));
  }
  has_uris_ = std::ranges::find(types, connection_->atom(Atom::text_uri_list)) != types.end();
}

void DropTarget::HandlePosition(const xcb_client_message_event_t& message) {
  target_ = message.window;
  // An empty rectangle: it asks again at each move, because a sprite moves too.
  Send(source_, Atom::XdndStatus, has_uris_ ? kAccepts : 0, 0, 0,
       has_uris_ ? connection_->atom(Atom::XdndActionCopy) : xcb_atom_t{XCB_ATOM_NONE});
}

void DropTarget::HandleDrop(const xcb_client_message_event_t& message) {
  target_ = message.window;
  giver_ = std::exchange(source_, XCB_WINDOW_NONE);
  if (!has_uris_) {
    Finish(false);
    return;
  }
  xcb_convert_selection(connection_->get(), window_, connection_->atom(Atom::XdndSelection),
                        connection_->atom(Atom::text_uri_list),
                        connection_->atom(Atom::SPRITES_DROP), message.data.data32[2]);
}

void DropTarget::HandleList(const xcb_selection_notify_event_t& answer) {
  std::string uris;
  if (answer.property != XCB_ATOM_NONE) {
    uris = connection_->WholeText(
        connection_->AskFor(window_, Atom::SPRITES_DROP, kUriListBytesMax / sizeof(uint32_t)));
    xcb_delete_property(connection_->get(), window_, answer.property);
  }
  Finish(!uris.empty());
  dropped_(uris);
}

// All five numbers of a message begin with the window on which something is dropped.
void DropTarget::Send(xcb_window_t to, Atom type, uint32_t second, uint32_t third, uint32_t fourth,
                      uint32_t fifth) const {
  xcb_client_message_event_t message{};
  message.response_type = XCB_CLIENT_MESSAGE;
  message.format = 32;
  message.window = to;
  message.type = connection_->atom(type);
  const uint32_t numbers[] = {target_, second, third, fourth, fifth};
  std::ranges::copy(numbers, message.data.data32);
  xcb_send_event(connection_->get(), 0, to, 0, reinterpret_cast<const char*>(&message));
}

void DropTarget::Finish(bool is_accepted) {
  Send(giver_, Atom::XdndFinished, is_accepted ? kAccepts : 0,
       is_accepted ? connection_->atom(Atom::XdndActionCopy) : xcb_atom_t{XCB_ATOM_NONE}, 0, 0);
}

}  // namespace sprites
