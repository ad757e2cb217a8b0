// Watches the windows of other programs: where they are, and whether one may have moved.
//
// A hook reports that a window may have moved. It misses some moves, for example those that a
// program makes itself, so callers also poll with Look. The hook does not wake this program when
// the pointer or a text cursor moves. Threads: all calls on the one that constructed it, which must
// handle messages. Cost of Look: a few calls per window, 0.1 to 0.5 ms for 40 windows.
#ifndef CLIENT_WIN_WIN32_SYSTEM_WINDOW_WATCH_H_
#define CLIENT_WIN_WIN32_SYSTEM_WINDOW_WATCH_H_

#include <windows.h>

#include <vector>

#include "core/screen/geometry.h"
#include "win32/system/owned.h"

namespace sprites {

class WindowWatch {
 public:
  WindowWatch();
  ~WindowWatch();
  WindowWatch(const WindowWatch&) = delete;
  WindowWatch& operator=(const WindowWatch&) = delete;

  // Lists the windows again. Returns true if anything differs from the last call.
  bool Look();
  // The windows that the last Look found, front to back.
  const std::vector<WindowArea>& windows() const { return windows_; }
  // Whether the hook has reported anything since the last Look.
  bool MayHaveChanged() const { return may_have_changed_; }

 private:
  using OwnedHook = Owned<HWINEVENTHOOK, UnhookWinEvent>;

  static void CALLBACK OnEvent(HWINEVENTHOOK, DWORD event, HWND window, LONG object, LONG child,
                               DWORD, DWORD);
  bool IsTopLevel(HWND window) const;
  void FollowMoves(HWND window);

  static WindowWatch* watch_;  // for OnEvent: a hook's callback gets no context
  std::vector<OwnedHook> hooks_;
  OwnedHook moves_hook_;  // while the user moves a window
  std::vector<WindowArea> windows_;
  bool may_have_changed_ = true;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_WINDOW_WATCH_H_
