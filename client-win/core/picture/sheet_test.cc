#include "core/picture/sheet.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "core/picture/test_spr.h"

namespace sprites {
namespace {

// The part at fault; empty when the file is accepted. `make` may throw too, because it reads what
// it writes.
std::string PartOf(const std::function<Bytes()>& make) {
  try {
    ReadSheet(make());
    return "";
  } catch (const SprRefused& refused) {
    const std::string english = refused.what();
    const std::string german = Say(Language::kGerman, refused.reason());
    CHECK(english.ends_with('.'));
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

Json With(const char* pointer, const Json& value) {
  Json description = UsualDescription(8, 8);
  description[Json::json_pointer(pointer)] = value;
  return description;
}

// The chunks of a file, to be changed and written again.
Bytes Rewritten(const Bytes& bytes, const std::function<void(std::vector<Chunk>*)>& change) {
  Png png = ReadPng(bytes);
  change(&png.chunks);
  return WritePng(png.chunks);
}

TEST_CASE("sheet › reads every character that comes with the program") {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SPRITES)) {
    if (entry.path().extension() != ".spr") {
      continue;
    }
    std::ifstream file(entry.path(), std::ios::binary);
    const Bytes bytes((std::istreambuf_iterator<char>(file)), {});
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

TEST_CASE("sheet › has a default for everything that the description omits") {
  const SheetPointer sheet = ReadSheet(TestSpr());
  const Description& description = sheet->description;
  CHECK(description.scale == 2);
  CHECK(description.hitbox == std::array<int, 4>{0, 0, 8, 8});
  CHECK(description.behaviour.gravity == 1800);
  CHECK(sheet->Columns() == 1);
}

TEST_CASE("sheet › accepts each number at its limit, and none beyond") {
  struct Limit {
    const char* pointer;
    double low;
    double high;
    double step;
  };
  for (const Limit& limit :
       {Limit{"/scale", 0.25, 16, 0.01}, Limit{"/animations/idle/fps", 1e-300, 60, 0.01},
        Limit{"/behaviour/walkSpeed", 0, 2000, 1}, Limit{"/behaviour/jumpSpeed", 0, 5000, 1},
        Limit{"/behaviour/gravity", 0, 20'000, 1}, Limit{"/behaviour/bounce", 0, 0.95, 0.01}}) {
    CAPTURE(limit.pointer);
    CHECK(PartRefused(With(limit.pointer, limit.low)) == "");
    CHECK(PartRefused(With(limit.pointer, limit.high)) == "");
    CHECK(PartRefused(With(limit.pointer, limit.high - limit.step)) == "");
    CHECK(PartRefused(With(limit.pointer, limit.low - limit.step)) == "json");
    CHECK(PartRefused(With(limit.pointer, limit.high + limit.step)) == "json");
    CHECK(PartRefused(With(limit.pointer, "much")) == "json");
  }
}

TEST_CASE("sheet › accepts plain names of 1 to 64 bytes") {
  CHECK(PartRefused(With("/name", "")) == "json");
  CHECK(PartRefused(With("/name", std::string(63, 'n'))) == "");
  CHECK(PartRefused(With("/name", std::string(64, 'n'))) == "");
  CHECK(PartRefused(With("/name", std::string(65, 'n'))) == "json");
  CHECK(PartRefused(With("/name", "\u202egpj")) == "json");
  CHECK(PartRefused(With("/author", std::string(400, 'n'))) == "");
  CHECK(PartRefused(With("/author", std::string(401, 'n'))) == "json");
}

TEST_CASE("sheet › accepts frames within its grid, and a grid of at most 512") {
  CHECK(PartRefused(UsualDescription(1, 1), 512, 1) == "");
  CHECK(PartRefused(UsualDescription(1, 1), 511, 1) == "");
  CHECK(PartRefused(UsualDescription(1, 1), 513, 1) == "json");
  CHECK(PartRefused(UsualDescription(3, 8)) == "json");
  CHECK(PartRefused(With("/animations/idle/frames", {1})) == "json");
  CHECK(PartRefused(With("/animations/idle/frames", {-1})) == "json");
  CHECK(PartRefused(With("/animations/idle/frames", {0.5})) == "json");
  CHECK(PartRefused(With("/animations/idle/frames", Json::array())) == "json");
  CHECK(PartRefused(With("/animations/idle/frames", std::vector<int>(512, 0))) == "");
  CHECK(PartRefused(With("/animations/idle/frames", std::vector<int>(513, 0))) == "json");
}

TEST_CASE("sheet › accepts 64 well-formed animations, and requires idle") {
  Json description = UsualDescription(8, 8);
  for (int i = 0; i < 63; i++) {
    description["animations"]["a" + std::to_string(i)] = {{"frames", {0}}, {"fps", 1}};
  }
  CHECK(PartRefused(description) == "");
  description["animations"]["more"] = {{"frames", {0}}, {"fps", 1}};
  CHECK(PartRefused(description) == "json");
  CHECK(PartRefused(With("/animations", {{"walk", {{"frames", {0}}, {"fps", 1}}}})) == "json");
  const std::string long_name(32, 'a');
  CHECK(PartRefused(With(("/animations/" + long_name).c_str(), {{"frames", {0}}, {"fps", 1}})) ==
        "");
  CHECK(PartRefused(With(("/animations/" + long_name + "a").c_str(),
                         {{"frames", {0}}, {"fps", 1}})) == "json");
  CHECK(PartRefused(With("/animations/No", {{"frames", {0}}, {"fps", 1}})) == "json");
}

TEST_CASE("sheet › accepts a hitbox inside the frame") {
  CHECK(PartRefused(With("/hitbox", {7, 7, 1, 1})) == "");
  CHECK(PartRefused(With("/hitbox", {0, 0, 8, 8})) == "");
  CHECK(PartRefused(With("/hitbox", {1, 0, 8, 8})) == "json");
  CHECK(PartRefused(With("/hitbox", {8, 0, 1, 1})) == "json");
  CHECK(PartRefused(With("/hitbox", {0, 0, 0, 8})) == "json");
  CHECK(PartRefused(With("/hitbox", {0, 0, 8})) == "json");
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

TEST_CASE("sheet › has one description and no unneeded chunks") {
  const Bytes whole = TestSpr();
  const auto insert = [&](const Chunk& chunk) {
    return Rewritten(
        whole, [&](std::vector<Chunk>* chunks) { chunks->insert(chunks->begin() + 1, chunk); });
  };
  CHECK(PartRefused(insert({"tEXt", AsBytes("a")})) == "tEXt");
  CHECK(PartRefused(insert({"eXIf", AsBytes("a")})) == "eXIf");
  CHECK(PartRefused(insert({"gAMA", AsBytes(std::string_view("\0\0\xb1\x8f", 4))})) == "");
  CHECK(PartRefused(insert(ReadPng(whole).chunks[1])) == "iTXt");
  CHECK(PartRefused(insert({"IHDR", ReadPng(whole).chunks[0].content})) == "IHDR");
  const Bytes bare =
      Rewritten(whole, [](std::vector<Chunk>* chunks) { chunks->erase(chunks->begin() + 1); });
  CHECK(PartRefused(bare) == "iTXt");
  CHECK(!LooksLikeSpr(bare));
}

TEST_CASE("sheet › accepts one palette of 1 to 256 colours, before the pixels") {
  const Bytes whole = TestSpr();
  const Bytes colours(3 * 257);
  const auto with_palettes = [&](std::initializer_list<size_t> sizes) {
    return Rewritten(whole, [&](std::vector<Chunk>* chunks) {
      for (const size_t size : sizes) {
        chunks->insert(chunks->begin() + 1, Chunk{"PLTE", std::span(colours).first(size)});
      }
    });
  };
  for (const size_t size : {size_t{3}, size_t{3 * 255}, size_t{3 * 256}}) {
    CHECK(PartRefused(with_palettes({size})) == "");
  }
  for (const size_t size : {size_t{0}, size_t{2}, size_t{4}, size_t{3 * 257}}) {
    CHECK(PartRefused(with_palettes({size})) == "PLTE");
  }
  CHECK(PartRefused(with_palettes({3, 3})) == "PLTE");
  CHECK(PartRefused(Rewritten(whole, [&](std::vector<Chunk>* chunks) {
          chunks->insert(chunks->end() - 1, Chunk{"PLTE", std::span(colours).first(3)});
        })) == "PLTE");
}

TEST_CASE("sheet › accepts up to 1024 chunks") {
  const Bytes whole = TestSpr();
  const size_t own = ReadPng(whole).chunks.size();
  for (const size_t more : {kChunksMax - own - 1, kChunksMax - own, kChunksMax - own + 1}) {
    const Bytes filled = Rewritten(whole, [&](std::vector<Chunk>* chunks) {
      chunks->insert(chunks->begin() + 1, more, Chunk{"tIME", AsBytes("1234567")});
    });
    CHECK(PartRefused(filled) == (own + more <= kChunksMax ? "" : "file"));
  }
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

TEST_CASE("sheet › rejects a description that is not JSON, too deep, or too long") {
  const Bytes whole = TestSpr();
  const auto part = [&](const std::string& json) {
    std::string text("sprite\0\0\0\0\0", 11);
    text += json;
    Png png = ReadPng(whole);
    png.chunks[1].content = AsBytes(text);
    return PartRefused(WritePng(png.chunks));
  };
  const std::string usual = WriteJson(UsualDescription(8, 8));
  CHECK(part(usual) == "");
  CHECK(part("{") == "json");
  CHECK(part("") == "json");
  CHECK(part("null") == "json");
  CHECK(part(std::string(60'000, '[')) == "json");
  CHECK(part(usual.substr(0, usual.size() - 1) + ",\"x\":1e999}") == "json");
  const std::string padding(kJsonBytesMax - usual.size(), ' ');
  CHECK(part(usual + padding) == "");
  CHECK(part(usual + padding + " ") == "iTXt");
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
