#include "core/words/menus.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>

#include "core/desktop/journey_words.h"
#include "core/relay/problem_texts.h"
#include "core/text/text.h"

namespace sprites {

namespace {

// What is on or off in the settings, and its text.
struct SwitchRow {
  bool Settings::*member;
  Text text;
};
constexpr SwitchRow kSwitchRows[] = {{&Settings::sound, Text::kSettingsSound},
                                     {&Settings::toasts, Text::kSettingsToasts},
                                     {&Settings::bubbles, Text::kSettingsBubbles},
                                     {&Settings::signs, Text::kSettingsSigns},
                                     {&Settings::peek_at_edges, Text::kSettingsPeek},
                                     {&Settings::all_monitors, Text::kSettingsMonitors},
                                     {&Settings::hide_in_full_screen, Text::kSettingsHide},
                                     {&Settings::quiet, Text::kSettingsQuiet},
                                     {&Settings::calm, Text::kSettingsCalm},
                                     {&Settings::whole_pixels, Text::kSettingsPixels},
                                     {&Settings::click_through, Text::kSettingsClickThrough},
                                     {&Settings::ask_before_closing, Text::kSettingsAsk}};

constexpr Text kEdges[] = {Text::kEdgeLeft, Text::kEdgeRight, Text::kEdgeUp, Text::kEdgeDown};
constexpr Text kEdgesTo[] = {Text::kEdgeLeftTo, Text::kEdgeRightTo, Text::kEdgeUpTo,
                             Text::kEdgeDownTo};
constexpr size_t kMenuTitleLettersMax = 150;  // of a sprite: its name and its sender's fit
constexpr std::array<int, 4> kVolumes = {25, 50, 75, 100};  // percent, in the menu

bool IsSelf(const Neighbour& neighbour, const Desktop& desktop) {
  return desktop.relay().seat() && desktop.relay().seat()->desktop == neighbour.desktop;
}

std::string Entry(const Desktop& desktop, Text text, const std::string& name = "") {
  return Say(desktop.language(), text, {NameInMenu(name)});
}

// An entry for what is on or off in the settings.
MenuItem SwitchEntry(const Desktop& desktop, bool Settings::*member, Text text) {
  return Toggle(Entry(desktop, text), {.command = MenuCommand::kSwitch, .member = member},
                desktop.settings().*member);
}

MenuItem ShelfMenu(const Desktop& desktop) {
  MenuItem shelf{Entry(desktop, Text::kMenuNewSprite)};
  for (size_t i = 0; i < desktop.look().shelf().size(); i++) {
    shelf.children.push_back(
        {WithoutKeys(desktop.look().shelf()[i]->description.name), {MenuCommand::kDropIn, i}});
    shelf.children.back().picture = desktop.look().shelf()[i];
  }
  return shelf;
}

// Muted desktops first, checked, then the neighbours that are not muted.
Menu MuteMenu(const Desktop& desktop) {
  const auto& muted = desktop.settings().muted;
  std::vector<Neighbour> names = muted;
  if (desktop.relay().neighbours) {
    for (const Neighbour& neighbour : *desktop.relay().neighbours) {
      const auto is_same = [&](const Neighbour& other) { return Mutes(other, neighbour); };
      const auto known = std::ranges::find_if(names, is_same);
      if (known != names.end()) {
        *known = neighbour;  // so that the relay can end the mute
      } else if (!neighbour.DisplayName().empty() && !IsSelf(neighbour, desktop)) {
        names.push_back(neighbour);
      }
    }
  }
  Menu menu;
  for (size_t i = 0; i < names.size(); i++) {
    const bool is_muted = i < muted.size();
    menu.push_back(
        Toggle(WithoutKeys(names[i].DisplayName()), {MenuCommand::kMute, 0, names[i]}, is_muted));
  }
  return menu;
}

MenuItem CameraMenu(const Desktop& desktop) {
  MenuItem camera{Entry(desktop, Text::kMenuCamera)};
  camera.children = {{Entry(desktop, Text::kCameraPhotograph), {MenuCommand::kPhotograph}},
                     {Entry(desktop, Text::kCameraAnimation), {MenuCommand::kAnimation}}};
  return camera;
}

MenuItem HelpMenu(const Desktop& desktop) {
  MenuItem help{Entry(desktop, Text::kMenuHelp)};
  help.children = {{Entry(desktop, Text::kHelpHowTo), {MenuCommand::kHowToPlay}},
                   {Entry(desktop, Text::kHelpDiagnostics), {MenuCommand::kDiagnostics}},
                   {Entry(desktop, Text::kHelpUpdate), {MenuCommand::kUpdate}},
                   {},
                   {Entry(desktop, Text::kHelpAbout), {MenuCommand::kAbout}}};
  return help;
}

// The name of the neighbour beyond an edge; empty if nobody is there.
std::string NameBeyond(const Desktop& desktop, size_t edge) {
  if (!desktop.relay().neighbours || desktop.relay().link() != Link::kConnected) {
    return "";
  }
  const Neighbour& neighbour = (*desktop.relay().neighbours)[edge];
  return IsSelf(neighbour, desktop) ? "" : neighbour.name;
}

// An edge, and who is beyond it.
std::string EdgeEntry(const Desktop& desktop, size_t edge, const std::string& name) {
  return Entry(desktop, name.empty() ? kEdges[edge] : kEdgesTo[edge], name);
}

MenuItem ThrowMenu(const Desktop& desktop) {
  MenuItem menu{Entry(desktop, Text::kSpriteThrow)};
  for (size_t i = 0; i < std::size(kEdges); i++) {
    menu.children.push_back(
        {EdgeEntry(desktop, i, NameBeyond(desktop, i)), {MenuCommand::kThrow, i}});
  }
  // Below them, those who are farther away.
  for (const Companion& companion : desktop.company().all()) {
    const auto& [name, column, row] = companion.goal;
    if (std::abs(column) + std::abs(row) > 1) {
      if (menu.children.size() == std::size(kEdges)) {
        menu.children.push_back({});
      }
      const std::string shown = PlainText(name, kNameBytesMax);
      menu.children.push_back({NameInMenu(shown), {MenuCommand::kThrowToFriend, 0, {"", name}}});
    }
  }
  menu.children.push_back({});
  menu.children.push_back({Entry(desktop, Text::kSpritePotato), {MenuCommand::kLightPotato}});
  menu.children.push_back(SwitchEntry(desktop, &Settings::signs, Text::kSettingsSigns));
  return menu;
}

// The edges that the person can look over. The chosen one is checked.
MenuItem PeekMenu(const Desktop& desktop) {
  MenuItem peek{Entry(desktop, Text::kMenuPeek)};
  for (size_t i = 0; i < std::size(kEdges); i++) {
    const auto edge = static_cast<Edge>(i);
    const Neighbour* neighbour = desktop.relay().NeighbourBeyond(edge);
    const bool is_chosen = desktop.peeking().chosen() == edge;
    peek.children.push_back(
        {EdgeEntry(desktop, i, neighbour == nullptr ? "" : neighbour->DisplayName()),
         {MenuCommand::kPeek, i, {}, !is_chosen},
         neighbour != nullptr || is_chosen,
         is_chosen});
  }
  peek.is_enabled = std::ranges::any_of(peek.children, &MenuItem::is_enabled);
  return peek;
}

MenuItem ReactMenu(const Desktop& desktop) {
  constexpr std::array<Text, rules::kReactions.size()> kTexts = {
      Text::kReactWave, Text::kReactHeart, Text::kReactLaugh};
  MenuItem menu{Entry(desktop, Text::kMenuReact)};
  for (size_t i = 0; i < kTexts.size(); i++) {
    menu.children.push_back({Entry(desktop, kTexts[i]), {MenuCommand::kReact, i}});
  }
  return menu;
}

// What one does with those next door.
MenuItem NeighboursMenu(const Desktop& desktop) {
  MenuItem menu{Entry(desktop, Text::kMenuNeighbours)};
  menu.children.push_back({Entry(desktop, Text::kCompanyMenu), {MenuCommand::kCompany}});
  menu.children.push_back(ReactMenu(desktop));
  if (desktop.peeking().CanPeek()) {
    menu.children.push_back(PeekMenu(desktop));
    menu.children.push_back(Toggle(Entry(desktop, Text::kMenuShowStage), {MenuCommand::kShowStage},
                                   desktop.peeking().IsStageShown()));
  }
  if (desktop.guests().size() > 0) {
    menu.children.push_back({Entry(desktop, Text::kMenuSendAllOn), {MenuCommand::kSendAllOn}});
  }
  if (Menu mute = MuteMenu(desktop); !mute.empty()) {
    menu.children.push_back({Entry(desktop, Text::kMenuMute), {}, true, false, std::move(mute)});
  }
  return menu;
}

// The names of the neighbours who watch this desktop; empty if there are none.
std::string WatchersOf(const Desktop& desktop) {
  std::vector<std::string> names;
  for (const Edge edge : desktop.peeking().watched()) {
    const Neighbour* watcher = desktop.relay().NeighbourBeyond(edge);
    if (watcher != nullptr && std::ranges::find(names, watcher->DisplayName()) == names.end()) {
      names.push_back(watcher->DisplayName());
    }
  }
  std::string all;
  for (const std::string& name : names) {
    all += (all.empty() ? "" : ", ") + name;
  }
  return all;
}

MenuItem VolumeMenu(const Desktop& desktop) {
  MenuItem volume{Entry(desktop, Text::kSettingsVolume)};
  for (const int percent : kVolumes) {
    volume.children.push_back(Toggle(std::to_string(percent) + " %",
                                     {MenuCommand::kVolume, static_cast<size_t>(percent)},
                                     desktop.settings().volume == percent));
  }
  return volume;
}

// A tab is before the key, as in menus of Windows.
MenuItem HideEntry(const Desktop& desktop) {
  const std::string key = desktop.has_hide_key() ? "\t" + Entry(desktop, Text::kKeyHide) : "";
  return Toggle(Entry(desktop, Text::kMenuHide) + key, {MenuCommand::kHideAll},
                desktop.is_hidden());
}

// What is chosen there is done with this sprite.
void ChooseFor(SpriteId sprite, Menu* menu) {
  for (MenuItem& item : *menu) {
    item.choice.sprite = sprite;
    ChooseFor(sprite, &item.children);
  }
}

// The own sprites that are away, the one thrown last first: what is known of each.
MenuItem AwayMenu(const Desktop& desktop) {
  const std::vector<AwaySprite>& away = desktop.traffic().away().all();
  MenuItem menu{Entry(desktop, Text::kAwayWhere, away.back().name)};
  for (auto sprite = away.rbegin(); sprite != away.rend(); ++sprite) {
    menu.children.push_back(
        {WithoutKeys(SeenWords(desktop.language(), *sprite, desktop.clock())), {}, false});
  }
  return menu;
}

// Every sprite with its menu.
MenuItem SpriteList(const Desktop& desktop) {
  MenuItem list{Entry(desktop, Text::kMenuSprites)};
  for (const Sprite& sprite : desktop.simulation().sprites()) {
    Menu menu = SpriteMenu(desktop, sprite);
    ChooseFor(sprite.id, &menu);
    list.children.push_back({NameInMenu(sprite.name), {}, true, false, std::move(menu)});
  }
  return list;
}

}  // namespace

std::string WithoutKeys(std::string_view text) {
  std::string words;
  for (const char letter : text) {
    words += letter == '&' ? "&&" : std::string(1, letter);
  }
  return words;
}

std::string NameInMenu(const std::string& name) {
  return WithoutKeys(Shortened(name, kMenuNameLettersMax));
}

Menu ProgramMenu(const Desktop& desktop) {
  Menu menu;
  menu.push_back({WithoutKeys(StatusOf(desktop)), {}, false});
  if (const std::string& name = desktop.relay().name; !name.empty()) {
    menu.push_back({Entry(desktop, Text::kMenuName, name), {MenuCommand::kName}});
  }
  if (const std::string watchers = WatchersOf(desktop); !watchers.empty()) {
    menu.push_back({Entry(desktop, Text::kStatusWatched, watchers), {}, false});
  }
  if (const Neighbour* asker = desktop.SeatAsker()) {
    const std::string name = asker->DisplayName();
    menu.push_back({Entry(desktop, Text::kSwapAsks, name), {}, false});
    menu.push_back(
        {Entry(desktop, Text::kSwapAccept, name), {MenuCommand::kAnswerForSeat, 0, {}, true}});
    menu.push_back({Entry(desktop, Text::kSwapDecline), {MenuCommand::kAnswerForSeat}});
  }
  menu.push_back({});
  menu.push_back(ShelfMenu(desktop));
  if (!desktop.simulation().sprites().empty()) {
    menu.push_back(SpriteList(desktop));
  }
  if (!desktop.traffic().away().all().empty()) {
    menu.push_back(AwayMenu(desktop));
  }
  menu.push_back({Entry(desktop, Text::kMenuInvite),
                  {MenuCommand::kInvite},
                  !desktop.relay().InvitationLink().empty()});
  menu.push_back({Entry(desktop, Text::kMenuOpenLink), {MenuCommand::kOpenLink}});
  menu.push_back({Entry(desktop, Text::kMenuSay), {MenuCommand::kSay}});
  menu.push_back({Entry(desktop, Text::kMenuHeard), {MenuCommand::kHeard}});
  menu.push_back(NeighboursMenu(desktop));
  menu.push_back(CameraMenu(desktop));
  menu.push_back({});
  menu.push_back(
      Toggle(Entry(desktop, Text::kMenuPause), {MenuCommand::kPause}, desktop.is_paused()));
  menu.push_back(HideEntry(desktop));
  if (desktop.settings().click_through) {
    menu.push_back(SwitchEntry(desktop, &Settings::click_through, Text::kMenuClickThrough));
  }
  menu.push_back({Entry(desktop, Text::kMenuSettings), {MenuCommand::kSettings}});
  menu.push_back(HelpMenu(desktop));
  menu.push_back({});
  menu.push_back({Entry(desktop, Text::kMenuQuit), {MenuCommand::kQuit}});
  return menu;
}

Menu SpriteMenu(const Desktop& desktop, const Sprite& sprite) {
  const Neighbour* sender = desktop.guests().SenderOf(sprite.id);
  std::string title = sprite.name;
  if (sprite.journey.hops > 0) {
    title += ", " + JourneyWords(desktop.language(), sprite.journey, desktop.clock());
  } else if (sender != nullptr) {
    title = Say(desktop.language(), Text::kSpriteFrom, {sprite.name, sender->DisplayName()});
  }
  Menu menu;
  menu.push_back({WithoutKeys(Shortened(title, kMenuTitleLettersMax)), {}, false});
  menu.push_back({});
  menu.push_back(ThrowMenu(desktop));
  menu.push_back({Entry(desktop, Text::kSpriteSteer), {MenuCommand::kSteer}});
  menu.push_back({Entry(desktop, Text::kMenuSay), {MenuCommand::kSay}});
  menu.push_back({});
  if (sprite.from_shelf) {
    if (const auto* other = desktop.look().versions().OtherOf(sprite.file)) {
      menu.push_back({Entry(desktop, other->is_cut ? Text::kSpriteCut : Text::kSpriteUncut),
                      {MenuCommand::kSwapPicture}});
    }
    menu.push_back({Entry(desktop, Text::kSpritePutAway), {MenuCommand::kPutAway}});
    return menu;
  }
  menu.push_back({Entry(desktop, Text::kSpriteHide),
                  {MenuCommand::kHide},
                  !desktop.look().IsHidden(sprite.file)});
  if (sender != nullptr && !IsSelf(*sender, desktop)) {
    menu.push_back({Entry(desktop, Text::kSpriteMute, sender->DisplayName()),
                    {MenuCommand::kMute, 0, *sender, true}});
  }
  menu.push_back({Entry(desktop, Text::kSpriteReport),
                  {MenuCommand::kReport},
                  desktop.relay().seat().has_value()});
  return menu;
}

Menu MenuOver(const Desktop& desktop, const Sprite& sprite, Menu program) {
  Menu menu = SpriteMenu(desktop, sprite);
  menu.push_back({});
  // The sprite's own part has it already; the others have menus of their own.
  std::erase_if(program, [&](const MenuItem& item) {
    return item.choice.command == MenuCommand::kSay ||
           item.text == Entry(desktop, Text::kMenuSprites);
  });
  std::ranges::move(program, std::back_inserter(menu));
  return menu;
}

Menu SettingsMenu(const Desktop& desktop, bool has_sound) {
  Menu menu;
  for (const auto& [member, text] : kSwitchRows) {
    menu.push_back(SwitchEntry(desktop, member, text));
    if (member != &Settings::sound) {
      continue;
    }
    if (has_sound) {
      menu.push_back(VolumeMenu(desktop));
      menu.push_back({Entry(desktop, Text::kSettingsSounds), {MenuCommand::kOpenSounds}});
    } else {
      menu.back() = {Entry(desktop, Text::kSettingsNoSound), {}, false};
    }
  }
  const size_t hidden = desktop.settings().hidden.size();
  if (hidden > 0) {
    menu.push_back({});
    menu.push_back({Entry(desktop, Text::kSettingsShowHidden, std::to_string(hidden)),
                    {MenuCommand::kShowHidden}});
  }
  return menu;
}

bool CarryOut(const MenuChoice& choice, Desktop* desktop) {
  switch (choice.command) {
    case MenuCommand::kDropIn:
      if (choice.index < desktop->look().shelf().size()) {
        desktop->Hide(false);
        desktop->sprites().DropIn(desktop->look().shelf()[choice.index]->file, std::nullopt);
      }
      return true;
    case MenuCommand::kHideAll:
      desktop->Hide(choice.is_on);
      return true;
    case MenuCommand::kPause:
      desktop->Pause(choice.is_on);
      return true;
    case MenuCommand::kPeek:
      desktop->peeking().PeekOver(choice.is_on ? std::optional(static_cast<Edge>(choice.index))
                                               : std::nullopt);
      return true;
    case MenuCommand::kReact:
      desktop->talk().React(choice.index);
      return true;
    case MenuCommand::kAskForSeat:
      desktop->AskForSeat(choice.neighbour.name);
      return true;
    case MenuCommand::kAnswerForSeat:
      desktop->AnswerSeatAsker(choice.is_on);
      return true;
    case MenuCommand::kSendAllOn:
      desktop->guests().SendAllOn();
      return true;
    case MenuCommand::kShowStage:
      desktop->peeking().ShowStageToNeighbours(choice.is_on);
      return true;
    default:
      return false;
  }
}

std::string StatusOf(const Desktop& desktop) {
  const Language language = desktop.language();
  const std::string host = HostOf(desktop.settings().relay);
  if (host.empty()) {
    return Say(language, Text::kStatusNoRelay);
  }
  if (desktop.relay().link() == Link::kConnected && desktop.relay().seat()) {
    const std::string& world = desktop.relay().seat()->world;
    // Names that the page makes for private worlds mean nothing to people.
    const bool is_private = world.starts_with("private-");
    return is_private                  ? Say(language, Text::kStatusPrivate, {host})
           : world != kCommons         ? Say(language, Text::kStatusWorld, {host, world})
           : desktop.relay().IsAlone() ? Say(language, Text::kStatusAlone, {host})
                                       : Say(language, Text::kStatusTogether, {host});
  }
  const bool is_lost = desktop.relay().IsUnreachable() || desktop.relay().link() == Link::kBroken;
  return is_lost ? SayUnreachable(language, desktop.relay().certificate, host)
                 : Say(language, Text::kStatusJoining, {host});
}

std::string OwnName(const Desktop& desktop) {
  const std::string& chosen = desktop.settings().name;
  return chosen.empty() ? desktop.relay().name : chosen;
}

std::string TooltipOf(const Desktop& desktop) {
  const std::string& name = desktop.relay().name;
  const std::string status = StatusOf(desktop);
  return name.empty() ? status : Say(desktop.language(), Text::kStatusAs, {status, name});
}

}  // namespace sprites
