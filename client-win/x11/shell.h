// The shell: reports to the core what happens on this desktop, and does what the core asks for.
//
// One thread drives the desktop in turns. A turn checks the surroundings, handles responses and
// imported pictures, ticks the core, and shows the scene. Turns follow the screen's rate while
// something moves, and come a few times a second otherwise. Menus and dialogs have no loop of their
// own: they are windows whose events come like all others. Invariant: the state that the core asks
// to save is on disk before the core's requests are sent.
#ifndef CLIENT_WIN_X11_SHELL_H_
#define CLIENT_WIN_X11_SHELL_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/desktop/files/own_file.h"
#include "core/desktop/files/state_writer.h"
#include "core/desktop/greeting.h"
#include "core/desktop/menus.h"
#include "core/motion/hold_watch.h"
#include "core/picture/file_cache.h"
#include "core/picture/importer.h"
#include "core/relay/carrier.h"
#include "posix/curl_transport.h"
#include "posix/owned_fd.h"
#include "posix/power_watch.h"
#include "posix/wake_pipe.h"
#include "x11/system/clipboard.h"
#include "x11/system/data_folder.h"
#include "x11/system/event.h"
#include "x11/system/keyboard.h"
#include "x11/system/network_watch.h"
#include "x11/system/single_instance.h"
#include "x11/system/speaker.h"
#include "x11/system/status_notifier.h"
#include "x11/system/surroundings.h"
#include "x11/system/x_connection.h"
#include "x11/windows/bubble.h"
#include "x11/windows/dialog.h"
#include "x11/windows/drop_target.h"
#include "x11/windows/fonts.h"
#include "x11/windows/look.h"
#include "x11/windows/menu_window.h"
#include "x11/windows/pacer.h"
#include "x11/windows/question_queue.h"
#include "x11/windows/say_window.h"
#include "x11/windows/saying_bubbles.h"
#include "x11/windows/sprite_windows.h"

namespace sprites {

// What the command line chooses, besides files and links.
struct ShellOptions {
  std::string relay;  // empty: that of the settings
  std::string name;   // likewise
};

class Shell : private SpriteListener {
 public:
  // `instance`: this process is the first one. Throws std::runtime_error when there is no X server.
  Shell(const Folders& folders, const ShellOptions& options, SingleInstance* instance);
  ~Shell() override;

  // Returns when the program is to end: after Quit, a signal, or the end of the X server.
  void Run(Arguments arguments);

 private:
  void Start(Arguments arguments);
  void Wait();
  void HandleEvents();
  void HandleEvent(const xcb_generic_event_t& event);
  void HandleSignals();
  void HandleArguments(Arguments arguments);

  void Turn();
  void RequestTurn() { pacer_.HandleInput(); }
  void LookAtPointer();
  void ReleaseIfHoldLost(bool has_hold, bool is_down);
  void HandlePointer(const SpriteWindows::Pointer& pointer);
  void HandleDropped(const std::string& uris);
  void HandleImported();
  void HandleOutbox(Outbox outbox);
  void HandleWriters();
  void HandleSurroundings();
  void UpdateTray();
  void LeaveRelay();
  double IdleMs(const Scene& scene) const;
  int64_t NowMs() const;

  void Grabbed(SpriteId id, Point point, double ms) override;
  void Dragged(Point point, double ms) override;
  void Released(double ms) override;
  void Clicked(SpriteId id) override;
  void DoubleClicked(SpriteId id) override;
  void RightClicked(SpriteId id, Point point, uint32_t ms) override;
  void Pressed(Key key, bool is_down, bool with_control) override;
  void Stepped(bool is_backwards) override;
  void KeysLost() override;

  // -- Links, and what the menus do (shell_commands.cc).
  Menu ProgramMenuHere() const;
  void ShowProgramMenu(Point point);
  void HandleChoice(const MenuChoice& choice);
  void HandleSpriteChoice(const MenuChoice& choice, const Sprite& sprite);
  void OpenLink(const std::string& text);
  void FollowLink(const RelayLink& link);
  void AskWhereToGo(bool is_first_start, const std::string& link);
  void AskForName();
  void Invite();
  void CopyDiagnostics();
  void ReportPicture(const Sprite& sprite);
  void Steer(SpriteId id);
  void Mute(const Neighbour& neighbour, bool is_muted);
  void ShowHowToPlay();
  void ShowAbout();
  void Close();
  void OpenSayWindow();
  void DropInAnySprite();
  void ApplySettings(const Settings& settings);
  void SaveSettings();
  // Shows a dialog, after the one that is open now.
  void Ask(Question question, Dialog::Answer answer);
  void UpdateDialog();
  void ShowToast(const Toast& toast);
  void ShowBubble(const Scene& scene);
  void DismissBubble();
  void ShowNotice(Text title, Text text, std::initializer_list<std::string_view> values = {});
  std::string Said(Text text, std::initializer_list<std::string_view> values = {}) const;

  int64_t start_ms_;
  Folders folders_;
  SingleInstance* instance_;
  bool has_options_;  // the command line has changed the settings
  OwnFile kept_file_;
  OwnFile settings_file_;
  std::optional<Reason> settings_error_;  // what was wrong in the file of the settings
  Settings settings_;                     // as they were read at the start
  XConnection connection_;
  OwnedFd signals_;
  WakePipe wake_;
  Keyboard keyboard_;
  Fonts fonts_;
  Look look_;
  FileCache cache_;
  CurlTransport transport_;
  Carrier carrier_;
  StateWriter state_writer_;
  StateWriter settings_writer_;
  Importer importer_;
  Desktop desktop_;
  std::vector<SheetPointer> characters_;  // those that come with the program
  Greeting greeting_;
  Clipboard clipboard_;
  SpriteWindows windows_;
  SpriteWindows ground_;  // shadows and dust
  SpriteWindows beyond_;  // what is seen beyond an edge
  Surroundings surroundings_;
  Pacer pacer_;
  NetworkWatch network_;
  PowerWatch power_;
  Speaker speaker_;
  DropTarget drops_;
  MenuWindow menu_;
  Bubble bubble_;
  Bubble notice_;
  SayingBubbles saying_bubbles_;
  std::unique_ptr<SayWindow> say_window_;  // while it is open
  StatusNotifier notifier_;
  std::unique_ptr<Dialog> dialog_;
  QuestionQueue questions_;
  HoldWatch hold_watch_;
  Point pointer_;  // where it was at the last look
  int64_t pointer_due_ms_ = 0;
  int64_t notice_until_ms_ = 0;
  bool is_ending_ = false;
  bool was_failing_ = false;  // writing to disk, at the last turn
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SHELL_H_
