#include "test/headless/command.h"

#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "core/motion/behaviour.h"
#include "core/picture/picture.h"
#include "core/relay/crossings/edges.h"
#include "core/text/json.h"
#include "posix/photo.h"

namespace sprites {

const char kCommandsHelp[] =
    R"(Commands, one a line (px of the virtual screen, ms of any one clock):
  monitors L,T,R,B[,SCALE[,WORK-BOTTOM]]...  the monitors; the first is the primary one
  windows [L,T,R,B]...                       windows of other programs, front to back
  take FILE                                  puts a .spr or a picture onto the shelf, and drops it in
  in X Y                                     drops in another of the last one, at a point
  grab ID X Y MS, drag X Y MS, release MS    the pointer
  select ID; key left|right|up|down|space on|off
  throw ID left|right|top|bottom             throws a sprite over an edge
  potato ID                                  makes a sprite a hot potato
  put-away ID
  pause on|off
  mute NAME on|off
  say TEXT                                   says the rest of the line
  peek left|right|top|bottom|off             looks over an edge
  stage on|off                               lets neighbours who peek see the sprites here
  look                                       prints the present state
  quit
)";

namespace {

constexpr std::string_view kPeekOff = "off";
constexpr std::string_view kKeys[] = {"left", "right", "up", "down", "space"};
constexpr const char* kLinks[] = {"joining", "connected", "broken"};

class Words {
 public:
  explicit Words(std::string_view line) : stream_(std::string(line)) {}

  bool Has() { return (stream_ >> std::ws).peek() != std::char_traits<char>::eof(); }
  std::string Text() {
    std::string word;
    if (!(stream_ >> word)) {
      throw std::invalid_argument("a word is missing");
    }
    return word;
  }
  std::string Rest() {
    std::string rest;
    std::getline(stream_ >> std::ws, rest);
    return rest;
  }
  double Number() { return NumberOf(Text()); }
  bool Switch() {
    const std::string word = Text();
    if (word != "on" && word != "off") {
      throw std::invalid_argument(word + " is neither on nor off");
    }
    return word == "on";
  }
  static size_t IndexOf(const std::string& word, std::span<const std::string_view> names) {
    for (size_t i = 0; i < names.size(); i++) {
      if (word == names[i]) {
        return i;
      }
    }
    throw std::invalid_argument(word + " is not known");
  }
  size_t OneOf(std::span<const std::string_view> names) { return IndexOf(Text(), names); }
  // Nothing for `off`.
  std::optional<Edge> EdgeOrOff() {
    const std::string word = Text();
    return word == kPeekOff ? std::nullopt
                            : std::optional(static_cast<Edge>(IndexOf(word, kEdgeNames)));
  }
  // At least L,T,R,B.
  std::vector<double> Numbers() {
    std::istringstream parts(Text());
    std::vector<double> numbers;
    for (std::string part; std::getline(parts, part, ',');) {
      numbers.push_back(NumberOf(part));
    }
    if (numbers.size() < 4) {
      throw std::invalid_argument("a rectangle is L,T,R,B");
    }
    return numbers;
  }

 private:
  static double NumberOf(const std::string& text) {
    size_t used = 0;
    const double number = std::stod(text, &used);
    if (used != text.size()) {
      throw std::invalid_argument(text + " is not a number");
    }
    return number;
  }

  std::istringstream stream_;
};

Rect RectOf(const std::vector<double>& sides) { return {sides[0], sides[1], sides[2], sides[3]}; }

void SetMonitors(Words* words, Desktop* desktop) {
  std::vector<Monitor> monitors;
  while (words->Has()) {
    const auto sides = words->Numbers();
    Monitor monitor{RectOf(sides), RectOf(sides), 1, monitors.empty()};
    if (sides.size() > 4) {
      monitor.scale = sides[4];
    }
    if (sides.size() > 5) {
      monitor.work.bottom = sides[5];
    }
    monitors.push_back(monitor);
  }
  desktop->look().SetMonitors(monitors);
}

void SetWindows(Words* words, Desktop* desktop) {
  std::vector<WindowArea> windows;
  while (words->Has()) {
    windows.push_back({windows.size() + 1, RectOf(words->Numbers())});
  }
  desktop->look().SetWindows(windows);
}

Json Take(Words* words, Desktop* desktop, FileCache* cache) {
  const std::string path = words->Text();
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::invalid_argument(path + " can't be read");
  }
  const Bytes bytes((std::istreambuf_iterator<char>(file)), {});
  const auto decode = [](std::span<const uint8_t> photo) { return DecodePhoto(photo); };
  const SheetPointer sheet = StoreOwn(cache, SprOfFile(bytes, path, decode).spr);
  desktop->look().AddToShelf(sheet);
  const SpriteId id = desktop->sprites().DropIn(sheet->file, std::nullopt);
  return {{"taken", sheet->file}, {"id", id}};
}

Json In(Words* words, Desktop* desktop) {
  if (desktop->look().shelf().empty()) {
    throw std::invalid_argument("the shelf is empty");
  }
  const double x = words->Number();
  const double y = words->Number();
  const SpriteId id = desktop->sprites().DropIn(desktop->look().shelf().back()->file, Point{x, y});
  return {{"in", id}};
}

SpriteId IdOf(Words* words) { return static_cast<SpriteId>(words->Number()); }

Point PointOf(Words* words) {
  const double x = words->Number();
  const double y = words->Number();
  return {x, y};
}

Json Run(const std::string& word, Words* words, Desktop* desktop, FileCache* cache) {
  if (word == "take") {
    return Take(words, desktop, cache);
  }
  if (word == "in") {
    return In(words, desktop);
  }
  if (word == "monitors") {
    SetMonitors(words, desktop);
  } else if (word == "windows") {
    SetWindows(words, desktop);
  } else if (word == "grab") {
    const SpriteId id = IdOf(words);
    const Point point = PointOf(words);
    desktop->sprites().Grab(id, point, words->Number());
  } else if (word == "drag") {
    const Point point = PointOf(words);
    desktop->sprites().Drag(point, words->Number());
  } else if (word == "release") {
    desktop->sprites().Release(words->Number());
  } else if (word == "select") {
    desktop->sprites().Select(IdOf(words));
  } else if (word == "key") {
    const auto key = static_cast<Key>(words->OneOf(kKeys));
    desktop->sprites().Press(key, words->Switch());
  } else if (word == "throw") {
    const SpriteId id = IdOf(words);
    desktop->sprites().ThrowTo(id, static_cast<Edge>(words->OneOf(kEdgeNames)));
  } else if (word == "potato") {
    desktop->LightPotato(IdOf(words));
  } else if (word == "put-away") {
    desktop->sprites().PutAway(IdOf(words));
  } else if (word == "pause") {
    desktop->Pause(words->Switch());
  } else if (word == "mute") {
    const std::string name = words->Text();
    desktop->Mute({"", name}, words->Switch());
  } else if (word == "say") {
    desktop->talk().Speak(words->Rest());
  } else if (word == "peek") {
    desktop->peeking().PeekOver(words->EdgeOrOff());
  } else if (word == "stage") {
    desktop->peeking().ShowStageToNeighbours(words->Switch());
  } else {
    throw std::invalid_argument(word + " is not a command");
  }
  return nullptr;
}

Json DescribeSprites(const Desktop& desktop, const Scene& scene) {
  Json sprites = Json::array();
  for (size_t i = 0; i < desktop.simulation().sprites().size(); i++) {
    const Sprite& sprite = desktop.simulation().sprites()[i];
    Json one = {{"id", sprite.id},
                {"file", sprite.file},
                {"name", sprite.name},
                {"mode", RulesOf(sprite.mode).animation},
                {"x", sprite.x},
                {"y", sprite.y},
                {"vx", sprite.vx},
                {"vy", sprite.vy},
                {"height", sprite.nature.height},
                {"fromShelf", sprite.from_shelf},
                {"monitor", sprite.monitor}};
    if (i < scene.sprites.size() && scene.sprites[i].id == sprite.id) {
      const DrawnSprite& drawn = scene.sprites[i];
      one["drawn"] = {drawn.x, drawn.y, drawn.width, drawn.height};
      one["isParcel"] = drawn.sheet->file.empty();
    }
    sprites.push_back(std::move(one));
  }
  return sprites;
}

// Null while none is known.
Json DescribeNeighbours(const Desktop& desktop) {
  const auto& all = desktop.relay().neighbours;
  if (!all) {
    return nullptr;
  }
  Json neighbours = Json::object();
  for (size_t i = 0; i < all->size(); i++) {
    if ((*all)[i].desktop.empty()) {
      continue;  // not known yet
    }
    neighbours[std::string(kEdgeNames[i])] = {{"desktop", (*all)[i].desktop},
                                              {"name", (*all)[i].name}};
  }
  return neighbours;
}

Json DescribeBubbles(const Scene& scene) {
  Json bubbles = Json::array();
  for (const DrawnBubble& bubble : scene.bubbles) {
    const BubblePost& post = bubble.post;
    Json one = {
        {"name", bubble.name}, {"text", bubble.text}, {"atSprite", post.sprite.has_value()}};
    if (post.has_tail_at_edge) {
      one["edge"] = NameOf(post.edge);
    }
    bubbles.push_back(std::move(one));
  }
  return bubbles;
}

Json DescribeBeyond(const Scene& scene) {
  Json beyond = Json::array();
  for (const DrawnSprite& drawn : scene.beyond) {
    const Crop shown = drawn.Shown();
    beyond.push_back({{"isPane", !drawn.is_silhouette},
                      {"file", drawn.sheet->file},
                      {"shown", {drawn.Left(), drawn.Top(), shown.width, shown.height}}});
  }
  return beyond;
}

}  // namespace

Json RunCommand(std::string_view line, Desktop* desktop, FileCache* cache, bool* quits) {
  try {
    Words words(line);
    if (!words.Has()) {
      return nullptr;
    }
    const std::string word = words.Text();
    if (word == "quit") {
      *quits = true;
      return nullptr;
    }
    return Run(word, &words, desktop, cache);
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

Json DescribeDesktop(const Desktop& desktop, const Scene& scene) {
  Json watched = Json::array();
  for (const Edge edge : desktop.peeking().watched()) {
    watched.push_back(NameOf(edge));
  }
  return {{"beyond", DescribeBeyond(scene)},
          {"watched", watched},
          {"showsStage", desktop.peeking().IsStageShown()},
          {"bubbles", DescribeBubbles(scene)},
          {"desktop", desktop.relay().seat() ? Json(desktop.relay().seat()->desktop) : Json()},
          {"link", kLinks[static_cast<size_t>(desktop.relay().link())]},
          {"neighbours", DescribeNeighbours(desktop)},
          {"onTheWay", desktop.traffic().on_the_way()},
          {"waiting", desktop.traffic().waiting()},
          {"sprites", DescribeSprites(desktop, scene)}};
}

}  // namespace sprites
