// The shell: reports to the core what happens on this desktop, and does what the core asks for.
//
// One thread drives the desktop in turns. A turn checks the surroundings, handles responses and
// imported pictures, ticks the core, and shows the scene. Turns follow the screen's rate while
// something moves, and come a few times a second otherwise. GTK has the menus, dialogs and bubbles,
// and the main loop; the sprites are on a display that is chosen at start (sprite_display.h).
// Invariant: the state that the core asks to save is on disk before the core's requests are sent.
#ifndef CLIENT_WIN_X11_SHELL_H_
#define CLIENT_WIN_X11_SHELL_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/app/controller.h"
#include "core/motion/hold_watch.h"
#include "posix/curl_transport.h"
#include "posix/wake_event.h"
#include "x11/system/data_folder.h"
#include "x11/system/event.h"
#include "x11/system/single_instance.h"
#include "x11/system/speaker.h"
#include "x11/system/status_notifier.h"
#include "x11/windows/bubble_window.h"
#include "x11/windows/company_window.h"
#include "x11/windows/dialog.h"
#include "x11/windows/look.h"
#include "x11/windows/menu_window.h"
#include "x11/windows/pacer.h"
#include "x11/windows/question_queue.h"
#include "x11/windows/say_window.h"
#include "x11/windows/saying_bubbles.h"
#include "x11/windows/sprite_display.h"

namespace sprites {

// What the command line chooses, besides files and links.
struct ShellOptions {
  std::string relay;  // empty: that of the settings
  std::string name;   // likewise
};

class Shell : private Host {
 public:
  // `instance`: this process is the first one. Throws std::runtime_error when there is no screen to
  // show sprites on.
  Shell(const Folders& folders, const ShellOptions& options, SingleInstance* instance);
  ~Shell() override;

  // Returns when the program is to end: after Quit, a signal, or the end of the X server.
  void Run(Arguments arguments);

 private:
  void WatchSystem();
  void Start(Arguments arguments);
  void Wait();
  void HandleEvents();
  void HandleArguments(Arguments arguments);

  void Turn();
  void LookAtPointer();
  void ReleaseIfHoldLost(bool has_hold, bool is_down);
  void HandlePointer(const PointerNow& pointer);
  void HandleSurroundings();
  void HandleCompositor();
  void UpdateTray();
  void LeaveRelay();
  double IdleMs(const Scene& scene) const;

  int64_t NowMs() const override;
  void RequestTurn() override { pacer_.HandleInput(); }
  void ShowToast(const Toast& toast) override;
  void Play(std::vector<int16_t> samples) override { speaker_.Play(std::move(samples)); }
  std::vector<PaintedBubble> PaintBubbles(const Scene& scene) override {
    return SayingBubbles(&look_).Paint(scene);
  }
  bool OpenFolder(const std::filesystem::path& folder) override;
  bool Copy(const std::string& text) override;
  bool GiveKeysTo(const Sprite& sprite) override { return display_->GiveKeysTo(sprite.id); }
  Machine DescribeMachine() const override;
  std::string NetworkAddress() const override;
  bool HasIcon() const override { return notifier_.is_shown(); }
  void OpenWindow(MenuCommand command) override;
  void OpenMenuOver(const Sprite& sprite, Point point) override;
  void Close() override { controller_.Close(); }
  void AskAboutLink(const RelayLink& link) override;
  void Ask(Question question, Yes yes) override {
    AskAfterOthers({std::move(question), std::move(yes), {}});
  }

  // -- Links, and what the menus do (shell_commands.cc).
  Menu ProgramMenuHere() const;
  void WithoutWindows(Menu* menu) const;
  void ShowProgramMenu(Point point);
  void AskForName();
  // Shows a dialog, after the one that is open now.
  void AskAfterOthers(WaitingQuestion question);
  void UpdateDialog();
  void HandleToastClicked();
  std::string Said(Text text, std::initializer_list<std::string_view> values = {}) const {
    return controller_.Said(text, values);
  }

  int64_t start_ms_;
  SingleInstance* instance_;
  bool has_options_;       // the command line has changed the settings
  const bool has_layers_;  // of Wayland; otherwise sprites are on X
  WakeEvent wake_;
  CurlTransport transport_;
  Controller controller_;
  Desktop& desktop_;  // of the controller
  std::unique_ptr<SpriteDisplay> display_;
  Look look_;
  std::vector<SheetPointer> characters_;  // those that come with the program
  Pacer pacer_;
  Speaker speaker_;
  MenuWindow menu_;
  SayingBubbles bubble_;  // of the sprite that greets the person, or has the keys
  BubbleWindow notice_;
  SayingBubbles saying_bubbles_;
  std::unique_ptr<SayWindow> say_window_;          // while it is open
  std::unique_ptr<CompanyWindow> company_window_;  // likewise
  StatusNotifier notifier_;
  std::unique_ptr<Dialog> dialog_;
  QuestionQueue questions_;
  HoldWatch hold_watch_;
  Point pointer_;  // where it was at the last look
  int64_t pointer_due_ms_ = 0;
  int64_t notice_until_ms_ = 0;
  std::filesystem::path toast_opens_;  // at a click on the toast that is shown
  bool is_due_ = false;                // a turn is, after the wait
  bool has_news_ = false;              // of the X server, or of a second instance; likewise
  bool is_ending_ = false;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SHELL_H_
