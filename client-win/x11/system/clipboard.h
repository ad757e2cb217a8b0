// The clipboard of X: this program owns the text that it has copied until another program copies
// something (ICCCM 2). Texts are UTF-8. Pictures and long texts in parts (INCR) are not read.
#ifndef CLIENT_WIN_X11_SYSTEM_CLIPBOARD_H_
#define CLIENT_WIN_X11_SYSTEM_CLIPBOARD_H_

#include <xcb/xcb.h>

#include <cstdint>
#include <functional>
#include <string>

#include "x11/system/x_connection.h"

namespace sprites {

// Words of 4 bytes of a text that is pasted, 64 KiB: a link has 2 KiB at most. The rest of a longer
// text is left out.
constexpr uint32_t kPasteWordsMax = 16'384;

class Clipboard {
 public:
  // `pasted` gets the text that Ask has asked for, if there is one.
  Clipboard(const XConnection* connection, std::function<void(const std::string&)> pasted);
  ~Clipboard();
  Clipboard(const Clipboard&) = delete;
  Clipboard& operator=(const Clipboard&) = delete;

  // Returns whether other programs can paste the text now. Cost: a round trip.
  bool Copy(const std::string& text);
  void Ask();
  bool HandleEvent(const xcb_generic_event_t& event);

 private:
  void Answer(const xcb_selection_request_event_t& request);

  const XConnection* connection_;
  std::function<void(const std::string&)> pasted_;
  xcb_window_t window_;
  std::string text_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_CLIPBOARD_H_
