#include "win32/shell.h"

#include <shellapi.h>
#include <windowsx.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "win32/autostart.h"
#include "win32/bundled_characters.h"
#include "win32/data_folder.h"
#include "win32/resource.h"
#include "win32/settings_dialog.h"
#include "win32/single_instance.h"
#include "win32/text16.h"

namespace sprites {

namespace {

constexpr int64_t kLeaveMsMax = 2'000;  // ms to wait until the relay has received our leave request
constexpr UINT kModalFrameMs = 16;      // ms between two turns while a menu or a dialog is open
constexpr UINT_PTR kModalTimer = 1;
constexpr size_t kFirstSprites = 3;  // sprites that fall in on the very first start

constexpr wchar_t kAbout[] =
    L"Sprites 0.1.0\n\n"
    L"Throw a sprite off the edge of your desktop, and it lands on your neighbour's.\n\n"
    L"Drag and let go: throw. Click, then arrow keys and space: run and jump.\n"
    L"Double click: close the program. Drop a picture on a sprite: it becomes a sprite too.\n\n"
    L"MIT licence; the characters are CC0.";

Random NewRandom() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0, 1)(engine);
  };
}

Settings ReadSettingsFile(const std::filesystem::path& folder, std::string* error) {
  const auto text = ReadWholeFile(folder / L"settings.json", kSettingsBytesMax);
  Settings settings = text ? ReadSettings(*text, error) : Settings{};
  settings.start_with_system = IsAutostartOn();
  return settings;
}

}  // namespace

class Shell::ModalScope {
 public:
  explicit ModalScope(Shell* shell) : shell_(shell) {
    if (shell_->modal_depth_++ == 0) {
      SetTimer(shell_->window_, kModalTimer, kModalFrameMs, nullptr);
    }
  }
  ~ModalScope() {
    if (--shell_->modal_depth_ == 0) {
      KillTimer(shell_->window_, kModalTimer);
    }
  }
  ModalScope(const ModalScope&) = delete;
  ModalScope& operator=(const ModalScope&) = delete;

 private:
  Shell* shell_;
};

Shell::Shell(std::filesystem::path folder)
    : folder_(std::move(folder)),
      settings_(ReadSettingsFile(folder_, &settings_error_)),
      window_(MakeWindow()),
      tray_(window_),
      wake_event_(CreateEventW(nullptr, FALSE, FALSE, nullptr)),
      cache_(folder_ / L"files", static_cast<uint64_t>(settings_.cache_mib) << 20),
      carrier_(&transport_, &cache_, [this] { SetEvent(wake_event_.get()); }),
      importer_(&cache_, [this] { SetEvent(wake_event_.get()); }),
      desktop_(settings_, NewRandom()),
      windows_(this),
      taskbar_created_(RegisterWindowMessageW(L"TaskbarCreated")) {}

Shell::~Shell() {
  SetWindowLongPtrW(window_, GWLP_USERDATA, 0);
  DestroyWindow(window_);
}

void Shell::Run(std::vector<std::wstring> paths) {
  Start(std::move(paths));
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
    TranslateMessage(&message);
    DispatchMessageW(&message);
  }
}

void Shell::Start(std::vector<std::wstring> paths) {
  surroundings_.Update(&desktop_, NowMs());
  for (const SheetPointer& sheet : BundledCharacters(&cache_)) {
    desktop_.AddToShelf(sheet);
  }
  for (const std::string& file : cache_.Own()) {
    try {
      if (const auto bytes = cache_.Find(file)) {
        desktop_.AddToShelf(ReadSheet(*bytes));
      }
    } catch (const SprRefused&) {
      // A version of this program with other limits has accepted the file; it stays on disk.
    }
  }
  const auto kept = ReadWholeFile(folder_ / L"kept.json", kSavedBytesMax);
  desktop_.Restore(kept.value_or(""), true);
  if (!kept && paths.empty()) {
    for (size_t i = 0; i < std::min(kFirstSprites, desktop_.shelf().size()); i++) {
      desktop_.DropIn(desktop_.shelf()[i]->file, std::nullopt);
    }
  }
  importer_.Import(std::move(paths));
  if (!settings_error_.empty()) {
    tray_.ShowToast({ToastKind::kNotice, "Settings", settings_error_});
  }
}

// -- One turn.

void Shell::Turn() {
  pacer_.BeginTurn();
  surroundings_.Update(&desktop_, NowMs());
  ReleaseIfCaptureLost();
  HandleResponses();
  HandleImported();
  const Scene& scene = desktop_.Tick(NowMs());
  HandleOutbox(desktop_.PopOutbox());
  windows_.Show(scene);
  tray_.SetTooltip("Sprites: " + StatusOf(desktop_));
  const auto check_ms = static_cast<double>(WindowCheckMs(desktop_.simulation()));
  pacer_.EndTurn(std::min(scene.idle_ms, scene.sprites.empty() ? kIdleMsMax : check_ms));
}

// Makes the next turn come soon, because the user has done something.
void Shell::RequestTurn() { pacer_.HandleInput(); }

// Releases the held sprite if its window has lost the mouse capture: Windows does not always report
// that, and without the capture no message reports that the button was released.
void Shell::ReleaseIfCaptureLost() {
  if (desktop_.simulation().held() != kNobody && GetCapture() == nullptr) {
    desktop_.Release(static_cast<double>(GetTickCount()));
  }
}

void Shell::HandleResponses() {
  const std::vector<Response> responses = carrier_.PopResponses();
  if (!responses.empty()) {
    desktop_.Tick(NowMs());  // so that they are handled at the time of now, not of the last frame
  }
  for (const Response& response : responses) {
    desktop_.HandleResponse(response);
  }
}

void Shell::HandleImported() {
  for (const ImportResult& result : importer_.PopResults()) {
    if (result.sheet == nullptr) {
      tray_.ShowToast({ToastKind::kNotice, "Can't import " + result.name, result.error});
      continue;
    }
    desktop_.AddToShelf(result.sheet);
    desktop_.DropIn(result.sheet->file, std::nullopt);
  }
}

void Shell::HandleOutbox(Outbox outbox) {
  if (!outbox.saved_state.empty()) {
    WriteFileAtomically(folder_ / L"kept.json", outbox.saved_state);
  }
  for (const RequestId id : outbox.cancelled) {
    carrier_.Cancel(id);
  }
  for (Request& request : outbox.requests) {
    carrier_.Send(std::move(request));
  }
  for (const Toast& toast : outbox.toasts) {
    tray_.ShowToast(toast);
  }
  if (desktop_.settings().sound && !outbox.sounds.empty()) {
    sounds_.Play(outbox.sounds.back());
  }
}

// Hides the sprites, leaves the relay, and waits a moment until the request has been sent.
void Shell::LeaveRelay() {
  if (std::exchange(has_left_, true)) {
    return;
  }
  windows_.Show(Scene{});
  desktop_.Leave();
  HandleOutbox(desktop_.PopOutbox());
  const int64_t until_ms = NowMs() + kLeaveMsMax;
  while (!carrier_.IsIdle() && NowMs() < until_ms) {
    WaitForSingleObject(wake_event_.get(), kModalFrameMs);
  }
}

int64_t Shell::NowMs() const {
  const auto passed = std::chrono::steady_clock::now() - start_;
  return std::chrono::duration_cast<std::chrono::milliseconds>(passed).count();
}

// -- What the user does with a sprite.

void Shell::Grabbed(SpriteId id, Point point, double ms) {
  desktop_.Grab(id, point, ms);
  RequestTurn();
}

void Shell::Dragged(Point point, double ms) {
  desktop_.Drag(point, ms);
  RequestTurn();
}

void Shell::Released(double ms) {
  desktop_.Release(ms);
  RequestTurn();
}

void Shell::Clicked(SpriteId id) { desktop_.Select(id); }

void Shell::DoubleClicked(SpriteId) { Close(); }

void Shell::RightClicked(SpriteId id, POINT point) {
  const Sprite* sprite = desktop_.simulation().Find(id);
  if (sprite == nullptr || modal_depth_ > 0) {
    return;
  }
  const Sprite copy = *sprite;  // because the sprite may leave while the menu is open
  const MenuChoice choice = [&] {
    const ModalScope modal(this);
    return ShowSpriteMenu(window_, point, copy);
  }();
  if (choice.command == MenuCommand::kThrow) {
    desktop_.ThrowTo(id, static_cast<Edge>(choice.index));
  } else if (choice.command == MenuCommand::kPutAway) {
    desktop_.PutAway(id);
  }
  RequestTurn();
}

void Shell::Pressed(Key key, bool is_down) {
  desktop_.Press(key, is_down);
  RequestTurn();
}

void Shell::KeysLost() {
  if (desktop_.simulation().held() == kNobody) {
    desktop_.Select(kNobody);
  }
}

void Shell::Dropped(std::vector<std::wstring> paths) { importer_.Import(std::move(paths)); }

// -- The menu.

void Shell::ShowMenu(POINT point) {
  if (modal_depth_ > 0) {
    return;
  }
  const MenuChoice choice = [&] {
    const ModalScope modal(this);
    return ShowTrayMenu(window_, point, desktop_);
  }();
  HandleChoice(choice);
  RequestTurn();
}

void Shell::HandleChoice(const MenuChoice& choice) {
  switch (choice.command) {
    case MenuCommand::kDropIn:
      if (choice.index < desktop_.shelf().size()) {
        desktop_.DropIn(desktop_.shelf()[choice.index]->file, std::nullopt);
      }
      break;
    case MenuCommand::kMute:
      desktop_.Mute({choice.name, choice.name}, choice.is_on);
      SaveSettings();
      break;
    case MenuCommand::kPause:
      desktop_.Pause(choice.is_on);
      break;
    case MenuCommand::kSettings:
      EditSettings();
      break;
    case MenuCommand::kAbout:
      ShowAbout();
      break;
    case MenuCommand::kQuit:
      is_ending_ = true;
      break;
    default:
      break;
  }
}

void Shell::EditSettings() {
  Settings before = desktop_.settings();
  before.start_with_system = IsAutostartOn();
  const auto edited = [&] {
    const ModalScope modal(this);
    return AskForSettings(window_, before);
  }();
  if (edited) {
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
  desktop_.SetSettings(settings);
  SaveSettings();
}

void Shell::SaveSettings() {
  if (!WriteFileAtomically(folder_ / L"settings.json", SettingsJson(desktop_.settings()))) {
    tray_.ShowToast({ToastKind::kNotice, "Settings",
                     "The settings can't be written to " + Narrow(folder_.wstring()) + "."});
  }
}

void Shell::ShowAbout() {
  const ModalScope modal(this);
  MSGBOXPARAMSW box{};
  box.cbSize = sizeof box;
  box.hwndOwner = window_;
  box.hInstance = GetModuleHandleW(nullptr);
  box.lpszText = kAbout;
  box.lpszCaption = L"About Sprites";
  box.dwStyle = MB_OK | MB_TOPMOST | MB_USERICON;
  box.lpszIcon = MAKEINTRESOURCEW(IDI_PROGRAM);
  MessageBoxIndirectW(&box);
}

// Ends the program; asks first if the user has set it to.
void Shell::Close() {
  if (is_ending_ || modal_depth_ > 0) {
    return;
  }
  if (desktop_.settings().ask_before_closing) {
    const ModalScope modal(this);
    const int button = MessageBoxW(
        window_, L"Close Sprites?\n\nAll sprites here will be back when it starts again.",
        L"Sprites", MB_YESNO | MB_ICONQUESTION | MB_TOPMOST);
    if (button != IDYES) {
      return;
    }
  }
  is_ending_ = true;
}

void Shell::DropInAnySprite() {
  const auto& shelf = desktop_.shelf();
  if (!shelf.empty()) {
    const size_t index = static_cast<size_t>(NowMs()) % shelf.size();
    desktop_.DropIn(shelf[index]->file, std::nullopt);
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
  SetWindowLongPtrW(window, GWLP_USERDATA, reinterpret_cast<LONG_PTR>(this));
  return window;
}

LRESULT CALLBACK Shell::OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam) {
  auto* own = reinterpret_cast<Shell*>(GetWindowLongPtrW(window, GWLP_USERDATA));
  return own == nullptr ? DefWindowProcW(window, message, wparam, lparam)
                        : own->HandleMessage(message, wparam, lparam);
}

LRESULT Shell::HandleMessage(UINT message, WPARAM wparam, LPARAM lparam) {
  if (message == taskbar_created_) {
    tray_.Add();
    return 0;
  }
  switch (message) {
    case kTrayMessage: {
      const UINT event = LOWORD(lparam);
      if (event == WM_CONTEXTMENU || event == NIN_SELECT || event == NIN_KEYSELECT) {
        ShowMenu({GET_X_LPARAM(wparam), GET_Y_LPARAM(wparam)});
      }
      return 0;
    }
    case WM_COPYDATA: {
      auto paths = ReadSentPaths(*reinterpret_cast<const COPYDATASTRUCT*>(lparam));
      if (!paths) {
        return FALSE;
      }
      if (paths->empty()) {
        DropInAnySprite();
      }
      importer_.Import(std::move(*paths));
      RequestTurn();
      return TRUE;
    }
    case WM_TIMER:
      Turn();
      return 0;
    case WM_DISPLAYCHANGE:
    case WM_SETTINGCHANGE:
      surroundings_.MonitorsMayHaveChanged();
      RequestTurn();
      return 0;
    case WM_POWERBROADCAST:
      if (wparam == PBT_APMRESUMEAUTOMATIC) {
        desktop_.NetworkIsBack();
        RequestTurn();
      }
      return TRUE;
    case WM_CLOSE:
      is_ending_ = true;
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
