#include "x11/shell.h"

#include <gio/gio.h>
#include <glib-unix.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <utility>

#include "core/picture/bundled_files.h"
#include "posix/files.h"
#include "posix/photo.h"
#include "x11/system/main_loop.h"
#include "x11/windows/layer_display.h"
#include "x11/windows/x_display.h"

namespace sprites {

namespace {

constexpr int kLeaveCheckMs = 16;   // ms between two looks whether the desktop has left
constexpr int64_t kPointerMs = 50;  // between two looks at the pointer: a round trip each

// Of a clock that goes on while the machine sleeps, so that the core notices that it has slept.
int64_t BootMs() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000;
}

Settings WithOptions(Settings settings, const ShellOptions& options) {
  settings.relay = options.relay.empty() ? settings.relay : options.relay;
  settings.name = options.name.empty() ? settings.name : options.name;
  return WithinLimits(settings);
}

std::unique_ptr<SpriteDisplay> MakeDisplay(bool has_layers, SpriteListener* listener) {
  if (has_layers) {
    return std::make_unique<LayerDisplay>(listener);
  }
  return std::make_unique<XDisplay>(listener);
}

// Shows what has changed in a window that may be open, and removes it when the person has closed
// it.
template <typename Window>
void TurnWindow(std::unique_ptr<Window>* window) {
  if (*window) {
    (*window)->Turn();
    if ((*window)->is_closed()) {
      window->reset();
    }
  }
}

}  // namespace

Shell::Shell(const Folders& folders, const ShellOptions& options, SingleInstance* instance)
    : start_ms_(BootMs()),
      instance_(instance),
      has_options_(!options.relay.empty() || !options.name.empty()),
      has_layers_(StartGtk()),
      controller_({.files = SystemFiles(),
                   .kept = folders.data / "kept.json",
                   .settings = folders.config / "settings.json",
                   .pictures = folders.data / "files",
                   .sounds = folders.data / "sounds",
                   .photographs = PicturesFolder(),
                   .transport = &transport_,
                   .decode = [](std::span<const uint8_t> bytes) { return DecodePhoto(bytes); },
                   .wake = [this] { wake_.Wake(); },
                   .complete = [&](Settings settings) { return WithOptions(settings, options); }},
                  this),
      desktop_(controller_.desktop()),
      display_(MakeDisplay(has_layers_, &controller_)),
      look_{1, display_->is_composited(), has_layers_, {}},
      characters_(BundledCharacters(controller_.cache())),
      bubble_(
          &look_, "Sprites bubble",
          [this] {
            controller_.DismissBubble();
            RequestTurn();
          },
          kNoticeWidthMax),
      notice_(&look_, "Sprites notice", [this] { HandleToastClicked(); }),
      saying_bubbles_(&look_),
      notifier_(characters_.empty() ? Parcel() : characters_.front(),
                [this](Point point) { ShowProgramMenu(point); }) {
  WatchSystem();
  desktop_.look().SetGroundShown(look_.is_composited);
}

Shell::~Shell() = default;

void Shell::WatchSystem() {
  Watch(pacer_.fd(), &is_due_);
  Watch(wake_.fd(), &is_due_);
  Watch(display_->fd(), &has_news_);
  Watch(instance_->fd(), &has_news_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto end = +[](gpointer is_ending) -> gboolean {
      *static_cast<bool*>(is_ending) = true;
      return G_SOURCE_CONTINUE;
    };
    g_unix_signal_add(signal, end, &is_ending_);
  }
  const auto handle_network = +[](GNetworkMonitor*, gboolean, gpointer shell) {
    static_cast<Shell*>(shell)->desktop_.NetworkIsBack();
  };
  g_signal_connect(g_network_monitor_get_default(), "network-changed", G_CALLBACK(handle_network),
                   this);
  const auto handle_power = +[](GPowerProfileMonitor* power, GParamSpec*, gpointer shell) {
    static_cast<Shell*>(shell)->desktop_.look().SetSavingPower(
        g_power_profile_monitor_get_power_saver_enabled(power) != FALSE);
  };
  GPowerProfileMonitor* power = g_power_profile_monitor_dup_default();  // one for the process
  g_signal_connect(power, "notify::power-saver-enabled", G_CALLBACK(handle_power), this);
  handle_power(power, nullptr, this);
}

void Shell::Run(Arguments arguments) {
  Start(std::move(arguments));
  Turn();
  while (!is_ending_) {
    Wait();
    HandleEvents();
    is_ending_ = is_ending_ || display_->IsLost();
  }
  LeaveRelay();
}

void Shell::Start(Arguments arguments) {
  desktop_.SetSystemLanguage(LanguageOf(g_get_language_names()[0]));
  desktop_.updates().SetAsks(false);
  HandleSurroundings();
  controller_.Start(characters_, !arguments.paths.empty());
  desktop_.Hide(arguments.hides);
  controller_.Import({arguments.paths.begin(), arguments.paths.end()});
  if (arguments.link) {
    controller_.OpenLink(*arguments.link);
  } else if (desktop_.settings().relay.empty()) {
    controller_.AskWhereToGo(true, "");
  } else if (arguments.opens_menu) {
    ShowProgramMenu({});
  }
  const std::optional<Reason>& error = controller_.settings_error();
  const std::string complaints =
      Complaints({&controller_.settings_file(), &controller_.kept_file()}, desktop_.language());
  if (!complaints.empty()) {
    ShowToast({ToastKind::kNotice, Said(Text::kToastOwnFile), complaints});
  } else if (error) {
    ShowToast({ToastKind::kNotice, Said(Text::kToastSettings), Say(desktop_.language(), *error)});
  }
  if (controller_.settings_file().is_unreadable() || (has_options_ && !error)) {
    controller_.SaveSettings();
  }
}

// Waits until there is something to do. Takes what is readable besides the X server and the timer.
void Shell::Wait() {
  display_->Flush();
  is_due_ = false;
  has_news_ = false;
  g_main_context_iteration(nullptr, TRUE);
  if (!is_due_ && !has_news_) {
    RequestTurn();  // the person has used a window of GTK, or the panel
  }
  if (auto arguments = instance_->Receive()) {
    HandleArguments(std::move(*arguments));
  }
  if (is_due_) {
    wake_.Clear();
    HandleEvents();  // the pointer first: the frame shows a held sprite where it is now
    Turn();
  }
}

void Shell::HandleEvents() {
  if (display_->HandleEvents()) {
    RequestTurn();
  }
}

// A second instance has been started with these.
void Shell::HandleArguments(Arguments arguments) {
  if (arguments.link) {
    controller_.OpenLink(*arguments.link);
  } else if (arguments.opens_menu) {
    ShowProgramMenu({});
  } else if (arguments.hides) {
    desktop_.Hide(!desktop_.is_hidden());
  } else if (arguments.paths.empty()) {
    controller_.DropInAnySprite();
  }
  controller_.Import({arguments.paths.begin(), arguments.paths.end()});
  RequestTurn();
}

// -- One turn.

void Shell::Turn() {
  pacer_.BeginTurn();
  HandleSurroundings();
  LookAtPointer();
  const Scene& scene = controller_.Turn();
  display_->Show(scene);
  // One thing at a time: a dialog would cover what the sprite says.
  const Scene own = dialog_ ? Scene{} : controller_.OwnBubble(scene);
  bubble_.Show(menu_.is_open() ? Scene{} : own);
  saying_bubbles_.Show(menu_.is_open() ? Scene{} : scene);  // or they would cover it
  TurnWindow(&say_window_);
  TurnWindow(&company_window_);
  menu_.Turn();
  if (!menu_.is_open()) {
    display_->EndMenu();
  }
  UpdateDialog();
  UpdateTray();
  if (notice_.is_shown() && NowMs() >= notice_until_ms_) {
    notice_.Hide();
  }
  pacer_.SetHalved(scene.saves_power);
  pacer_.EndTurn(IdleMs(scene));
}

double Shell::IdleMs(const Scene& scene) const {
  const double idle_ms = menu_.IsPending() ? 0 : std::min(scene.idle_ms, kIdleMsMax);
  return std::min(idle_ms, display_->IdleMs(desktop_, NowMs()));
}

void Shell::HandleSurroundings() {
  HandleCompositor();
  if (!display_->Update(&desktop_, NowMs())) {
    return;
  }
  look_.monitors = display_->monitors();
  look_.scale = look_.monitors.empty() ? 1 : look_.monitors.front().scale;
  if (!menu_.is_open()) {
    saying_bubbles_.Raise();
  }
}

// Without a compositor, a soft shadow would be a hard one.
void Shell::HandleCompositor() {
  if (look_.is_composited != display_->is_composited()) {
    look_.is_composited = display_->is_composited();
    desktop_.look().SetGroundShown(look_.is_composited);
  }
}

// Asks for the pointer when a sprite is held, and every kPointerMs: once for both.
void Shell::LookAtPointer() {
  const bool has_hold = desktop_.simulation().held() != kNobody;
  const bool is_due = NowMs() >= pointer_due_ms_;
  PointerNow pointer;
  if (has_hold || is_due) {
    pointer = display_->Pointer();
  }
  ReleaseIfHoldLost(has_hold, pointer.is_first_down);
  if (is_due) {
    pointer_due_ms_ = NowMs() + kPointerMs;
    HandlePointer(pointer);
  }
}

// Releases the held sprite if the button has long been up: X does not always report that, for
// example when another program has grabbed the pointer meanwhile.
void Shell::ReleaseIfHoldLost(bool has_hold, bool is_down) {
  if (hold_watch_.Update(has_hold, has_hold && is_down, NowMs())) {
    display_->ForgetHold();
    desktop_.sprites().Release(static_cast<double>(NowMs()));
  }
}

// Sprites look at a pointer that moves, enjoy being stroked by it, and are tired in the evening. A
// pointer that rests at an edge looks over it.
void Shell::HandlePointer(const PointerNow& pointer) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  if (localtime_r(&now, &local) != nullptr) {
    desktop_.sprites().SetClock({now, now + local.tm_gmtoff});
  }
  if (pointer.is_here && desktop_.simulation().held() == kNobody &&
      (pointer.point.x != pointer_.x || pointer.point.y != pointer_.y)) {
    pointer_ = pointer.point;
    desktop_.sprites().MovePointer(pointer_);
  }
  if (pointer.is_here && desktop_.peeking().CanPeek()) {
    desktop_.peeking().SetPointer(pointer.point, pointer.is_any_down, NowMs());
  }
}

void Shell::UpdateTray() { notifier_.SetTooltip(TooltipOf(desktop_)); }

// Hides the sprites and leaves the relay. The X server may have ended: then what is sent to it goes
// nowhere.
void Shell::LeaveRelay() {
  instance_->StopReceiving();
  menu_.Close();
  dialog_.reset();
  say_window_.reset();
  company_window_.reset();
  bubble_.Show(Scene{});
  notice_.Hide();
  saying_bubbles_.Show(Scene{});
  display_->Show({});
  display_->Flush();
  controller_.Leave([this] {
    pollfd source{wake_.fd(), POLLIN, 0};
    poll(&source, 1, kLeaveCheckMs);
    wake_.Clear();
  });
}

int64_t Shell::NowMs() const { return BootMs() - start_ms_; }

void Shell::OpenMenuOver(const Sprite& sprite, Point point) {
  controller_.HandleMenuOpened();
  menu_.Open(
      MenuOver(desktop_, sprite, ProgramMenuHere()),
      [this, point] { return display_->CornerAt(point); },
      [this, sprite](const MenuChoice& choice) { controller_.HandleSpriteChoice(choice, sprite); });
}

}  // namespace sprites
