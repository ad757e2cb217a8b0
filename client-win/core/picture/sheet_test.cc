// Also plays spr.vectors.json; server/wire/files/spr.test.ts plays it with the relay's reader.
#include "core/picture/sheet.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "test/core/test_spr.h"
#include "test/core/vectors.h"

namespace sprites {
namespace {

// The part at fault; empty when the file is accepted. `make` may throw too, because it reads what
// it writes. The English sentence about it has `says` in it.
std::string PartOf(const std::function<Bytes()>& make, const std::string& says = "") {
  try {
    ReadSheet(make());
    return "";
  } catch (const SprRefused& refused) {
    const std::string english = refused.what();
    const std::string german = Say(Language::kGerman, refused.reason());
    CHECK(english.ends_with('.'));
    CHECK(english.find(says) != std::string::npos);
    CHECK(english.find('{') == std::string::npos);  // every value is there
    CHECK(german.find('{') == std::string::npos);
    CHECK(german != english);
    return refused.part();
  }
}

std::string PartRefused(const Bytes& bytes) {
  return PartOf([&] { return bytes; });
}

std::string PartRefused(const Json& description, int width = 8, int height = 8) {
  return PartOf([&] { return TestSpr(width, height, description); });
}

// The chunks of a file, to be changed and written again.
Bytes Rewritten(const Bytes& bytes, const std::function<void(std::vector<Chunk>*)>& change) {
  Png png = ReadPng(bytes);
  change(&png.chunks);
  return WritePng(png.chunks);
}

Bytes BytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes((std::istreambuf_iterator<char>(file)), {});
}

const Json& SprVectors() {
  static const Json vectors = ReadVectors(SPR_VECTORS);
  return vectors;
}

// The value of a case: `{"$repeat": one, "times": n}` is a text or a list, and `{"$names": n,
// "each": one}` an object, with `idle` first.
Json Expanded(const Json& given) {
  if (given.is_object() && given.contains("$repeat")) {
    const Json& one = given["$repeat"];
    const size_t times = given["times"].get<size_t>();
    if (!one.is_string()) {
      return Json(times, one);
    }
    std::string text;
    for (size_t i = 0; i < times; i++) {
      text += one.get<std::string>();
    }
    return text;
  }
  if (given.is_object() && given.contains("$names")) {
    Json named = Json::object();
    for (size_t i = 0; i < given["$names"].get<size_t>(); i++) {
      named[i == 0 ? "idle" : "a" + std::to_string(i)] = given["each"];
    }
    return named;
  }
  return given;
}

std::string BytesOfHex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// The file of a case of a description.
Bytes DescriptionFile(const Json& one) {
  std::string json;
  if (one.contains("json")) {
    json = Expanded(one["json"]).get<std::string>();
  } else {
    Json description = SprVectors()["base"];
    const Json patch = one.value("patch", Json::object());
    for (const auto& [pointer, value] : patch.items()) {
      description[Json::json_pointer(pointer)] = Expanded(value);
    }
    json = WriteJson(description);
    json.resize(std::max(json.size(), one.value("padded", size_t{0})), ' ');
  }
  const Json sheet = one.value("sheet", Json{16, 8});
  std::string text("sprite\0\0\0\0\0", 11);
  text += json;
  return Rewritten(TestSpr(sheet[0], sheet[1], SprVectors()["base"]),
                   [&](std::vector<Chunk>* chunks) { chunks->at(1).content = AsBytes(text); });
}

// The file of a case of chunks.
Bytes ChunksFile(const Json& one) {
  const Bytes usual =
      one.contains("base")
          ? BytesOf(std::filesystem::path(SPR_CORPUS) / one["base"].get<std::string>())
          : TestSpr(16, 8, SprVectors()["base"]);
  const Png png = ReadPng(usual);
  std::deque<std::string> contents;  // which the chunks are views of
  std::vector<Chunk> chunks;
  for (const Json& given : one["chunks"]) {
    const auto& type = (given.is_string() ? given : given["type"]).get_ref<const std::string&>();
    if (given.is_string()) {
      chunks.push_back(*std::ranges::find(png.chunks, std::string_view(type), &Chunk::type));
      continue;
    }
    contents.push_back(given.contains("hex")
                           ? BytesOfHex(given["hex"])
                           : given.value("text", std::string(given.value("zeros", 0), '\0')));
    chunks.insert(chunks.end(), given.value("times", size_t{1}),
                  Chunk{type, AsBytes(contents.back())});
  }
  Bytes file = WritePng(chunks);
  const std::string tail = BytesOfHex(one.value("tail", ""));
  file.insert(file.end(), tail.begin(), tail.end());
  return file;
}

// What was read, as the cases write it.
Json ReadOf(const Sheet& sheet) {
  const Description& description = sheet.description;
  const Behaviour& behaviour = description.behaviour;
  Json animations = Json::object();
  for (const auto& [name, animation] : description.animations) {
    animations[name] = {{"frames", animation.frames}, {"fps", animation.fps}};
  }
  return {{"width", sheet.width},
          {"height", sheet.height},
          {"frames", sheet.Columns() * (sheet.height / description.frame_height)},
          {"name", description.name},
          {"author", description.author},
          {"licence", description.licence},
          {"frame", {{"width", description.frame_width}, {"height", description.frame_height}}},
          {"scale", description.scale},
          {"hitbox", description.hitbox},
          {"animations", animations},
          {"behaviour",
           {{"walkSpeed", behaviour.walk_speed},
            {"jumpSpeed", behaviour.jump_speed},
            {"gravity", behaviour.gravity},
            {"bounce", behaviour.bounce},
            {"hopChance", behaviour.hop_chance}}}};
}

void Play(const Json& one, const std::function<Bytes()>& make) {
  CAPTURE(one["name"].get<std::string>());
  const std::string part = PartOf(make, one.value("says", ""));
  CHECK(part == one.value("refused", ""));
  if (one.contains("reads") && part.empty()) {
    const Json read = ReadOf(*ReadSheet(make()));
    for (const auto& [name, value] : one["reads"].items()) {
      CHECK(read[name] == value);
    }
  }
}

TEST_CASE("sheet › reads and refuses files as in the vectors") {
  for (const Json& one : SprVectors()["files"]) {
    Play(one, [&] {
      return BytesOf(std::filesystem::path(SPR_CORPUS) / one["name"].get<std::string>());
    });
  }
  for (const Json& one : SprVectors()["descriptions"]) {
    Play(one, [&] { return DescriptionFile(one); });
  }
  for (const Json& one : SprVectors()["chunks"]) {
    Play(one, [&] { return ChunksFile(one); });
  }
}

TEST_CASE("sheet › is looked for in what has a description") {
  const Bytes whole = TestSpr();
  CHECK(LooksLikeSpr(whole));
  CHECK(!LooksLikeSpr(
      Rewritten(whole, [](std::vector<Chunk>* chunks) { chunks->erase(chunks->begin() + 1); })));
}

TEST_CASE("sheet › reads every character that comes with the program") {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SPRITES)) {
    if (entry.path().extension() != ".spr") {
      continue;
    }
    const Bytes bytes = BytesOf(entry.path());
    const SheetPointer sheet = ReadSheet(bytes);
    CAPTURE(entry.path().string());
    CHECK(sheet->file.size() == 64);
    CHECK(sheet->rgba.size() == static_cast<size_t>(sheet->width) * sheet->height * 4);
    CHECK(sheet->description.animations.contains("walk"));
    CHECK(LooksLikeSpr(bytes));
    files++;
  }
  CHECK(files >= 6);
}

TEST_CASE("sheet › rejects a file that is damaged, cut off, or has trailing bytes") {
  const Bytes whole = TestSpr();
  for (size_t size = 0; size < whole.size(); size++) {
    REQUIRE(PartRefused(Bytes(whole.begin(), whole.begin() + static_cast<long>(size))) != "");
  }
  for (size_t i = 0; i < whole.size(); i++) {
    Bytes broken = whole;
    broken[i] ^= 0x20;
    CAPTURE(i);
    REQUIRE(PartRefused(broken) != "");
  }
  Bytes longer = whole;
  longer.push_back(0);
  CHECK(PartRefused(longer) == "IEND");
}

TEST_CASE("sheet › has sides of 1 to 4096 pixels, and a limited number of bytes") {
  CHECK(PartRefused(UsualDescription(8, 4095), 8, 4095) == "");
  CHECK(PartRefused(UsualDescription(8, 4096), 8, 4096) == "");
  CHECK(PartRefused(UsualDescription(8, 4097), 8, 4097) == "IHDR");
  Bytes large = TestSpr();
  large.resize(kSprBytesMax + 1);
  CHECK(PartRefused(large) == "file");
}

// A large picture that claims to be small is rejected before memory is allocated for it.
TEST_CASE("sheet › inflates to exactly the size that the header promises") {
  const Bytes small = TestSpr(8, 8, UsualDescription(8, 8));
  const Bytes large = TestSpr(512, 512, UsualDescription(512, 512));
  const auto pixels_of = [](const Bytes& bytes) {
    const Png png = ReadPng(bytes);
    return *std::ranges::find(png.chunks, std::string_view("IDAT"), &Chunk::type);
  };
  const auto swap_in = [&](const Chunk& pixels) {
    return Rewritten(small, [&](std::vector<Chunk>* chunks) {
      *std::ranges::find(*chunks, std::string_view("IDAT"), &Chunk::type) = pixels;
    });
  };
  CHECK(PartRefused(swap_in(pixels_of(small))) == "");
  CHECK(PartRefused(swap_in(pixels_of(large))) == "IDAT");
  CHECK(PartRefused(swap_in(pixels_of(TestSpr(8, 7, UsualDescription(8, 7))))) == "IDAT");
  CHECK(PartRefused(swap_in({"IDAT", AsBytes("no zlib")})) == "IDAT");
}

TEST_CASE("sheet › is shown neither too large nor too small") {
  Description description = ReadSheet(TestSpr())->description;
  CHECK(ShownScale(description, 2) == 2);
  CHECK(ShownScale(description, 1000) == kShownSideMax / 8);
  CHECK(ShownScale(description, 0) == kShownSideMin / 8);
  CHECK(NatureOf(description, 2).width == 16);
}

TEST_CASE("sheet › plays a landing once, all else in a loop, and idle for a missing animation") {
  Description description;
  description.animations["idle"] = {{5, 6}, 10};
  description.animations["land"] = {{1, 2, 3}, 10};
  CHECK(CellOf(description, Mode::kLand, 0) == 1);
  CHECK(CellOf(description, Mode::kLand, 250) == 3);
  CHECK(CellOf(description, Mode::kLand, 1e12) == 3);
  CHECK(CellOf(description, Mode::kWalk, 100) == 6);
  CHECK(CellOf(description, Mode::kWalk, 200) == 5);
  CHECK(CellOf(description, Mode::kWalk, -5) == 5);
}

TEST_CASE("sheet › replaces a missing animation by the nearest one that it has") {
  Description description;
  description.animations["idle"] = {{0}, 10};
  CHECK(CellOf(description, "tumble", 0) == 0);
  CHECK(CellOf(description, "an-artists-own", 0) == 0);
  description.animations["fall"] = {{1}, 10};
  CHECK(CellOf(description, "tumble", 0) == 1);
  CHECK(CellOf(description, "throw", 0) == 1);
  description.animations["throw"] = {{2}, 10};
  CHECK(CellOf(description, "tumble", 0) == 2);
  description.animations["tumble"] = {{3}, 10};
  CHECK(CellOf(description, "tumble", 0) == 3);
  // A landing stands in for being squashed, and stops at its last frame too.
  description.animations["land"] = {{4, 5}, 10};
  CHECK(CellOf(description, "squash", 1000) == 5);
  CHECK(CellOf(description, Mode::kGreet, 0) == 0);
  description.animations["wave"] = {{6}, 10};
  CHECK(CellOf(description, Mode::kGreet, 0) == 6);
}

TEST_CASE("sheet › has a parcel for a missing picture") {
  CHECK(Parcel()->file.empty());
  CHECK(Parcel() == Parcel());
  CHECK(Parcel()->rgba[(16 * 32 + 16) * 4 + 3] == 255);
  CHECK(Parcel()->rgba[3] == 0);
}

}  // namespace
}  // namespace sprites
