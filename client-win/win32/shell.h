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
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/app/controller.h"
#include "core/desktop/later_queue.h"
#include "core/motion/hold_watch.h"
#include "core/scene/composition.h"
#include "win32/dialogs/company_dialog.h"
#include "win32/dialogs/heard_dialog.h"
#include "win32/dialogs/say_dialog.h"
#include "win32/system/machine.h"
#include "win32/system/network_watch.h"
#include "win32/system/owned.h"
#include "win32/system/single_instance.h"
#include "win32/system/sounds.h"
#include "win32/system/surroundings.h"
#include "win32/system/tray.h"
#include "win32/system/winhttp_transport.h"
#include "win32/windows/foreground.h"
#include "win32/windows/pacer.h"
#include "win32/windows/saying_bubbles.h"
#include "win32/windows/sharing.h"
#include "win32/windows/sprite_windows.h"

namespace sprites {

constexpr UINT kLaterMessage = WM_APP + 3;  // the shell sends it to itself: run what waits

class Shell : private Host {
 public:
  // `is_portable`: the program writes nothing outside of `folder`. `instance` lives longer.
  Shell(const std::filesystem::path& folder, bool is_portable, const SingleInstance& instance);
  ~Shell() override;

  // Returns when the program is to end.
  void Run(Arguments arguments);

 private:
  // Why nobody can see the sprites: bits of away_.
  static constexpr uint8_t kLocked = 1;
  static constexpr uint8_t kDisconnected = 2;  // from the screen, by a change of users or remotely
  static constexpr uint8_t kScreenOff = 4;

  using OwnedPowerNotification = Owned<HPOWERNOTIFY, UnregisterPowerSettingNotification>;

  // Lives while Windows may run a message loop of its own: turns then come from a timer.
  class ModalScope {
   public:
    explicit ModalScope(Shell* shell);
    ~ModalScope();
    ModalScope(const ModalScope&) = delete;
    ModalScope& operator=(const ModalScope&) = delete;

   private:
    Shell* shell_;
  };

  // Runs what shows a dialog and waits for its end, and returns what it returns. Afterwards the
  // keyboard goes back to the window that had it.
  template <typename Ask>
  auto Modal(Ask ask) {
    const Foreground::Scope keys(&foreground_);
    const ModalScope modal(this);
    return ask();
  }

  static LRESULT CALLBACK OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam);
  LRESULT HandleMessage(UINT message, WPARAM wparam, LPARAM lparam);
  void HandleTrayEvent(UINT event, POINT point);
  bool HandleSent(const COPYDATASTRUCT& sent);
  void HandlePowerEvent(WPARAM event, LPARAM lparam);
  void HandleSessionEvent(WPARAM event);
  void SetAway(uint8_t reason, bool is_away);
  HWND MakeWindow();
  void Start(Arguments arguments);
  void PumpMessages();
  bool HandledByDialog(MSG* message);

  void Turn();
  void ReleaseIfHoldLost();
  void HandlePointer();
  void ReleaseHeld();
  void LeaveRelay();
  void EndModal();

  int64_t NowMs() const override;
  void RequestTurn() override;
  void ShowToast(const Toast& toast) override;
  void Play(std::vector<int16_t> samples) override { sounds_.Play(samples); }
  std::vector<PaintedBubble> PaintBubbles(const Scene& scene) override {
    return sprites::PaintBubbles(scene);
  }
  bool OpenFolder(const std::filesystem::path& folder) override { return OpenPath(folder); }
  bool Copy(const std::string& text) override;
  bool GiveKeysTo(const Sprite& sprite) override;
  Machine DescribeMachine() const override;
  std::string NetworkAddress() const override { return AddressInNetwork(); }
  void OpenWindow(MenuCommand command) override;
  void OpenMenuOver(const Sprite& sprite, Point point) override;
  void Close() override;
  void HandleMonitorsChanged() override;
  void AskAboutLink(const RelayLink& link) override;
  void Ask(Question question, Yes yes) override;
  void HandleUpdate(const UpdateNews& news) override;
  void HandleInstaller(const std::string& bytes) override;

  void Later(LaterQueue::Task task);
  void RunLater();

  // -- Links, and what the menus do (shell_commands.cc).
  void FindRelay();
  void CheckForUpdate();
  void UpdatePresence();

  MenuChoice AskIn(const Menu& menu, POINT point);
  void ShowMenu(POINT point);
  void EditSettings(bool begins_at_name);
  void ApplySettings(const Settings& settings);
  void ApplySharing();

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool is_portable_;
  const SingleInstance& instance_;
  HWND window_;
  Tray tray_;
  OwnedHandle wake_event_;  // set by other threads when they have a result
  WinHttpTransport transport_;
  Controller controller_;
  Desktop& desktop_;  // of the controller
  Foreground foreground_;
  Sharing sharing_;
  SayingBubbles bubble_;  // of the sprite that greets the person, or has the keys
  SayingBubbles saying_bubbles_{&sharing_};
  SayDialog say_dialog_;
  HeardDialog heard_dialog_;
  CompanyDialog company_dialog_;
  Composition composition_;  // of the last turn
  SpriteWindows windows_;
  SpriteWindows dust_{L"Sprite dust", &sharing_};
  SpriteWindows beyond_{L"Sprite beyond", &sharing_};  // what is seen beyond an edge
  Surroundings surroundings_;
  Pacer pacer_;
  Sounds sounds_;
  NetworkWatch network_;
  OwnedPowerNotification power_saving_;   // reports when Windows begins and ends to save power
  OwnedPowerNotification display_state_;  // likewise when the screens go off and on
  UINT taskbar_created_;  // the message that Windows sends when the task bar has been created again
  LaterQueue later_;
  std::filesystem::path toast_opens_;  // at a click on the toast that is shown
  int64_t presence_ms_ = 0;            // when the next look at what the person does is due
  HoldWatch hold_watch_;
  POINT pointer_{};     // where it was at the last turn
  uint64_t turns_ = 0;  // so far
  bool is_ending_ = false;
  bool has_left_ = false;  // the relay
  uint8_t away_ = 0;       // 0 while the sprites can be seen
  int modal_depth_ = 0;    // menus and dialogs that are open
  bool has_menu_ = false;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SHELL_H_
