// Files that another program drops on a window of this one: the receiving side of XDND 5.
//
// Every answer of the other program is a message or a property that this program has asked for; it
// waits for none of them. Invariant: a list of files is read up to kUriListBytesMax, and a longer
// one is rejected without being read; one in parts (INCR) likewise. Threads: all calls on one.
// Source: https://www.freedesktop.org/wiki/Specifications/XDND
#ifndef CLIENT_WIN_X11_WINDOWS_DROP_TARGET_H_
#define CLIENT_WIN_X11_WINDOWS_DROP_TARGET_H_

#include <xcb/xcb.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "x11/system/x_connection.h"

namespace sprites {

constexpr size_t kUriListBytesMax = 262'144;  // bytes of a list: 64 paths of 4 KiB
constexpr size_t kUriListPathsMax = 64;       // files of a list: those after it are left out

// The files of this machine in a list of URIs, as a file manager gives it.
std::vector<std::filesystem::path> FilesOf(const std::string& uris);

class DropTarget {
 public:
  // `dropped` gets the list of URIs of each drop, or "" for one that is no such list.
  DropTarget(const XConnection* connection, std::function<void(const std::string& uris)> dropped);
  ~DropTarget();
  DropTarget(const DropTarget&) = delete;
  DropTarget& operator=(const DropTarget&) = delete;

  // Tells other programs that files can be dropped on a window.
  static void Offer(const XConnection& connection, xcb_window_t window);
  bool HandleEvent(const xcb_generic_event_t& event);

 private:
  void HandleEnter(const xcb_client_message_event_t& message);
  void HandlePosition(const xcb_client_message_event_t& message);
  void HandleDrop(const xcb_client_message_event_t& message);
  void HandleList(const xcb_selection_notify_event_t& answer);
  void Send(xcb_window_t to, Atom type, uint32_t second, uint32_t third, uint32_t fourth,
            uint32_t fifth) const;
  void Finish(bool is_accepted);

  const XConnection* connection_;
  std::function<void(const std::string&)> dropped_;
  xcb_window_t window_;                    // gets the list
  xcb_window_t source_ = XCB_WINDOW_NONE;  // of the program that drags something over a window
  xcb_window_t target_ = XCB_WINDOW_NONE;  // that window
  xcb_window_t giver_ = XCB_WINDOW_NONE;   // of the program that has dropped something last
  bool has_uris_ = false;                  // what is dragged
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_DROP_TARGET_H_
