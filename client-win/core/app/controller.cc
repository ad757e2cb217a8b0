#include "core/app/controller.h"

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "core/text/text.h"
#include "core/words/choices_menu.h"
#include "core/words/link_words.h"

namespace sprites {

namespace {

constexpr size_t kCharactersShown = 5;  // in a dialog
constexpr Rect kLabelRoom{0, 0, kAnimationSideMax, kAnimationSideMax};

Random NewRandom() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0, 1)(engine);
  };
}

}  // namespace

Controller::Controller(const Platform& platform, Host* host)
    : host_(host),
      folder_(platform.kept.parent_path()),
      kept_file_(platform.files, platform.kept, kSavedBytesMax, LegibleState),
      settings_file_(platform.files, platform.settings, kSettingsBytesMax, LegibleSettings),
      settings_(platform.complete(SettingsOf(settings_file_, kept_file_.text(), &settings_error_))),
      cache_(platform.pictures, static_cast<uint64_t>(settings_.cache_mib) << 20),
      carrier_(platform.transport, &cache_, platform.wake),
      state_writer_([this](const std::string& text) { return kept_file_.Write(text); },
                    platform.wake),
      settings_writer_([this](const std::string& text) { return settings_file_.Write(text); },
                       platform.wake),
      importer_(&cache_, platform.decode, platform.wake),
      camera_(platform.photographs, platform.files.write, platform.wake),
      own_sounds_(platform.sounds,
                  [this](const char* name, const Reason& reason) {
                    host_->ShowToast({ToastKind::kNotice, Said(Text::kToastSound, {name}),
                                      Say(desktop_.language(), reason)});
                  }),
      desktop_(settings_, platform.random ? platform.random : NewRandom()) {}

void Controller::Start(std::span<const SheetPointer> characters, bool brings_files) {
  for (const SheetPointer& sheet : characters) {
    desktop_.look().AddToShelf(sheet);
  }
  for (const std::string& file : cache_.Own()) {
    try {
      if (const auto bytes = cache_.Find(file)) {
        desktop_.look().AddToShelf(ReadSheet(*bytes));
      }
    } catch (const SprRefused&) {
      // A version of this program with other limits has accepted the file; it stays on disk.
    }
  }
  desktop_.Restore(kept_file_.text(), true);
  if (kept_file_.is_new() && !brings_files) {
    for (size_t i = 0; i < std::min(kFirstSprites, desktop_.look().shelf().size()); i++) {
      desktop_.sprites().DropIn(desktop_.look().shelf()[i]->file, std::nullopt);
    }
  }
}

const Scene& Controller::Turn() {
  desktop_.HandleResponses(carrier_.PopResponses(), host_->NowMs());
  HandleImported();
  HandleSavedPicture();
  const Scene& scene = desktop_.Tick(host_->NowMs());
  camera_.Watch(scene, host_->NowMs());
  HandleOutbox(desktop_.PopOutbox());
  return scene;
}

void Controller::Leave(const std::function<void()>& wait) {
  desktop_.Leave();
  HandleOutbox(desktop_.PopOutbox());
  const int64_t until_ms = host_->NowMs() + kLeaveMsMax;
  const auto is_done = [this] {
    return desktop_.HasLeft() && state_writer_.IsIdle() && settings_writer_.IsIdle();
  };
  while (!is_done() && host_->NowMs() < until_ms) {
    wait();
    desktop_.HandleResponses(carrier_.PopResponses(), host_->NowMs());
    desktop_.Tick(host_->NowMs());
    HandleOutbox(desktop_.PopOutbox());
  }
}

void Controller::HandleImported() {
  for (ImportResult& result : importer_.PopResults()) {
    if (result.left_out) {
      const std::string name = ReadDescription(result.made.spr).name;
      AskWhether(QuestionAboutPack(desktop_.language(), name, *result.left_out),
                 [this, spr = std::move(result.made.spr)] { DropInOwn(StoreOwn(&cache_, spr)); });
      continue;
    }
    if (result.sheet == nullptr) {
      host_->ShowToast(
          {ToastKind::kNotice, Said(Text::kToastImport, {result.name}),
           Say(desktop_.language(), result.error.value_or(Reason{Text::kImportFailed}))});
      continue;
    }
    DropInOwn(result.sheet);
    if (result.made.is_cut) {
      ShowNotice(Text::kToastCut, Text::kToastCutText, {result.sheet->description.name});
    }
    desktop_.look().versions().Add(std::move(result.made));
  }
}

void Controller::DropInOwn(const SheetPointer& sheet) {
  desktop_.look().AddToShelf(sheet);
  desktop_.sprites().DropIn(sheet->file, std::nullopt);
  host_->RequestTurn();
}

void Controller::HandleOutbox(Outbox outbox) {
  for (const RequestId id : outbox.cancelled) {
    state_writer_.Cancel(id);
    carrier_.Cancel(id);
  }
  state_writer_.Add(std::move(outbox.saved_state), std::move(outbox.requests));
  HandleWriters();
  if (outbox.settings_changed) {
    SaveSettings();
  }
  if (outbox.update) {
    host_->HandleUpdate(*outbox.update);
  }
  if (outbox.installer) {
    host_->HandleInstaller(*outbox.installer);
  }
  for (const Toast& toast : outbox.toasts) {
    host_->ShowToast(toast);
  }
  if (!outbox.sounds.empty()) {
    Play(outbox.sounds.back());
  }
}

// If the settings allow it.
void Controller::Play(Sound sound) {
  const Settings& settings = desktop_.settings();
  if (settings.sound && settings.volume > 0) {
    host_->Play(own_sounds_.SamplesOf(sound, settings.volume));
  }
}

void Controller::OpenSounds() {
  if (own_sounds_.MakeFolder() && host_->OpenFolder(own_sounds_.folder())) {
    ShowNotice(Text::kToastSounds, Text::kToastSoundsText);
  } else {
    ShowNotice(Text::kToastSounds, Text::kToastSoundsNotOpened, {Utf8Of(own_sounds_.folder())});
  }
}

// Makes the requests whose state is on disk, and tells the person when nothing can be written.
void Controller::HandleWriters() {
  for (Request& request : state_writer_.PopRequests()) {
    carrier_.Send(std::move(request));
  }
  const bool is_failing = state_writer_.IsFailing() || settings_writer_.IsFailing();
  if (is_failing && !was_failing_) {
    host_->ShowToast({ToastKind::kNotice, Said(Text::kToastNotSaved),
                      Said(Text::kToastNotSavedText, {Utf8Of(folder_)})});
  }
  was_failing_ = is_failing;
}

void Controller::ApplySettings(Settings settings) {
  if (settings.name == OwnName(desktop_)) {
    settings.name = desktop_.settings().name;
  }
  const int volume = desktop_.settings().volume;
  const bool clicked_through = desktop_.settings().click_through;
  desktop_.SetSettings(settings);
  SaveSettings();
  if (settings.click_through && !clicked_through) {
    ShowNotice(Text::kToastClickThrough, host_->HasIcon() ? Text::kToastClickThroughText
                                                          : Text::kToastClickThroughTextNoIcon);
  }
  if (settings.volume != volume) {
    Play(Sound::kArrive);  // a sample at the new volume
  }
}

void Controller::SaveSettings() { settings_writer_.Add(SettingsJson(desktop_.settings()), {}); }

void Controller::DropInAnySprite() {
  desktop_.Hide(false);
  const auto& shelf = desktop_.look().shelf();
  if (!shelf.empty()) {
    const size_t index = static_cast<size_t>(host_->NowMs()) % shelf.size();
    desktop_.sprites().DropIn(shelf[index]->file, std::nullopt);
  }
}

// -- Menus.

void Controller::HandleChoice(const MenuChoice& choice) {
  if (choice.sprite == kNobody) {
    if (!CarryOutHere(choice)) {
      host_->OpenWindow(choice.command);
    }
    host_->RequestTurn();
  } else if (const Sprite* sprite = desktop_.simulation().Find(choice.sprite)) {
    MenuChoice with_it = choice;
    with_it.sprite = kNobody;
    HandleSpriteChoice(with_it, Sprite(*sprite));
  }
}

// Returns false for what needs a window.
bool Controller::CarryOutHere(const MenuChoice& choice) {
  if (CarryOut(choice, &desktop_)) {
    if (choice.command == MenuCommand::kHideAll && choice.is_on) {
      SayHowToShowAll();
    }
    return true;
  }
  if (const auto changed = WithChoice(desktop_.settings(), choice)) {
    ApplySettings(*changed);
    return true;
  }
  switch (choice.command) {
    case MenuCommand::kMute:
      Mute(choice.neighbour, choice.is_on);
      return true;
    case MenuCommand::kVolume: {
      Settings settings = desktop_.settings();
      settings.volume = static_cast<int>(choice.index);
      ApplySettings(settings);
      return true;
    }
    case MenuCommand::kCompany:
      desktop_.AskWhoIsHere();
      return false;
    case MenuCommand::kOpenSounds:
      OpenSounds();
      return true;
    case MenuCommand::kShowHidden:
      ShowHidden();
      return true;
    case MenuCommand::kInvite:
      Invite();
      return true;
    case MenuCommand::kPhotograph:
    case MenuCommand::kAnimation:
      TakePicture(choice.command == MenuCommand::kAnimation);
      return true;
    case MenuCommand::kDiagnostics:
      CopyDiagnostics();
      return true;
    case MenuCommand::kHowToPlay:
      AskWhether(HowToPlay(desktop_.language()), [] {});
      return true;
    case MenuCommand::kAbout: {
      Question about = AboutProgram(desktop_.language());
      about.characters = FirstCharacters();
      AskWhether(std::move(about), [] {});
      return true;
    }
    case MenuCommand::kOpenLink:
      AskWhereToGo(desktop_.settings().relay.empty(), "");
      return true;
    default:
      return false;
  }
}

void Controller::HandleSpriteChoice(const MenuChoice& choice, const Sprite& sprite) {
  // The menu of a sprite may have that of the program in it, whose list names any sprite.
  switch (choice.sprite == kNobody ? choice.command : MenuCommand::kNone) {
    case MenuCommand::kThrow:
      desktop_.sprites().ThrowTo(sprite.id, static_cast<Edge>(choice.index));
      break;
    case MenuCommand::kThrowToFriend:
      desktop_.ThrowToFriend(sprite.id, choice.neighbour.name);
      break;
    case MenuCommand::kSteer:
      Steer(sprite.id);
      break;
    case MenuCommand::kLightPotato:
      desktop_.LightPotato(sprite.id);
      break;
    case MenuCommand::kPutAway:
      desktop_.sprites().PutAway(sprite.id);
      break;
    case MenuCommand::kSwapPicture:
      SwapPicture(sprite.file);
      break;
    case MenuCommand::kHide:
      desktop_.look().HidePicture(sprite.file, true);
      ShowNotice(Text::kToastHidden, Text::kToastHiddenText);
      break;
    case MenuCommand::kReport:
      AskAboutReport(sprite);
      break;
    default:
      HandleChoice(choice);
      break;
  }
  host_->RequestTurn();
}

void Controller::OpenLink(const std::string& text) {
  if (const auto link = ReadRelayLink(text)) {
    FollowLink(*link);
  } else {
    ShowNotice(Text::kToastBadLink, Text::kToastBadLinkText);
  }
}

void Controller::FollowLink(const RelayLink& link) {
  if (link.relay.empty() && desktop_.settings().relay.empty()) {
    AskWhereToGo(true, link.invitation);
  } else if (QuestionBefore(link, desktop_)) {
    host_->AskAboutLink(link);
  } else {
    desktop_.Open(link);
    host_->RequestTurn();
  }
}

void Controller::AskWhereToGo(bool is_first_start, const std::string& link) {
  Question question = QuestionWhereToGo(desktop_, is_first_start, link);
  question.characters = FirstCharacters();
  host_->Ask(std::move(question),
             [this](const Answer& answer) { return GoTo(answer.fields[0], answer.fields[1]); });
}

std::string Controller::GoTo(const std::string& text, const std::string& name) {
  auto link = ReadRelayLink(text);
  if (!link) {
    return Said(Text::kLinkWrong);
  }
  Settings settings = desktop_.settings();
  if (link->relay.empty() && settings.relay.empty()) {
    return Said(Text::kLinkNeedsRelay);
  }
  if (name != settings.name) {
    settings.name = name;
    if (!link->entry) {
      link->relay = link->relay.empty() ? settings.relay : link->relay;
      settings.relay.clear();  // no join until the desktop goes where the link leads
    }
    desktop_.SetSettings(settings);
  }
  desktop_.Open(*link);
  SaveSettings();
  host_->RequestTurn();
  return "";
}

void Controller::AskWhether(Question question, std::function<void()> yes) {
  host_->Ask(std::move(question), [yes = std::move(yes)](const Answer&) {
    yes();
    return "";
  });
}

void Controller::Close() {
  if (!desktop_.settings().ask_before_closing) {
    host_->OpenWindow(MenuCommand::kQuit);
    return;
  }
  host_->Ask(QuestionToClose(desktop_.language()), [this](const Answer& answer) {
    if (answer.is_ticked) {
      Settings settings = desktop_.settings();
      settings.ask_before_closing = false;
      ApplySettings(settings);
    }
    host_->OpenWindow(MenuCommand::kQuit);
    return "";
  });
}

void Controller::AskAboutReport(const Sprite& sprite) {
  host_->Ask(QuestionAboutReport(desktop_.language(), sprite.name, desktop_.settings().relay),
             [this, report = desktop_.guests().ReportOf(sprite)](const Answer& answer) {
               desktop_.guests().ReportPicture({report.file, report.desktop, answer.fields[0]});
               if (answer.is_ticked) {
                 desktop_.look().HidePicture(report.file, true);
               }
               return "";
             });
}

std::vector<SheetPointer> Controller::FirstCharacters() const {
  const auto& shelf = desktop_.look().shelf();
  return {shelf.begin(), shelf.begin() + std::min<ptrdiff_t>(kCharactersShown, std::ssize(shelf))};
}

void Controller::Steer(SpriteId id) {
  const Sprite* sprite = desktop_.simulation().Find(id);
  if (sprite != nullptr && host_->GiveKeysTo(*sprite)) {
    DismissBubble();
    desktop_.sprites().SelectByKeys(id);
    host_->RequestTurn();
  }
}

// Shows a dropped picture with its background, or without.
void Controller::SwapPicture(const std::string& file) {
  if (const auto* other = desktop_.look().versions().OtherOf(file)) {
    desktop_.look().Replace(file, StoreOwn(&cache_, other->spr));
    cache_.Disown(file);
  }
}

void Controller::Mute(const Neighbour& neighbour, bool is_muted) {
  desktop_.Mute(neighbour, is_muted);
  if (is_muted) {
    ShowNotice(Text::kToastMuted, Text::kToastMutedText, {neighbour.DisplayName()});
  }
}

// The sprites are gone, and their menus. The person may have no other way to find this out.
void Controller::SayHowToShowAll() {
  if (desktop_.settings().toasts || !host_->HasIcon()) {
    host_->ShowToast({ToastKind::kNotice, Said(Text::kToastAllHidden),
                      desktop_.has_hide_key()
                          ? Said(Text::kToastAllHiddenKey, {Said(Text::kKeyHide)})
                      : host_->HasIcon() ? Said(Text::kToastAllHiddenIcon)
                                         : Said(Text::kToastAllHiddenStart)});
  }
}

void Controller::ShowHidden() {
  // A copy, because each call takes a file off the list.
  for (const std::string& file : std::vector<std::string>(desktop_.settings().hidden)) {
    desktop_.look().HidePicture(file, false);
  }
}

void Controller::Invite() {
  const std::string link = desktop_.relay().InvitationLink();
  const std::string address = IsLocal(link) ? host_->NetworkAddress() : "";
  if (link.empty()) {
    ShowNotice(Text::kToastNotInvited, Text::kToastNotInvitedText);
  } else if (!host_->Copy(address.empty() ? link : WithHost(link, address))) {
    ShowNotice(Text::kToastNotCopied, Text::kToastNotCopiedText);
  } else {
    desktop_.ExpectFriend();
    ShowNotice(Text::kToastInvited,
               !IsLocal(link)    ? Text::kToastInvitedText
               : address.empty() ? Text::kToastInvitedHere
                                 : Text::kToastInvitedNetwork,
               {address});
  }
}

// Saves what is seen now, or the last seconds of it. An animation is for strangers, too: it names
// the relay, and has neither what others said nor an invitation.
void Controller::TakePicture(bool is_animated) {
  if (camera_.is_busy()) {
    ShowNotice(Text::kToastNoPicture, Text::kPhotographBusy);
  } else if (!is_animated) {
    const Scene& scene = desktop_.scene();
    camera_.Photograph(scene, host_->PaintBubbles(scene), desktop_.clock());
  } else {
    Scene label;
    if (const std::string host = HostOf(desktop_.settings().relay); !host.empty()) {
      label.bubbles.push_back({.text = host, .post = {.room = kLabelRoom}});
    }
    std::vector<PaintedBubble> painted = host_->PaintBubbles(label);
    camera_.Animate(painted.empty() ? PaintedBubble{} : std::move(painted.front()),
                    desktop_.clock());
  }
}

void Controller::HandleSavedPicture() {
  const auto saved = camera_.PopSaved();
  if (!saved) {
    return;
  }
  if (saved->error) {
    host_->ShowToast(
        {ToastKind::kNotice, Said(Text::kToastNoPicture), Say(desktop_.language(), *saved->error)});
  } else {
    host_->ShowToast(
        {ToastKind::kNotice, Said(Text::kToastPicture), Utf8Of(saved->file), saved->file});
  }
}

void Controller::CopyDiagnostics() {
  Machine machine = host_->DescribeMachine();
  machine.running_ms = host_->NowMs();
  if (host_->Copy(Diagnostics(desktop_, machine))) {
    ShowNotice(Text::kToastDiagnostics, Text::kToastDiagnosticsText);
  } else {
    ShowNotice(Text::kToastNotCopied, Text::kToastNotCopiedText);
  }
}

// -- What the person does with a sprite.

void Controller::Grabbed(SpriteId id, Point point, double ms) {
  desktop_.sprites().Grab(id, point, ms);
  DismissBubble();
  host_->RequestTurn();
}

void Controller::Dragged(Point point, double ms) {
  desktop_.sprites().Drag(point, ms);
  host_->RequestTurn();
}

void Controller::Released(double ms) {
  desktop_.sprites().Release(ms);
  host_->RequestTurn();
}

void Controller::Clicked(SpriteId id) { desktop_.sprites().Select(id); }

void Controller::RightClicked(SpriteId id, Point point) {
  if (const Sprite* sprite = desktop_.simulation().Find(id)) {
    host_->OpenMenuOver(Sprite(*sprite), point);  // a copy: it may leave while the menu is open
  }
}

void Controller::Pressed(Key key, bool is_down, bool with_control) {
  if (key < Key::kWave) {
    desktop_.sprites().Press(key, is_down, with_control);
  } else if (is_down && !with_control) {
    desktop_.talk().React(static_cast<size_t>(key) - static_cast<size_t>(Key::kWave));
  }
  host_->RequestTurn();
}

void Controller::Stepped(bool is_backwards) { Steer(desktop_.sprites().NextSprite(is_backwards)); }

void Controller::KeysLost() {
  if (desktop_.simulation().held() == kNobody) {
    desktop_.sprites().Select(kNobody);
  }
}

void Controller::Dropped(std::vector<std::filesystem::path> paths) {
  if (paths.empty()) {
    ShowNotice(Text::kToastNoFile, Text::kToastNoFileText);
  }
  Import(std::move(paths));
}

// -- What is said to the person.

std::optional<DrawnBubble> Controller::BubbleIn(const Scene& scene) {
  // What it asks for is done with the pointer on a sprite.
  const std::string greeting =
      desktop_.settings().click_through ? "" : greeting_.Update(desktop_, host_->NowMs());
  if (greeting_.IsDone() && !desktop_.settings().greeted) {
    desktop_.MarkGreeted();
  }
  const bool peers = desktop_.sprites().peers() && !desktop_.IsQuiet();
  const std::string hint = peers ? Said(Text::kBubbleComeBack) : desktop_.sprites().KeysHint();
  const SpriteId said_by = peers ? kPeer : hint.empty() ? kNobody : desktop_.sprites().selected();
  const Simulation& simulation = desktop_.simulation();
  const auto speaks = [&](const DrawnSprite& drawn) {
    const Sprite* sprite = simulation.Find(drawn.id);
    const bool is_awake = sprite == nullptr || sprite->mode != Mode::kSleep;
    return drawn.visible && (said_by == kNobody ? is_awake : drawn.id == said_by);
  };
  const auto speaker = std::ranges::find_if(scene.sprites, speaks);
  const std::string& text = hint.empty() ? greeting : hint;
  if (text.empty() || speaker == scene.sprites.end() || simulation.held() != kNobody) {
    return std::nullopt;
  }
  const Sprite* sprite = simulation.Find(speaker->id);
  const Screen& screen = simulation.screen();
  const Monitor& monitor =
      screen.monitors()[sprite == nullptr ? screen.PrimaryMonitor() : sprite->monitor];
  const Crop shown = speaker->Shown();
  DrawnBubble bubble{speaker->id, "", text, {monitor.work, monitor.scale}};
  bubble.post.sprite = {static_cast<double>(speaker->x + shown.x), static_cast<double>(speaker->y),
                        static_cast<double>(speaker->x + shown.x + shown.width),
                        static_cast<double>(speaker->y + speaker->height)};
  return bubble;
}

Scene Controller::OwnBubble(const Scene& scene) {
  Scene own;
  if (auto said = BubbleIn(scene)) {
    said->id = std::hash<std::string>()(said->text);  // one, whichever sprite says it
    own.bubbles.push_back(std::move(*said));
  }
  return own;
}

void Controller::DismissBubble() {
  greeting_.Dismiss(host_->NowMs(), desktop_.simulation().held() != kNobody);
  desktop_.sprites().DismissKeysHint();
}

void Controller::ShowNotice(Text title, Text text, std::initializer_list<std::string_view> values) {
  desktop_.ShowNotice(title, text, values);
  host_->RequestTurn();
}

std::string Controller::Said(Text text, std::initializer_list<std::string_view> values) const {
  return Say(desktop_.language(), text, values);
}

}  // namespace sprites
