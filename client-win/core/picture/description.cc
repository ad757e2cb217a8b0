#include "core/picture/description.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/text/json.h"
#include "core/text/text.h"
#include "wire/rules.h"

namespace sprites {

namespace {

constexpr char kFormat[] = "spr/1";

[[noreturn]] void Refuse(Text text, std::vector<std::string> values = {}) {
  throw SprRefused("json", text, std::move(values));
}

std::string Shown(double number) { return WriteJson(Json(number)); }

const Json& ObjectAt(const Json& value, const std::string& field) {
  if (!value.is_object()) {
    Refuse(Text::kSheetObject, {field});
  }
  return value;
}

double NumberIn(const Json& value, const std::string& field, double low, double high) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (!(number >= low && number <= high)) {
    Refuse(Text::kSheetNumber, {field, Shown(low), Shown(high)});
  }
  return number;
}

int WholeIn(const Json& value, const std::string& field, int low, int high) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (!(number >= low && number <= high && std::floor(number) == number)) {
    Refuse(Text::kSheetWhole, {field, std::to_string(low), std::to_string(high)});
  }
  return static_cast<int>(number);
}

std::string TextIn(const Json& value, const std::string& field, size_t low, size_t high) {
  if (value.is_null() && low == 0) {
    return "";
  }
  if (!value.is_string() || !IsPlainText(value.get_ref<const std::string&>())) {
    Refuse(Text::kSheetPlainText, {field});
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() < low || text.size() > high) {
    Refuse(Text::kSheetTextLength,
           {field, std::to_string(text.size()), std::to_string(low), std::to_string(high)});
  }
  return text;
}

void ReadFrame(const Json& value, int sheet_width, int sheet_height, Description* description) {
  const Json& frame = ObjectAt(value, "frame");
  description->frame_width = WholeIn(MemberOf(frame, "width"), "frame.width", 1, sheet_width);
  description->frame_height = WholeIn(MemberOf(frame, "height"), "frame.height", 1, sheet_height);
  if (sheet_width % description->frame_width != 0 ||
      sheet_height % description->frame_height != 0) {
    Refuse(Text::kSheetGrid);
  }
}

std::array<int, 4> ReadHitbox(const Json& value, int width, int height) {
  if (value.is_null()) {
    return {0, 0, width, height};
  }
  if (!value.is_array() || value.size() != 4) {
    Refuse(Text::kSheetHitbox);
  }
  const int left = WholeIn(value[0], "hitbox x", 0, width - 1);
  const int top = WholeIn(value[1], "hitbox y", 0, height - 1);
  return {left, top, WholeIn(value[2], "hitbox width", 1, width - left),
          WholeIn(value[3], "hitbox height", 1, height - top)};
}

bool IsAnimationName(const std::string& name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_known = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= rules::kAnimationLengthMax && is_letter(name[0]) &&
         std::ranges::all_of(name, is_known);
}

Animation ReadAnimation(const Json& value, const std::string& field, int cells) {
  const Json& given = ObjectAt(value, field);
  const Json& frames = MemberOf(given, "frames");
  if (!frames.is_array() || frames.empty() || frames.size() > size_t{kFramesMax}) {
    Refuse(Text::kSheetFrameList, {field, std::to_string(kFramesMax)});
  }
  Animation animation;
  animation.frames.reserve(frames.size());
  for (const Json& cell : frames) {
    const int index = WholeIn(cell, field + ".frames", 0, cells - 1);
    animation.frames.push_back(static_cast<uint16_t>(index));
  }
  animation.fps = NumberIn(MemberOf(given, "fps"), field + ".fps",
                           std::numeric_limits<double>::denorm_min(), kFpsMax);
  return animation;
}

double BehaviourIn(const Json& value, const char* name, double high, double otherwise) {
  const Json& member = MemberOf(value, name);
  return member.is_null() ? otherwise : NumberIn(member, std::string("behaviour.") + name, 0, high);
}

Behaviour ReadBehaviour(const Json& value) {
  if (value.is_null()) {
    return {};
  }
  const Json& given = ObjectAt(value, "behaviour");
  const Behaviour usual;
  return {BehaviourIn(given, "walkSpeed", kWalkSpeedMax, usual.walk_speed),
          BehaviourIn(given, "jumpSpeed", kJumpSpeedMax, usual.jump_speed),
          BehaviourIn(given, "gravity", kGravityMax, usual.gravity),
          BehaviourIn(given, "bounce", kBounceMax, usual.bounce),
          BehaviourIn(given, "hopChance", 1, usual.hop_chance)};
}

}  // namespace

Description ParseDescription(std::string_view json, int sheet_width, int sheet_height) {
  if (json.size() > kJsonBytesMax) {
    throw SprRefused("iTXt", Text::kSheetJsonTooLong,
                     {std::to_string(json.size()), std::to_string(kJsonBytesMax)});
  }
  if (!IsUtf8(json)) {
    throw SprRefused("iTXt", Text::kSheetTextUtf8);
  }
  const Json root = ParseJson(json, kJsonDepthMax);
  if (root.is_discarded()) {
    throw SprRefused("json", Text::kSheetJsonInvalid);
  }
  if (!root.is_object()) {
    Refuse(Text::kSheetRootObject);
  }
  if (MemberOf(root, "format") != kFormat) {
    Refuse(Text::kSheetFormat, {kFormat});
  }
  Description description;
  ReadFrame(MemberOf(root, "frame"), sheet_width, sheet_height, &description);
  const int cells =
      (sheet_width / description.frame_width) * (sheet_height / description.frame_height);
  if (cells > kFramesMax) {
    Refuse(Text::kSheetGridFrames, {std::to_string(cells), std::to_string(kFramesMax)});
  }
  description.name = TextIn(MemberOf(root, "name"), "name", 1, kNameBytesMax);
  description.author = TextIn(MemberOf(root, "author"), "author", 0, kCreditBytesMax);
  description.licence = TextIn(MemberOf(root, "licence"), "licence", 0, kCreditBytesMax);
  const Json& scale = MemberOf(root, "scale");
  if (!scale.is_null()) {
    description.scale = NumberIn(scale, "scale", rules::kScaleMin, rules::kScaleMax);
  }
  description.hitbox =
      ReadHitbox(MemberOf(root, "hitbox"), description.frame_width, description.frame_height);
  const Json& animations = ObjectAt(MemberOf(root, "animations"), "animations");
  if (animations.size() > kAnimationsMax) {
    Refuse(Text::kSheetAnimations,
           {std::to_string(animations.size()), std::to_string(kAnimationsMax)});
  }
  for (const auto& [name, value] : animations.items()) {
    if (!IsAnimationName(name)) {
      Refuse(Text::kSheetAnimationName);
    }
    description.animations[name] = ReadAnimation(value, "animations." + name, cells);
  }
  if (!description.animations.contains("idle")) {
    Refuse(Text::kSheetIdle);
  }
  description.behaviour = ReadBehaviour(MemberOf(root, "behaviour"));
  return description;
}

}  // namespace sprites
