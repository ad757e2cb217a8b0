// The shell: tells the core what happens on this desktop, and does what the core says.
//
// One thread turns the desktop: a turn looks around, takes what came, ticks, and shows the scene.
// Turns come with the screen's refresh while something moves, and a few times a second when
// nothing does. Invariant: what the core wants kept is on disk before its requests are sent.
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
#include "core/screen/window_places.h"
#include "win32/owned.h"
#include "win32/pacer.h"
#include "win32/picture_importer.h"
#include "win32/sounds.h"
#include "win32/sprite_windows.h"
#include "win32/tray.h"
#include "win32/window_watch.h"
#include "win32/winhttp_transport.h"

namespace sprites {

class Shell : private SpriteListener {
 public:
  explicit Shell(std::filesystem::path folder);
  ~Shell() override;

  // Until somebody quits. `paths` are files to take in.
  void Run(std::vector<std::wstring> paths);

 private:
  // Turns go on by a timer's messages while a menu or a dialog has the thread.
  class Modal;

  static LRESULT CALLBACK OnMessage(HWND window, UINT message, WPARAM wide, LPARAM wider);
  LRESULT Take(UINT message, WPARAM wide, LPARAM wider);
  HWND MakeWindow();
  void Start(std::vector<std::wstring> paths);
  void HandleMessages();

  void Turn();
  void Stir();
  void LookAround(int64_t now_ms);
  void LookAtPlaces(int64_t now_ms);
  bool AnySpriteOnWindow() const;
  void LetGoOfLost();
  void TakeAnswers();
  void ShowImported();
  void CarryOut(Outbox outbox);
  void Farewell();
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
  void Obey(const MenuChoice& choice);
  void EditSettings();
  void Adopt(const Settings& settings);
  void SaveSettings();
  void TellAbout();
  void Close();
  void DropInSomebody();

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::filesystem::path folder_;
  std::string complaint_;  // about the settings
  Settings settings_;      // as they were read
  HWND window_;
  Tray tray_;
  OwnedHandle bell_;  // other threads have something for us
  FileCache cache_;
  WinHttpTransport transport_;
  Carrier carrier_;
  PictureImporter importer_;
  Desktop desktop_;
  SpriteWindows windows_;
  WindowWatch watch_;
  WindowPlaces places_;
  Pacer pacer_;
  Sounds sounds_;
  UINT task_bar_made_;
  int64_t looked_ms_ = 0;    // at windows
  int64_t measured_ms_ = 0;  // monitors
  int64_t placed_ms_ = 0;    // looked where windows belong
  bool screen_changed_ = true;
  bool stirred_ = false;
  bool ends_ = false;
  bool has_left_ = false;
  int modal_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SHELL_H_
