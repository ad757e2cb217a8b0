// The shell: reports to the core what happens on this desktop, and does what the core asks for.
//
// One thread drives the desktop in turns. A turn checks the surroundings, handles responses and
// imported pictures, ticks the core, and shows the scene. Turns follow the screen's refresh while
// something moves, and come a few times a second otherwise. Invariant: the state that the core asks
// to save is on disk before the core's requests are sent.
#ifndef CLIENT_WIN_WIN32_SHELL_H_
#define CLIENT_WIN_WIN32_SHELL_H_

#include <windows.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/picture/file_cache.h"
#include "core/relay/carrier.h"
#include "win32/owned.h"
#include "win32/pacer.h"
#include "win32/picture_importer.h"
#include "win32/sounds.h"
#include "win32/sprite_windows.h"
#include "win32/surroundings.h"
#include "win32/tray.h"
#include "win32/winhttp_transport.h"

namespace sprites {

class Shell : private SpriteListener {
 public:
  explicit Shell(std::filesystem::path folder);
  ~Shell() override;

  // Returns when the program is to end. `paths` are files to import.
  void Run(std::vector<std::wstring> paths);

 private:
  // Lives while a menu or a dialog runs its own message loop: turns then come from a timer.
  class ModalScope;

  static LRESULT CALLBACK OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam);
  LRESULT HandleMessage(UINT message, WPARAM wparam, LPARAM lparam);
  HWND MakeWindow();
  void Start(std::vector<std::wstring> paths);
  void PumpMessages();

  void Turn();
  void RequestTurn();
  void ReleaseIfCaptureLost();
  void HandleResponses();
  void HandleImported();
  void HandleOutbox(Outbox outbox);
  void LeaveRelay();
  int64_t NowMs() const;

  void Grabbed(SpriteId id, Point point, double ms) override;
  void Dragged(Point point, double ms) override;
  void Released(double ms) override;
  void Clicked(SpriteId id) override;
  void DoubleClicked(SpriteId id) override;
  void RightClicked(SpriteId id, POINT point) override;
  void Pressed(Key key, bool is_down) override;
  void KeysLost() override;
  void Dropped(std::vector<std::wstring> paths) override;

  void ShowMenu(POINT point);
  void HandleChoice(const MenuChoice& choice);
  void EditSettings();
  void ApplySettings(const Settings& settings);
  void SaveSettings();
  void ShowAbout();
  void Close();
  void DropInAnySprite();

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::filesystem::path folder_;
  std::string settings_error_;  // what was wrong in the file of the settings; empty if nothing
  Settings settings_;           // as they were read at the start
  HWND window_;
  Tray tray_;
  OwnedHandle wake_event_;  // set by other threads when they have a result
  FileCache cache_;
  WinHttpTransport transport_;
  Carrier carrier_;
  PictureImporter importer_;
  Desktop desktop_;
  SpriteWindows windows_;
  Surroundings surroundings_;
  Pacer pacer_;
  Sounds sounds_;
  UINT taskbar_created_;  // the message that Windows sends when the task bar has been created again
  bool is_ending_ = false;
  bool has_left_ = false;  // the relay
  int modal_depth_ = 0;    // menus and dialogs that are open
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SHELL_H_
