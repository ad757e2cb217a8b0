// Plays packs.vectors.json, as server/test/browser_packs.ts does in a browser.
#include "core/picture/packs/pack.h"

#include <doctest/doctest.h>

#include <fstream>
#include <optional>

#include "core/picture/packs/xml.h"
#include "core/picture/png.h"
#include "core/text/json.h"
#include "test/core/vectors.h"

namespace sprites {
namespace {

constexpr size_t kFileBytesMax = 4096;  // of a file in the archives of the vectors

// What `act` returns, or the sentence with which it is refused.
template <class Act>
Json OutcomeOf(const Json& one, Act act) {
  try {
    return {{"name", one["name"]}, {"expect", act()}};
  } catch (const PictureRefused& refused) {
    return {{"name", one["name"]}, {"refused", refused.what()}};
  }
}

Json Wanted(const Json& one) {
  const char* kind = one.contains("refused") ? "refused" : "expect";
  return {{"name", one["name"]}, {kind, one[kind]}};
}

Json AnimationsOf(const std::map<std::string, Animation>& animations) {
  Json all = Json::object();
  for (const auto& [name, animation] : animations) {
    all[name] = {{"frames", animation.frames}, {"fps", animation.fps}};
  }
  return all;
}

Json Played(const PackPlan& plan) {
  Json cells = Json::array();
  for (const auto& [image, x, y, looks_right, hangs] : plan.cells) {
    Json& cell = cells.emplace_back(Json{image, x, y});
    if (looks_right) {
      cell.push_back("looks right");
    }
    if (hangs) {
      cell.push_back("hangs");
    }
  }
  return {
      {"cells", cells}, {"animations", AnimationsOf(plan.animations)}, {"leftOut", plan.left_out}};
}

Json Played(const PackSprite& sprite) {
  Json masks = Json::array();
  for (const PictureFrame& frame : sprite.picture.frames) {
    std::string mask;
    for (size_t i = 0; i < frame.rgba.size(); i += kChannels) {
      mask += i > 0 && i / kChannels % sprite.picture.width == 0 ? " " : "";
      mask += frame.rgba[i + 3] == 0 ? '.' : '#';
    }
    masks.push_back(mask);
  }
  const auto& [left, top, width, height] = sprite.body;
  return {{"frames", masks},
          {"hitbox", {left, top, width, height}},
          {"animations", AnimationsOf(sprite.animations)},
          {"leftOut", sprite.left_out}};
}

Json PlayedLayout(const Json& cells) {
  std::vector<PackBox> boxes;
  for (const Json& cell : cells) {
    boxes.push_back({cell[0], cell[1], cell[2], cell[3]});
  }
  const PackLayout layout = LayOutCells(boxes);
  return {{"size", {layout.width, layout.height}}, {"places", layout.places}};
}

Json PlayedArchive(const Bytes& archive) {
  Json files = Json::object();
  for (const auto& [path, read] : FilesOfZip(archive)) {
    try {
      const Bytes bytes = read(kFileBytesMax);
      files[path] = std::string(AsText(bytes));
    } catch (const PictureRefused&) {
      files[path] = nullptr;
    }
  }
  return files;
}

TEST_CASE("packs › have the numbers of packs.vectors.json, and play its cases alike") {
  const Json vectors = ReadVectors(PACK_VECTORS);
  const Json constants = {
      {"PACK_ENTRIES_MAX", kPackEntriesMax},   {"ACTIONS_BYTES_MAX", kActionsBytesMax},
      {"ACTIONS_DEPTH_MAX", kActionsDepthMax}, {"POSES_MAX", kPosesMax},
      {"LEFT_OUT_MAX", kLeftOutMax},           {"PACK_PICTURE_BYTES_MAX", kPackPictureBytesMax},
      {"PACK_PIXELS_MAX", kPackPixelsMax}};
  CHECK(constants == vectors["constants"]);
  for (const Json& one : vectors["plans"]) {
    const std::string xml = one["xml"];
    const std::vector<std::string> paths = one["paths"];
    CHECK(OutcomeOf(one, [&] { return Played(PlanOf(xml, paths)); }) == Wanted(one));
  }
  for (const Json& one : vectors["layouts"]) {
    CHECK(OutcomeOf(one, [&] { return PlayedLayout(one["cells"]); }) == Wanted(one));
  }
  for (const Json& one : vectors["archives"]) {
    const Bytes archive = FromBase64(one["archive"]);
    CHECK(OutcomeOf(one, [&] { return PlayedArchive(archive); }) == Wanted(one));
  }
  for (const Json& one : vectors["packs"]) {
    const Bytes archive = FromBase64(one["archive"]);
    CHECK(OutcomeOf(one, [&] { return Played(ReadPack(FilesOfZip(archive))); }) == Wanted(one));
  }
}

TEST_CASE("packs › become sprites that stand, look to the right, and say what their pack does") {
  const Bytes archive = FromBase64(ReadVectors(PACK_VECTORS)["packs"][0]["archive"]);
  REQUIRE(IsZip(archive));
  const SheetPointer sheet = ReadSheet(SprOfPack(ReadPack(FilesOfZip(archive)), "Cat.zip"));
  CHECK(sheet->description.name == "Cat");
  CHECK(sheet->description.frame_width == 4);
  CHECK(sheet->description.hitbox == std::array{2, 1, 2, 3});
  CHECK(sheet->description.animations.at("walk").frames == std::vector<uint16_t>{0, 1});
  CHECK(sheet->rgba[size_t{4} * 2 + 4 * sheet->width + 3] == 255);
}

// A folder that is removed at the end.
class PackFolder {
 public:
  PackFolder() : path(std::filesystem::temp_directory_path() / "sprites-pack-test") {
    std::filesystem::remove_all(path);
  }
  ~PackFolder() { std::filesystem::remove_all(path); }
  PackFolder(const PackFolder&) = delete;
  PackFolder& operator=(const PackFolder&) = delete;

  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }

  const std::filesystem::path path;
};

TEST_CASE("packs › of a folder are its pictures and actions, without links, and not too deep") {
  const PackFolder folder;
  folder.Write("conf/actions.xml", "<Mascot/>");
  folder.Write("img/Shime1.PNG", "one");
  folder.Write("readme.txt", "two");
  folder.Write("2/3/4/5/6/deepest.png", "six");
  folder.Write("2/3/4/5/6/7/deeper.png", "seven");
  std::filesystem::create_symlink(folder.path / "readme.txt", folder.path / "link.png");
  std::filesystem::create_directory_symlink("/", folder.path / "root");
  const PackFiles files = FilesOfFolder(folder.path);
  std::string paths;
  for (const auto& [path, read] : files) {
    paths += path + " ";
  }
  CHECK(paths == "2/3/4/5/6/deepest.png conf/actions.xml img/Shime1.PNG ");
  CHECK(AsText(files.at("img/Shime1.PNG")(3)) == "one");
  CHECK_THROWS_AS(files.at("img/Shime1.PNG")(2), PictureRefused);
}

TEST_CASE("packs › of a folder: one entry less than the limit, the limit, one more") {
  const PackFolder folder;
  for (size_t i = 0; i < kPackEntriesMax - 1; i++) {
    folder.Write(std::to_string(i), "");
  }
  CHECK(FilesOfFolder(folder.path).empty());
  folder.Write("last.png", "");
  CHECK(FilesOfFolder(folder.path).size() == 1);
  folder.Write("more", "");
  CHECK_THROWS_AS(FilesOfFolder(folder.path), PictureRefused);
}

}  // namespace
}  // namespace sprites
