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
#include "win32/monitors.h"
#include "win32/other_windows.h"
#include "win32/resource.h"
#include "win32/settings_dialog.h"
#include "win32/single_instance.h"
#include "win32/text16.h"

namespace sprites {

namespace {

constexpr int64_t kLookMs = 100;         // between two looks at windows; the hook nudges between
constexpr int64_t kLookMsStanding = 33;  // while somebody stands on one
constexpr int64_t kMonitorsMs = 1'000;   // between two looks at monitors
constexpr int64_t kPlacesMs = 500;       // between two looks at where windows belong
constexpr DWORD kFarewellMs = 2'000;     // ms the relay has for our good-bye
constexpr UINT kModalFrameMs = 16;       // ms of a frame while a menu is open
constexpr UINT_PTR kModalTimer = 1;
constexpr size_t kFirstSprites = 3;  // who falls in on the very first start
constexpr double kOnFloorPx = 2;     // px a foot may be above the floor and stand on it

constexpr wchar_t kAbout[] =
    L"Sprites 0.1.0\n\n"
    L"Throw a sprite off the edge of your desktop, and it lands on your neighbour's.\n\n"
    L"Drag and let go: throw. Click, then arrow keys and space: run and jump.\n"
    L"Double click: close. Drop a picture on a sprite: it becomes one.\n\n"
    L"MIT licence; the characters are CC0.";

Random NewRandom() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0, 1)(engine);
  };
}

Settings ReadOwnSettings(const std::filesystem::path& folder, std::string* complaint) {
  const auto text = ReadWholeFile(folder / L"settings.json", kSettingsBytesMax);
  Settings settings = text ? ReadSettings(*text, complaint) : Settings{};
  settings.start_with_system = IsAutostartOn();
  return settings;
}

}  // namespace

class Shell::Modal {
 public:
  explicit Modal(Shell* shell) : shell_(shell) {
    if (shell_->modal_++ == 0) {
      SetTimer(shell_->window_, kModalTimer, kModalFrameMs, nullptr);
    }
  }
  ~Modal() {
    if (--shell_->modal_ == 0) {
      KillTimer(shell_->window_, kModalTimer);
    }
  }
  Modal(const Modal&) = delete;
  Modal& operator=(const Modal&) = delete;

 private:
  Shell* shell_;
};

Shell::Shell(std::filesystem::path folder)
    : folder_(std::move(folder)),
      settings_(ReadOwnSettings(folder_, &complaint_)),
      window_(MakeWindow()),
      tray_(window_),
      bell_(CreateEventW(nullptr, FALSE, FALSE, nullptr)),
      cache_(folder_ / L"files", static_cast<uint64_t>(settings_.cache_mib) << 20),
      carrier_(&transport_, &cache_, [this] { SetEvent(bell_.get()); }),
      importer_(&cache_, [this] { SetEvent(bell_.get()); }),
      desktop_(settings_, NewRandom()),
      windows_(this),
      task_bar_made_(RegisterWindowMessageW(L"TaskbarCreated")) {}

Shell::~Shell() {
  SetWindowLongPtrW(window_, GWLP_USERDATA, 0);
  DestroyWindow(window_);
}

void Shell::Run(std::vector<std::wstring> paths) {
  Start(std::move(paths));
  Turn();
  while (!ends_) {
    const HANDLE handles[] = {pacer_.timer(), bell_.get()};
    const DWORD woken =
        MsgWaitForMultipleObjectsEx(2, handles, INFINITE, QS_ALLINPUT, MWMO_INPUTAVAILABLE);
    if (woken <= WAIT_OBJECT_0 + 1) {
      Turn();
    }
    HandleMessages();
  }
  Farewell();
}

void Shell::HandleMessages() {
  MSG message;
  while (!ends_ && PeekMessageW(&message, nullptr, 0, 0, PM_REMOVE)) {
    if (message.message == WM_QUIT) {
      ends_ = true;
    }
    TranslateMessage(&message);
    DispatchMessageW(&message);
  }
}

void Shell::Start(std::vector<std::wstring> paths) {
  LookAround(NowMs());
  for (const SheetPointer& sheet : BundledCharacters(&cache_)) {
    desktop_.AddToShelf(sheet);
  }
  for (const std::string& file : cache_.Own()) {
    try {
      if (const auto bytes = cache_.Find(file)) {
        desktop_.AddToShelf(ReadSheet(*bytes));
      }
    } catch (const SprRefused&) {
      // Of a version of this program that took more; it stays on disk.
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
  if (!complaint_.empty()) {
    tray_.ShowToast({ToastKind::kNotice, "Settings", complaint_});
  }
}

// -- A turn.

void Shell::Turn() {
  stirred_ = false;
  const int64_t now_ms = NowMs();
  LookAround(now_ms);
  LetGoOfLost();
  TakeAnswers();
  ShowImported();
  const Scene& scene = desktop_.Tick(NowMs());
  CarryOut(desktop_.PopOutbox());
  windows_.Show(scene);
  tray_.SetTooltip("Sprites: " + StatusOf(desktop_));
  const double look_ms = static_cast<double>(AnySpriteOnWindow() ? kLookMsStanding : kLookMs);
  pacer_.Schedule(std::min(scene.idle_ms, scene.sprites.empty() ? kIdleMsMax : look_ms));
}

// Somebody did something: the next turn comes with the next refresh.
void Shell::Stir() {
  if (!std::exchange(stirred_, true)) {
    pacer_.Schedule(0);
  }
}

void Shell::LookAround(int64_t now_ms) {
  if (screen_changed_ || now_ms - measured_ms_ >= kMonitorsMs) {
    measured_ms_ = now_ms;
    screen_changed_ = false;
    const std::vector<Monitor> monitors = MonitorsNow();
    if (!monitors.empty() && Screen(monitors) != desktop_.simulation().screen()) {
      desktop_.SetMonitors(monitors);
    }
  }
  const int64_t look_ms = AnySpriteOnWindow() ? kLookMsStanding : kLookMs;
  if (watch_.MayHaveChanged() || now_ms - looked_ms_ >= look_ms) {
    looked_ms_ = now_ms;
    if (watch_.Look()) {
      desktop_.SetWindows(watch_.windows());
    }
  }
  LookAtPlaces(now_ms);
}

// If asked to: puts windows back that a full-screen program, or a cable, has moved.
void Shell::LookAtPlaces(int64_t now_ms) {
  if (!desktop_.settings().restore_windows || now_ms - placed_ms_ < kPlacesMs) {
    return;
  }
  placed_ms_ = now_ms;
  const std::vector<Monitor> monitors = MonitorsNow();
  const std::vector<OpenWindow> windows = OtherWindowsNow();
  if (monitors != MonitorsNow()) {
    return;  // they changed just now: some of these places are of before, some of after
  }
  const auto covered = FullScreenMonitors(watch_.windows(), Screen(monitors));
  const bool is_full_screen = std::ranges::find(covered, true) != covered.end();
  PutBackNow(places_.Look(monitors, windows, is_full_screen, now_ms));
}

bool Shell::AnySpriteOnWindow() const {
  const Simulation& simulation = desktop_.simulation();
  return std::ranges::any_of(simulation.sprites(), [&](const Sprite& sprite) {
    const Monitor& monitor = simulation.screen().monitors()[sprite.monitor];
    return RulesOf(sprite.mode).on_feet && sprite.y < monitor.work.bottom - kOnFloorPx;
  });
}

// Capture may be gone without a word: then nobody will tell us that the button came up.
void Shell::LetGoOfLost() {
  if (desktop_.simulation().held() != kNobody && GetCapture() == nullptr) {
    desktop_.Release(static_cast<double>(GetTickCount()));
  }
}

void Shell::TakeAnswers() {
  const std::vector<Response> responses = carrier_.PopResponses();
  if (!responses.empty()) {
    desktop_.Tick(NowMs());  // they come now, not when the last frame was
  }
  for (const Response& response : responses) {
    desktop_.HandleResponse(response);
  }
}

void Shell::ShowImported() {
  for (const ImportResult& result : importer_.PopResults()) {
    if (result.sheet == nullptr) {
      tray_.ShowToast({ToastKind::kNotice, "Can't import " + result.name, result.error});
      continue;
    }
    desktop_.AddToShelf(result.sheet);
    desktop_.DropIn(result.sheet->file, std::nullopt);
  }
}

void Shell::CarryOut(Outbox outbox) {
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

// Says good-bye to the relay, which has a moment to hear it.
void Shell::Farewell() {
  if (std::exchange(has_left_, true)) {
    return;
  }
  windows_.Show(Scene{});
  desktop_.Leave();
  CarryOut(desktop_.PopOutbox());
  const int64_t until_ms = NowMs() + kFarewellMs;
  while (!carrier_.IsIdle() && NowMs() < until_ms) {
    WaitForSingleObject(bell_.get(), kModalFrameMs);
  }
}

int64_t Shell::NowMs() const {
  const auto passed = std::chrono::steady_clock::now() - start_;
  return std::chrono::duration_cast<std::chrono::milliseconds>(passed).count();
}

// -- What people do to a sprite.

void Shell::Grabbed(SpriteId id, Point point, double ms) {
  desktop_.Grab(id, point, ms);
  Stir();
}

void Shell::Dragged(Point point, double ms) {
  desktop_.Drag(point, ms);
  Stir();
}

void Shell::Released(double ms) {
  desktop_.Release(ms);
  Stir();
}

void Shell::Clicked(SpriteId id) { desktop_.Select(id); }

void Shell::DoubleClicked(SpriteId) { Close(); }

void Shell::RightClicked(SpriteId id, POINT point) {
  const Sprite* sprite = desktop_.simulation().Find(id);
  if (sprite == nullptr || modal_ > 0) {
    return;
  }
  const Sprite known = *sprite;  // it may leave while the menu is open
  const MenuChoice choice = [&] {
    const Modal modal(this);
    return ShowSpriteMenu(window_, point, known);
  }();
  if (choice.command == MenuCommand::kThrow) {
    desktop_.ThrowTo(id, static_cast<Edge>(choice.index));
  } else if (choice.command == MenuCommand::kPutAway) {
    desktop_.PutAway(id);
  }
  Stir();
}

void Shell::Pressed(Key key, bool is_down) {
  desktop_.Press(key, is_down);
  Stir();
}

void Shell::KeysLost() {
  if (desktop_.simulation().held() == kNobody) {
    desktop_.Select(kNobody);
  }
}

void Shell::Dropped(std::vector<std::wstring> paths) { importer_.Import(std::move(paths)); }

// -- The menu.

void Shell::ShowMenu(POINT point) {
  if (modal_ > 0) {
    return;
  }
  const MenuChoice choice = [&] {
    const Modal modal(this);
    return ShowTrayMenu(window_, point, desktop_);
  }();
  Obey(choice);
  Stir();
}

void Shell::Obey(const MenuChoice& choice) {
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
      TellAbout();
      break;
    case MenuCommand::kQuit:
      ends_ = true;
      break;
    default:
      break;
  }
}

void Shell::EditSettings() {
  Settings before = desktop_.settings();
  before.start_with_system = IsAutostartOn();
  const auto edited = [&] {
    const Modal modal(this);
    return AskForSettings(window_, before);
  }();
  if (edited) {
    Adopt(*edited);
  }
}

void Shell::Adopt(const Settings& settings) {
  if (settings.start_with_system != IsAutostartOn()) {
    SetAutostart(settings.start_with_system);
  }
  if (!settings.restore_windows) {
    places_ = WindowPlaces();
  }
  desktop_.SetSettings(settings);
  SaveSettings();
}

void Shell::SaveSettings() {
  if (!WriteFileAtomically(folder_ / L"settings.json", SettingsJson(desktop_.settings()))) {
    tray_.ShowToast({ToastKind::kNotice, "Settings",
                     "They can't be written to " + Narrow(folder_.wstring()) + "."});
  }
}

void Shell::TellAbout() {
  const Modal modal(this);
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

// All sprites, and the program.
void Shell::Close() {
  if (ends_ || modal_ > 0) {
    return;
  }
  if (desktop_.settings().ask_before_closing) {
    const Modal modal(this);
    const int answer =
        MessageBoxW(window_, L"Close Sprites?\n\nWhoever is here comes back when it starts again.",
                    L"Sprites", MB_YESNO | MB_ICONQUESTION | MB_TOPMOST);
    if (answer != IDYES) {
      return;
    }
  }
  ends_ = true;
}

void Shell::DropInSomebody() {
  const auto& shelf = desktop_.shelf();
  if (!shelf.empty()) {
    const size_t one = static_cast<size_t>(NowMs()) % shelf.size();
    desktop_.DropIn(shelf[one]->file, std::nullopt);
  }
}

// -- The window that nobody sees.

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

LRESULT CALLBACK Shell::OnMessage(HWND window, UINT message, WPARAM wide, LPARAM wider) {
  auto* own = reinterpret_cast<Shell*>(GetWindowLongPtrW(window, GWLP_USERDATA));
  return own == nullptr ? DefWindowProcW(window, message, wide, wider)
                        : own->Take(message, wide, wider);
}

LRESULT Shell::Take(UINT message, WPARAM wide, LPARAM wider) {
  if (message == task_bar_made_) {
    tray_.Add();
    return 0;
  }
  switch (message) {
    case kTrayMessage: {
      const UINT event = LOWORD(wider);
      if (event == WM_CONTEXTMENU || event == NIN_SELECT || event == NIN_KEYSELECT) {
        ShowMenu({GET_X_LPARAM(wide), GET_Y_LPARAM(wide)});
      }
      return 0;
    }
    case WM_COPYDATA: {
      auto paths = ReadSentPaths(*reinterpret_cast<const COPYDATASTRUCT*>(wider));
      if (!paths) {
        return FALSE;
      }
      if (paths->empty()) {
        DropInSomebody();
      }
      importer_.Import(std::move(*paths));
      Stir();
      return TRUE;
    }
    case WM_TIMER:
      Turn();
      return 0;
    case WM_DISPLAYCHANGE:
    case WM_SETTINGCHANGE:
      screen_changed_ = true;
      Stir();
      return 0;
    case WM_POWERBROADCAST:
      if (wide == PBT_APMRESUMEAUTOMATIC) {
        desktop_.NetworkIsBack();
        Stir();
      }
      return TRUE;
    case WM_CLOSE:
      ends_ = true;
      return 0;
    case WM_ENDSESSION:
      if (wide != 0) {  // once this has returned the program may be gone
        ends_ = true;
        Farewell();
      }
      return 0;
    default:
      return DefWindowProcW(window_, message, wide, wider);
  }
}

}  // namespace sprites
