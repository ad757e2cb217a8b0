#include "win32/shell.h"

#include <shellapi.h>
#include <windowsx.h>
#include <wtsapi32.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/picture/bundled_files.h"
#include "win32/dialogs/settings_dialog.h"
#include "win32/system/autostart.h"
#include "win32/system/data_folder.h"
#include "win32/system/machine.h"
#include "win32/system/resource.h"
#include "win32/system/single_instance.h"
#include "win32/system/text16.h"
#include "win32/system/wic_picture.h"

namespace sprites {

namespace {

constexpr UINT kModalFrameMs = 16;  // ms between two turns while a menu or a dialog is open
constexpr UINT_PTR kModalTimer = 1;
constexpr double kBubbleWidth = 400;  // dip, at most: of a sprite that greets the person
constexpr int kHideKey = 1;  // the only key that Windows reports to this program from everywhere
constexpr double kAwayTurnMs = 1'000;  // between two turns while nobody can see the sprites
// GUID_POWER_SAVING_STATUS, which older headers lack: whether Windows saves the battery.
constexpr GUID kPowerSaving = {
    0xE00958C0, 0xC213, 0x4ACE, {0xAC, 0x77, 0xFE, 0xCC, 0xED, 0x2E, 0xEE, 0xA5}};
// GUID_SESSION_DISPLAY_STATUS: 0 when the screens of this session are off.
constexpr GUID kDisplayState = {
    0x2B84C20E, 0xAD23, 0x4DDF, {0x93, 0xDB, 0x05, 0xFF, 0xBD, 0x7E, 0xFC, 0xA5}};

std::vector<std::filesystem::path> PathsOf(const std::vector<std::wstring>& names) {
  return {names.begin(), names.end()};
}

Settings WithAutostart(Settings settings) {
  settings.start_with_system = IsAutostartOn();
  return settings;
}

}  // namespace

Shell::ModalScope::ModalScope(Shell* shell) : shell_(shell) {
  if (shell_->modal_depth_++ == 0) {
    SetTimer(shell_->window_, kModalTimer, kModalFrameMs, nullptr);
  }
}

Shell::ModalScope::~ModalScope() {
  if (--shell_->modal_depth_ == 0) {
    KillTimer(shell_->window_, kModalTimer);
    if (!shell_->later_.IsEmpty()) {
      PostMessageW(shell_->window_, kLaterMessage, 0, 0);
    }
  }
}

Shell::Shell(const std::filesystem::path& folder, bool is_portable, const SingleInstance& instance)
    : is_portable_(is_portable),
      instance_(instance),
      window_(MakeWindow()),
      tray_(window_),
      wake_event_(CreateEventW(nullptr, FALSE, FALSE, nullptr)),
      controller_({.files = SystemFiles(),
                   .kept = folder / L"kept.json",
                   .settings = folder / L"settings.json",
                   .pictures = folder / L"files",
                   .sounds = folder / L"sounds",
                   .photographs = is_portable ? folder / L"pictures" : PicturesFolder(),
                   .transport = &transport_,
                   .decode = DecodeUprightByWindows,
                   .wake = [this] { SetEvent(wake_event_.get()); },
                   .complete = WithAutostart},
                  this),
      desktop_(controller_.desktop()),
      bubble_(
          &sharing_,
          [this] {
            controller_.DismissBubble();
            RequestTurn();
          },
          kBubbleWidth),
      say_dialog_(&desktop_, &foreground_),
      heard_dialog_(&desktop_, &foreground_,
                    [this](const MenuChoice& choice) { controller_.HandleChoice(choice); }),
      company_dialog_(&desktop_, &foreground_,
                      [this](const MenuChoice& choice) { controller_.HandleChoice(choice); }),
      windows_(L"Sprite", &sharing_, &controller_, &foreground_),
      network_(window_),
      power_saving_(
          RegisterPowerSettingNotification(window_, &kPowerSaving, DEVICE_NOTIFY_WINDOW_HANDLE)),
      display_state_(
          RegisterPowerSettingNotification(window_, &kDisplayState, DEVICE_NOTIFY_WINDOW_HANDLE)),
      taskbar_created_(RegisterWindowMessageW(L"TaskbarCreated")) {}

Shell::~Shell() {
  tray_.Remove();
  WTSUnRegisterSessionNotification(window_);
  SetWindowLongPtrW(window_, GWLP_USERDATA, 0);
  DestroyWindow(window_);
}

void Shell::Run(Arguments arguments) {
  Start(std::move(arguments));
  Turn();
  while (!is_ending_) {
    const HANDLE handles[] = {pacer_.timer(), wake_event_.get()};
    const DWORD woken =
        MsgWaitForMultipleObjectsEx(2, handles, INFINITE, QS_ALLINPUT, MWMO_INPUTAVAILABLE);
    if (woken <= WAIT_OBJECT_0 + 1) {
      Turn();
    }
    PumpMessages();
  }
  LeaveRelay();
}

void Shell::PumpMessages() {
  MSG message;
  while (!is_ending_ && PeekMessageW(&message, nullptr, 0, 0, PM_REMOVE)) {
    if (message.message == WM_QUIT) {
      is_ending_ = true;
    }
    if (!HandledByDialog(&message)) {
      TranslateMessage(&message);
      DispatchMessageW(&message);
    }
  }
}

// Windows runs a loop of its own while the person drags a dialog, or has a menu of a field open, or
// holds a scroll bar.
bool Shell::HandledByDialog(MSG* message) {
  for (const ModelessDialog* dialog : std::initializer_list<const ModelessDialog*>{
           &say_dialog_, &heard_dialog_, &company_dialog_}) {
    if (dialog->Has(message->hwnd)) {
      const ModalScope modal(this);
      RequestTurn();  // what the user typed is said at once
      dialog->HandleMessage(message);
      return true;
    }
  }
  return false;
}

void Shell::Start(Arguments arguments) {
  // From here on messages are handled.
  instance_.Mark(window_);
  SetWindowLongPtrW(window_, GWLP_USERDATA, reinterpret_cast<LONG_PTR>(this));
  // Early after logging on it may fail; then only ReleaseIfHoldLost notices a locked screen.
  WTSRegisterSessionNotification(window_, NOTIFY_FOR_THIS_SESSION);
  desktop_.SetSystemLanguage(SystemLanguage());
  desktop_.look().SetReducedMotion(IsMotionReduced());
  desktop_.look().SetGroundShown(true);
  // Text::kKeyHide. Another program may have it.
  desktop_.SetHasHideKey(RegisterHotKey(window_, kHideKey,
                                        MOD_CONTROL | MOD_ALT | MOD_SHIFT | MOD_NOREPEAT,
                                        'H') != FALSE);
  surroundings_.Update(&desktop_, NowMs());
  controller_.Start(BundledCharacters(controller_.cache()), !arguments.paths.empty());
  controller_.Import(PathsOf(arguments.paths));
  if (arguments.has_link) {
    controller_.OpenLink(Narrow(arguments.link));
  }
  FindRelay();
  ApplySharing();
  // Two texts may be too long for one toast.
  for (const OwnFile* file : {&controller_.settings_file(), &controller_.kept_file()}) {
    if (const std::string complaint = Complaints({file}, desktop_.language()); !complaint.empty()) {
      tray_.ShowToast(
          {ToastKind::kNotice, Say(desktop_.language(), Text::kToastOwnFile), complaint});
    }
  }
  if (controller_.settings_file().is_unreadable()) {
    controller_.SaveSettings();
  }
  if (const auto& error = controller_.settings_error()) {
    tray_.ShowToast({ToastKind::kNotice, Say(desktop_.language(), Text::kToastSettings),
                     Say(desktop_.language(), *error)});
  }
}

// -- One turn.

void Shell::Turn() {
  pacer_.BeginTurn();
  turns_++;
  if (away_ != 0) {  // nothing is shown: only the relay goes on
    controller_.Turn();
    pacer_.EndTurn(kAwayTurnMs);
    return;
  }
  surroundings_.Update(&desktop_, NowMs());
  ReleaseIfHoldLost();
  HandlePointer();
  UpdatePresence();
  const Scene& scene = controller_.Turn();
  Compose(scene, &composition_);
  windows_.SetTakesClicks(scene.takes_clicks);
  windows_.Show(composition_.sprites);
  dust_.Show(composition_.dust);
  // Below the sprites, so that a sprite that crosses walks in front.
  beyond_.Show(scene.beyond, windows_.LowestWindow());
  // Also while it is not shown, or the greeting would stand still.
  const Scene own = controller_.OwnBubble(scene);
  bubble_.Show(modal_depth_ == 0 ? own : Scene{});
  saying_bubbles_.Show(has_menu_ ? Scene{} : scene);  // or they would cover it
  say_dialog_.Update();
  heard_dialog_.Update();
  company_dialog_.Update();
  tray_.SetTooltip("Sprites: " + TooltipOf(desktop_));
  pacer_.SetHalved(scene.saves_power);
  const auto check_ms = static_cast<double>(surroundings_.CheckMs(desktop_.simulation(), NowMs()));
  pacer_.EndTurn(std::min(scene.idle_ms, scene.sprites.empty() ? kIdleMsMax : check_ms));
}

// Makes the next turn come soon, because the user has done something.
void Shell::RequestTurn() { pacer_.HandleInput(); }

// Releases the held sprite if its window has lost the mouse capture, or the button has long been
// up: Windows does not always report that, for example when the screen was locked meanwhile.
void Shell::ReleaseIfHoldLost() {
  const bool has_hold = desktop_.simulation().held() != kNobody;
  const int button = GetSystemMetrics(SM_SWAPBUTTON) ? VK_RBUTTON : VK_LBUTTON;
  // While another desktop, such as that of the lock screen, has the pointer, the button counts as
  // up.
  const bool is_down = has_hold && (GetAsyncKeyState(button) & 0x8000) != 0;
  const bool is_lost = hold_watch_.Update(has_hold, is_down, NowMs());
  if (has_hold && (is_lost || GetCapture() == nullptr)) {
    ReleaseHeld();
  }
}

// Sprites look at a pointer that moves, enjoy being stroked by it, and are tired in the evening. A
// pointer that rests at an edge looks over it.
void Shell::HandlePointer() {
  const __time64_t now = _time64(nullptr);
  std::tm local{};
  if (_localtime64_s(&local, &now) == 0) {
    desktop_.sprites().SetClock({now, _mkgmtime64(&local)});
  }
  POINT point{};
  if (GetCursorPos(&point) == FALSE) {
    return;
  }
  const bool has_moved = point.x != pointer_.x || point.y != pointer_.y;
  pointer_ = point;
  const Point at{static_cast<double>(point.x), static_cast<double>(point.y)};
  if (has_moved && desktop_.simulation().held() == kNobody) {
    desktop_.sprites().MovePointer(at);
  }
  if (desktop_.peeking().CanPeek()) {
    const bool is_busy =
        std::ranges::any_of(std::array{VK_LBUTTON, VK_RBUTTON, VK_MBUTTON},
                            [](int button) { return (GetAsyncKeyState(button) & 0x8000) != 0; });
    desktop_.peeking().SetPointer(at, is_busy, NowMs());
  }
}

void Shell::ReleaseHeld() {
  ReleaseCapture();
  desktop_.sprites().Release(static_cast<double>(GetTickCount()));
}

// Hides the sprites and leaves the relay.
void Shell::LeaveRelay() {
  if (std::exchange(has_left_, true)) {
    return;
  }
  bubble_.Show(Scene{});
  saying_bubbles_.Show(Scene{});
  say_dialog_.Close();
  heard_dialog_.Close();
  company_dialog_.Close();
  windows_.Show({});
  dust_.Show({});
  beyond_.Show({});
  tray_.Remove();
  controller_.Leave([this] {
    const HANDLE wake = wake_event_.get();
    MsgWaitForMultipleObjectsEx(1, &wake, kModalFrameMs, QS_SENDMESSAGE, MWMO_INPUTAVAILABLE);
    // Looking for a message lets a second instance, which sends its files, get its answer and wait.
    MSG message;
    PeekMessageW(&message, nullptr, 0, 0, PM_NOREMOVE | PM_QS_SENDMESSAGE);
  });
}

// Closes the menu or the dialogs that are open, as if the user had cancelled them: the program ends
// only when their message loops have.
void Shell::EndModal() {
  EndMenu();
  const auto cancel = [](HWND window, LPARAM) -> BOOL {
    wchar_t name[16];
    GetClassNameW(window, name, static_cast<int>(std::size(name)));
    if (std::wstring_view(name) == L"#32770") {  // the class of dialogs
      PostMessageW(window, WM_CLOSE, 0, 0);
    }
    return TRUE;
  };
  EnumThreadWindows(GetCurrentThreadId(), cancel, 0);
}

int64_t Shell::NowMs() const {
  const auto passed = std::chrono::steady_clock::now() - start_;
  return std::chrono::duration_cast<std::chrono::milliseconds>(passed).count();
}

void Shell::HandleMonitorsChanged() {
  surroundings_.MonitorsMayHaveChanged();
  RequestTurn();
}

// -- The menu.

void Shell::OpenMenuOver(const Sprite& sprite, Point point) {
  if (modal_depth_ > 0) {
    return;
  }
  controller_.HandleMenuOpened();
  const bool has_keys =
      desktop_.sprites().selected() == sprite.id && !desktop_.sprites().KeysHint().empty();
  const Foreground::Scope keys(&foreground_);
  const MenuChoice choice = AskIn(MenuOver(desktop_, sprite, ProgramMenu(desktop_)),
                                  {static_cast<LONG>(point.x), static_cast<LONG>(point.y)});
  controller_.HandleSpriteChoice(choice, sprite);
  if (has_keys && choice.command == MenuCommand::kNone) {
    controller_.Steer(sprite.id);  // the menu had the keys
  }
}

MenuChoice Shell::AskIn(const Menu& menu, POINT point) {
  const ModalScope modal(this);
  has_menu_ = true;
  const MenuChoice choice = ChooseIn(menu, window_, point);
  has_menu_ = false;
  return choice;
}

void Shell::ShowMenu(POINT point) {
  if (modal_depth_ > 0) {
    return;
  }
  controller_.HandleMenuOpened();
  const Foreground::Scope keys(&foreground_);
  const MenuChoice choice = AskIn(ProgramMenu(desktop_), point);
  if (choice.command == MenuCommand::kNone) {
    tray_.TakeKeys();
  }
  controller_.HandleChoice(choice);
}

void Shell::OpenWindow(MenuCommand command) {
  switch (command) {
    case MenuCommand::kName:
    case MenuCommand::kSettings:
      EditSettings(command == MenuCommand::kName);
      break;
    case MenuCommand::kSay:
      say_dialog_.Open(window_);
      break;
    case MenuCommand::kHeard:
      heard_dialog_.Open(window_);
      break;
    case MenuCommand::kCompany:
      company_dialog_.Open(window_);
      break;
    case MenuCommand::kUpdate:
      CheckForUpdate();
      break;
    case MenuCommand::kQuit:
      is_ending_ = true;
      break;
    default:
      break;
  }
}

void Shell::EditSettings(bool begins_at_name) {
  SettingsQuestion question;
  question.language = desktop_.language();
  question.settings = WithAutostart(desktop_.settings());
  question.settings.name = OwnName(desktop_);
  question.can_start = !is_portable_;
  question.begins_at_name = begins_at_name;
  question.open_sounds = [this] { controller_.OpenSounds(); };
  if (const auto edited = Modal([&] { return AskForSettings(window_, question); })) {
    ApplySettings(*edited);
  }
}

void Shell::ApplySettings(const Settings& settings) {
  if (settings.start_with_system != IsAutostartOn()) {
    SetAutostart(settings.start_with_system);
  }
  if (!settings.restore_windows) {
    surroundings_.ForgetPlaces();
  }
  controller_.ApplySettings(settings);
  ApplySharing();
}

// A promise that Windows does not keep is taken back.
void Shell::ApplySharing() {
  Settings settings = desktop_.settings();
  if (!sharing_.LeaveOut(settings.out_of_shared_screens)) {
    settings.out_of_shared_screens = false;
    controller_.ApplySettings(settings);
    controller_.ShowNotice(Text::kToastSharing, Text::kToastSharingText);
  }
}

void Shell::Close() {
  if (!is_ending_ && modal_depth_ == 0) {
    controller_.Close();
  }
}

// -- The invisible main window, which receives the messages.

HWND Shell::MakeWindow() {
  WNDCLASSEXW description{};
  description.cbSize = sizeof description;
  description.lpfnWndProc = OnMessage;
  description.hInstance = GetModuleHandleW(nullptr);
  description.hIcon = LoadIconW(description.hInstance, MAKEINTRESOURCEW(IDI_PROGRAM));
  description.lpszClassName = kMainClass;
  RegisterClassExW(&description);
  const HWND window = CreateWindowExW(0, kMainClass, L"Sprites", WS_OVERLAPPED, 0, 0, 0, 0, nullptr,
                                      nullptr, description.hInstance, nullptr);
  // When the program runs as an administrator, Windows keeps messages of other programs from it.
  // These come from the task bar, and from a second instance.
  for (const UINT message :
       {RegisterWindowMessageW(L"TaskbarCreated"), kTrayMessage, UINT{WM_COPYDATA}}) {
    ChangeWindowMessageFilterEx(window, message, MSGFLT_ALLOW, nullptr);
  }
  return window;
}

LRESULT CALLBACK Shell::OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam) {
  if (auto* own = reinterpret_cast<Shell*>(GetWindowLongPtrW(window, GWLP_USERDATA))) {
    return own->HandleMessage(message, wparam, lparam);
  }
  // Another program may ask this one to end while it starts. Windows would destroy the window then,
  // and the program would run on without it. An installer asks again.
  return message == WM_CLOSE ? 0 : DefWindowProcW(window, message, wparam, lparam);
}

void Shell::HandlePowerEvent(WPARAM event, LPARAM lparam) {
  if (event == PBT_APMRESUMEAUTOMATIC || event == PBT_APMRESUMESUSPEND) {
    desktop_.NetworkIsBack();
    RequestTurn();
  } else if (event == PBT_POWERSETTINGCHANGE && lparam != 0) {
    const auto& setting = *reinterpret_cast<const POWERBROADCAST_SETTING*>(lparam);
    const bool is_on = setting.DataLength > 0 && setting.Data[0] != 0;
    if (IsEqualGUID(setting.PowerSetting, kPowerSaving)) {
      desktop_.look().SetSavingPower(is_on);
      RequestTurn();
    } else if (IsEqualGUID(setting.PowerSetting, kDisplayState)) {
      SetAway(kScreenOff, !is_on);
    }
  }
}

// The person has locked the screen, or has left it by a fast change of users or a remote session:
// the message that the button was released will not come. An administrator's consent is no such
// event; ReleaseIfHoldLost notices that.
void Shell::HandleSessionEvent(WPARAM event) {
  switch (event) {
    case WTS_SESSION_LOCK:
    case WTS_SESSION_UNLOCK:
      SetAway(kLocked, event == WTS_SESSION_LOCK);
      break;
    case WTS_CONSOLE_DISCONNECT:
    case WTS_REMOTE_DISCONNECT:
      SetAway(kDisconnected, true);
      break;
    case WTS_CONSOLE_CONNECT:
    case WTS_REMOTE_CONNECT:
      SetAway(kDisconnected, false);
      break;
    default:
      break;
  }
}

void Shell::SetAway(uint8_t reason, bool is_away) {
  away_ = static_cast<uint8_t>(is_away ? away_ | reason : away_ & ~reason);
  if (is_away && desktop_.simulation().held() != kNobody) {
    ReleaseHeld();
  }
  RequestTurn();
}

void Shell::HandleTrayEvent(UINT event, POINT point) {
  away_ = 0;  // somebody is here, whatever Windows has reported
  if (event == WM_CONTEXTMENU || event == NIN_SELECT || event == NIN_KEYSELECT) {
    ShowMenu(point);
  } else if (event == NIN_BALLOONUSERCLICK && !toast_opens_.empty()) {
    OpenPath(toast_opens_);
  } else if (event == NIN_BALLOONUSERCLICK && GetCursorPos(&point) != FALSE) {
    ShowMenu(point);  // it has whatever a toast may speak of
  }
}

// A second instance sends what it was started with. Returns whether this one takes it.
bool Shell::HandleSent(const COPYDATASTRUCT& sent) {
  if (is_ending_) {
    return false;  // the second instance waits until this one has ended, and is the first then
  }
  if (const auto link = ReadSentLink(sent)) {
    Later([this, text = Narrow(*link)] { controller_.OpenLink(text); });
    return true;
  }
  const auto paths = ReadSentPaths(sent);
  if (!paths) {
    return false;
  }
  if (paths->empty()) {
    controller_.DropInAnySprite();
  }
  controller_.Import(PathsOf(*paths));
  RequestTurn();
  return true;
}

LRESULT Shell::HandleMessage(UINT message, WPARAM wparam, LPARAM lparam) {
  if (message == taskbar_created_) {
    tray_.Add();
    return 0;
  }
  switch (message) {
    case kTrayMessage:
      HandleTrayEvent(LOWORD(lparam), {GET_X_LPARAM(wparam), GET_Y_LPARAM(wparam)});
      return 0;
    case WM_COPYDATA:
      return HandleSent(*reinterpret_cast<const COPYDATASTRUCT*>(lparam)) ? TRUE : FALSE;
    case kLaterMessage:
      RunLater();
      return 0;
    case WM_HOTKEY:
      desktop_.Hide(!desktop_.is_hidden());
      RequestTurn();
      return 0;
    case WM_TIMER:
      if (is_ending_) {
        EndModal();  // again, because the user may have opened another one
      } else {
        Turn();
      }
      return 0;
    case WM_DISPLAYCHANGE:
    case WM_DPICHANGED:
    case WM_SETTINGCHANGE:
      desktop_.look().SetReducedMotion(IsMotionReduced());
      HandleMonitorsChanged();
      return 0;
    case WM_POWERBROADCAST:
      HandlePowerEvent(wparam, lparam);
      return TRUE;
    case WM_WTSSESSION_CHANGE:
      HandleSessionEvent(wparam);
      return 0;
    case kNetworkMessage:
      desktop_.NetworkIsBack();
      RequestTurn();
      return 0;
    case WM_CLOSE:
      is_ending_ = true;
      if (modal_depth_ > 0) {
        EndModal();
      }
      return 0;
    case WM_ENDSESSION:
      if (wparam != 0) {  // Windows may end the program as soon as this returns
        is_ending_ = true;
        LeaveRelay();
      }
      return 0;
    default:
      return DefWindowProcW(window_, message, wparam, lparam);
  }
}

}  // namespace sprites
