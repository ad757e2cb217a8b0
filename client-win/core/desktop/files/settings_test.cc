#include "core/desktop/files/settings.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/text/json.h"

namespace sprites {
namespace {

TEST_CASE("settings › are read as they were written, with unknown fields") {
  Settings settings;
  settings.relay = "https://relay.example:8443";
  settings.name = "Zoë";
  settings.accept = Accept::kFriends;
  settings.scale = 1.5;
  settings.sprite_limit = 150;
  settings.sound = false;
  settings.volume = 20;
  settings.opacity = 70;
  settings.ask_before_closing = false;
  settings.quiet = false;
  settings.bubbles = false;
  settings.peek_at_edges = false;
  settings.show_stage = ShowStage::kHide;
  settings.greeted = true;
  settings.language = LanguageChoice::kGerman;
  settings.muted = {{"", "Mallory"}, {"9-3e", "Bob"}};
  settings.hidden = {std::string(64, 'a'), std::string(64, 'b')};
  settings.whole_pixels = false;
  settings.out_of_shared_screens = true;
  settings.click_through = true;
  settings.unknown = R"({"later":[1,2]})";
  std::optional<Reason> complaint;
  CHECK(ReadSettings(SettingsJson(settings), &complaint) == settings);
  CHECK(!complaint);
}

TEST_CASE("settings › are the defaults for a broken file, with a complaint") {
  for (const std::string& text :
       {std::string(""), std::string("{"), std::string("[]"), std::string("null"),
        std::string(kSettingsBytesMax + 1, ' '), std::string(1000, '[')}) {
    std::optional<Reason> complaint;
    CHECK(ReadSettings(text, &complaint) == Settings{});
    CHECK(complaint);
  }
}

TEST_CASE("settings › are within their limits whatever the file says") {
  const Settings low =
      ReadSettings(R"({"scale":-1,"spritesMost":0,"cacheMiB":-5,"volume":-1,"opacity":29})");
  CHECK(low.scale == kUserScaleMin);
  CHECK(low.sprite_limit == kSpriteLimitMin);
  CHECK(low.cache_mib == kCacheMiBMin);
  CHECK(low.volume == kVolumeMin);
  CHECK(low.opacity == kOpacityMin);
  const Settings high = ReadSettings(
      R"({"scale":4.01,"spritesMost":301,"cacheMiB":1e300,"volume":101,"opacity":101})");
  CHECK(high.scale == kUserScaleMax);
  CHECK(high.sprite_limit == kSpriteLimitMax);
  CHECK(high.cache_mib == kCacheMiBMax);
  CHECK(high.volume == kVolumeMax);
  CHECK(high.opacity == kOpacityMax);
  const Settings at = ReadSettings(R"({"scale":4,"spritesMost":300,"cacheMiB":4096})");
  CHECK(at.scale == 4);
  CHECK(at.sprite_limit == 300);
  CHECK(at.cache_mib == 4096);
  for (const int volume : {kVolumeMin, 99, kVolumeMax}) {
    CHECK(ReadSettings(WriteJson(Json{{"volume", volume}})).volume == volume);
  }
  const Settings wrong =
      ReadSettings(R"({"scale":"big","sound":"off","accept":"nobody","muted":7})");
  CHECK(wrong == Settings{});
}

TEST_CASE("settings › reject an invalid relay address") {
  for (const char* relay : {"relay.example", "ftp://relay.example", "http://", "http://a b",
                            "http://user@relay.example", "http://relay.example:", "javascript:1"}) {
    CAPTURE(relay);
    std::optional<Reason> complaint;
    CHECK(ReadSettings(WriteJson(Json{{"relay", relay}}), &complaint).relay.empty());
    CHECK(complaint == Reason{Text::kFileOfSettingsRelay, {relay}});
  }
  std::optional<Reason> complaint;
  CHECK(ReadSettings(R"({"relay":""})", &complaint).relay.empty());
  CHECK(!complaint);  // the person has not chosen one yet
  CHECK(ReadSettings(R"({"relay":"https://relay.example/some/page"})").relay ==
        "https://relay.example");
  CHECK(ReadSettings(R"({"relay":"http://[::1]:8080"})").relay == "http://[::1]:8080");
}

TEST_CASE("settings › cut names to the limit of the relay") {
  const Settings settings =
      WithinLimits({.name = std::string(100, 'n'), .world = "a\nb", .beside = "1 2"});
  CHECK(settings.name.size() == 64);
  CHECK(settings.world == "ab");
  CHECK(settings.beside.empty());
  Settings many;
  many.muted.assign(kMutedMax + 5, {"9-3e", "x"});
  CHECK(WithinLimits(many).muted.size() == kMutedMax);
}

TEST_CASE(
    "settings › keep the hashes of hidden pictures, the newest ones when there are too many") {
  const auto file = [](size_t i) {
    const std::string number = std::to_string(i);
    return std::string(64 - number.size(), '0') + number;
  };
  for (const size_t count : {kHiddenMax - 1, kHiddenMax, kHiddenMax + 1}) {
    Settings settings;
    settings.hidden.push_back("../../secret");
    for (size_t i = 0; i < count; i++) {
      settings.hidden.push_back(file(i));
    }
    const Settings within = WithinLimits(settings);
    CHECK(within.hidden.size() == std::min(count, kHiddenMax));
    CHECK(within.hidden.back() == file(count - 1));
    CHECK(within.hidden.front() == file(count > kHiddenMax ? 1 : 0));
  }
}

TEST_CASE("settings › accept a relay's address as people write it, without a complaint") {
  struct Case {
    const char* written;
    const char* taken;
  };
  for (const Case& one : {Case{"https://relay.example/", "https://relay.example"},
                          Case{"HTTPS://Relay.Example:8443", "https://relay.example:8443"},
                          Case{"http://relay.example/#near=1.00112233445566778899aabbccddeeff",
                               "http://relay.example"}}) {
    std::optional<Reason> complaint;
    CHECK(ReadSettings(Json({{"relay", one.written}}).dump(), &complaint).relay == one.taken);
    CHECK(!complaint);
  }
}

TEST_CASE("settings › keep the pictures that were hidden last, up to the limit") {
  for (const size_t count : {kHiddenMax - 1, kHiddenMax, kHiddenMax + 1}) {
    Json hidden = Json::array({"not a hash", 7});
    for (size_t i = 0; i < count; i++) {
      std::string file = std::to_string(i);
      hidden.push_back(std::string(64 - file.size(), '0') + file);
    }
    const Settings settings = ReadSettings(WriteJson(Json{{"hidden", hidden}}));
    CHECK(settings.hidden.size() == std::min(count, kHiddenMax));
    CHECK(settings.hidden.back() == hidden.back());
    CHECK(SettingsJson(settings).size() <= kSettingsBytesMax);
  }
}

TEST_CASE("settings › show the stage as the world says, unless the file chooses") {
  CHECK(ReadSettings("{}").show_stage == ShowStage::kAsWorld);
  CHECK(ReadSettings(R"({"showStage":"on"})").show_stage == ShowStage::kShow);
  CHECK(ReadSettings(R"({"showStage":"off"})").show_stage == ShowStage::kHide);
  CHECK(ReadSettings(R"({"showStage":"world"})").show_stage == ShowStage::kAsWorld);
  for (const char* text : {R"({"showStage":true})", R"({"showStage":"On"})"}) {
    CHECK(ReadSettings(text).show_stage == ShowStage::kAsWorld);
  }
}

}  // namespace
}  // namespace sprites
