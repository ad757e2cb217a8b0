// Windows whose text a screen reader reads aloud when it appears, without moving there.
//
// A window is marked as a polite live region of UI Automation by annotating it (IAccPropServices),
// and reports each new text by EVENT_OBJECT_LIVEREGIONCHANGED; its name is the text of the window.
// Where Windows has no such service, windows are only named. Threads: that of the windows, with
// COM.
#ifndef CLIENT_WIN_WIN32_WINDOWS_LIVE_REGION_H_
#define CLIENT_WIN_WIN32_WINDOWS_LIVE_REGION_H_

#include <windows.h>
// After windows.h.
#include <oleacc.h>

#include "win32/system/owned.h"

namespace sprites {

class LiveRegions {
 public:
  LiveRegions();

  // Call once, after the window was created.
  void Mark(HWND window);
  // Call before the window is destroyed.
  void Unmark(HWND window);
  // Has the name of the window read aloud.
  void Announce(HWND window) const;

 private:
  OwnedCom<IAccPropServices> annotations_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINDOWS_LIVE_REGION_H_
