#include "core/desktop/files/settings.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "core/picture/file_cache.h"
#include "core/picture/sheet.h"
#include "core/relay/seat.h"
#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

constexpr int kSettingsDepthMax = 16;  // of unknown fields too
constexpr const char* kAcceptNames[] = {"bundled", "friends", "everybody"};
constexpr const char* kLanguageNames[] = {"system", "en", "de"};
constexpr const char* kShowStageNames[] = {"world", "on", "off"};

// The fields of one type: the name in the file and the member.
struct TextField {
  const char* name;
  std::string Settings::*member;
};
constexpr TextField kTexts[] = {{"relay", &Settings::relay},
                                {"name", &Settings::name},
                                {"world", &Settings::world},
                                {"near", &Settings::beside}};

constexpr const char* kOthers[] = {"accept", "scale",  "spritesMost", "cacheMiB",  "language",
                                   "muted",  "hidden", "volume",      "showStage", "opacity"};

bool IsKnown(const std::string& name) {
  return std::ranges::any_of(kTexts, [&](const auto& field) { return name == field.name; }) ||
         std::ranges::any_of(kSwitchFields,
                             [&](const auto& field) { return name == field.name; }) ||
         std::ranges::any_of(kOthers, [&](const char* other) { return name == other; });
}

std::vector<std::string> TextsAt(const Json& root, const char* name) {
  std::vector<std::string> texts;
  const Json& list = MemberOf(root, name);
  for (size_t i = 0; list.is_array() && i < list.size(); i++) {
    if (list[i].is_string()) {
      texts.push_back(list[i].get<std::string>());
    }
  }
  return texts;
}

// `names` are by Choice. Another value changes nothing.
template <typename Choice>
void ReadChoice(const Json& value, std::span<const char* const> names, Choice* choice) {
  const auto named = std::ranges::find_if(names, [&](const char* name) { return value == name; });
  *choice = named == names.end() ? *choice : static_cast<Choice>(named - names.begin());
}

void ReadOthers(const Json& root, Settings* settings) {
  ReadChoice(MemberOf(root, "accept"), kAcceptNames, &settings->accept);
  ReadChoice(MemberOf(root, "language"), kLanguageNames, &settings->language);
  ReadChoice(MemberOf(root, "showStage"), kShowStageNames, &settings->show_stage);
  settings->scale = NumberAt(root, "scale", kUserScaleMin, kUserScaleMax, settings->scale);
  settings->sprite_limit = static_cast<int>(
      NumberAt(root, "spritesMost", kSpriteLimitMin, kSpriteLimitMax, settings->sprite_limit));
  settings->opacity =
      static_cast<int>(NumberAt(root, "opacity", kOpacityMin, kOpacityMax, settings->opacity));
  settings->volume =
      static_cast<int>(NumberAt(root, "volume", kVolumeMin, kVolumeMax, settings->volume));
  settings->cache_mib =
      static_cast<int>(NumberAt(root, "cacheMiB", kCacheMiBMin, kCacheMiBMax, settings->cache_mib));
  for (const std::string& name : TextsAt(root, "muted")) {
    settings->muted.push_back({"", name});
  }
  const Json& muted = MemberOf(root, "muted");
  for (size_t i = 0; muted.is_array() && i < muted.size(); i++) {
    if (muted[i].is_object()) {
      settings->muted.push_back(
          {TextAt(muted[i], "desktop", kIdBytesMax), TextAt(muted[i], "name", kNameBytesMax)});
    }
  }
  settings->hidden = TextsAt(root, "hidden");
}

}  // namespace

Settings ReadSettings(std::string_view json, std::optional<Reason>* complaint) {
  std::optional<Reason> unused;
  std::optional<Reason>& wrong = complaint == nullptr ? unused : *complaint;
  wrong.reset();
  Settings settings;
  if (json.size() > kSettingsBytesMax) {
    wrong = Reason{Text::kFileOfSettingsTooLong, {std::to_string(kSettingsBytesMax)}};
    return settings;
  }
  const Json root = ParseJson(json, kSettingsDepthMax);
  if (!root.is_object()) {
    wrong = Reason{Text::kFileOfSettingsInvalid};
    return settings;
  }
  for (const auto& [name, member] : kTexts) {
    if (MemberOf(root, name).is_string()) {
      settings.*member = TextAt(root, name, kSettingsBytesMax);
    }
  }
  for (const auto& [name, member] : kSwitchFields) {
    settings.*member = BoolAt(root, name, settings.*member);
  }
  ReadOthers(root, &settings);
  Json unknown = Json::object();
  for (const auto& [name, value] : root.items()) {
    if (!IsKnown(name)) {
      unknown[name] = value;
    }
  }
  settings.unknown = unknown.empty() ? "" : WriteJson(unknown);
  const std::string wanted = settings.relay;
  settings = WithinLimits(std::move(settings));
  if (!wanted.empty() && !RelayOrigin(wanted)) {
    wrong = Reason{Text::kFileOfSettingsRelay, {PlainText(wanted, kCreditBytesMax)}};
  }
  return settings;
}

std::string SettingsJson(const Settings& settings) {
  Json root =
      settings.unknown.empty() ? Json::object() : ParseJson(settings.unknown, kSettingsDepthMax);
  if (!root.is_object()) {
    root = Json::object();
  }
  for (const auto& [name, member] : kTexts) {
    root[name] = settings.*member;
  }
  for (const auto& [name, member] : kSwitchFields) {
    root[name] = settings.*member;
  }
  root["accept"] = kAcceptNames[static_cast<size_t>(settings.accept)];
  root["scale"] = settings.scale;
  root["spritesMost"] = settings.sprite_limit;
  root["cacheMiB"] = settings.cache_mib;
  root["opacity"] = settings.opacity;
  root["volume"] = settings.volume;
  root["language"] = kLanguageNames[static_cast<size_t>(settings.language)];
  root["showStage"] = kShowStageNames[static_cast<size_t>(settings.show_stage)];
  root["muted"] = Json::array();
  for (const Neighbour& muted : settings.muted) {
    root["muted"].push_back(muted.desktop.empty()
                                ? Json(muted.name)
                                : Json{{"desktop", muted.desktop}, {"name", muted.name}});
  }
  root["hidden"] = settings.hidden;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Settings WithinLimits(Settings settings) {
  settings.relay = RelayOrigin(settings.relay).value_or("");
  settings.name = PlainText(settings.name, kNameBytesMax);
  settings.world = PlainText(settings.world, kNameBytesMax);
  settings.beside =
      IsToken(settings.beside) && settings.beside.size() <= kIdBytesMax ? settings.beside : "";
  settings.scale =
      settings.scale >= kUserScaleMin && settings.scale <= kUserScaleMax
          ? settings.scale
          : std::clamp(settings.scale > 0 ? settings.scale : 1, kUserScaleMin, kUserScaleMax);
  settings.sprite_limit = std::clamp(settings.sprite_limit, kSpriteLimitMin, kSpriteLimitMax);
  settings.opacity = std::clamp(settings.opacity, kOpacityMin, kOpacityMax);
  settings.volume = std::clamp(settings.volume, kVolumeMin, kVolumeMax);
  settings.cache_mib = std::clamp(settings.cache_mib, kCacheMiBMin, kCacheMiBMax);
  for (Neighbour& muted : settings.muted) {
    muted = {PlainText(muted.desktop, kIdBytesMax), PlainText(muted.name, kNameBytesMax)};
  }
  std::erase(settings.muted, Neighbour{});
  if (settings.muted.size() > kMutedMax) {
    settings.muted.erase(settings.muted.begin(), settings.muted.end() - kMutedMax);
  }
  std::erase_if(settings.hidden, [](const std::string& file) { return !IsFileHash(file); });
  if (settings.hidden.size() > kHiddenMax) {
    settings.hidden.erase(settings.hidden.begin(), settings.hidden.end() - kHiddenMax);
  }
  return settings;
}

}  // namespace sprites
