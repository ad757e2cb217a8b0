#include "core/text/json.h"

#include <algorithm>

namespace sprites {

namespace {

// Counts brackets only, so it can be wrong only about text that is not JSON.
bool IsDeeperThan(std::string_view text, int depth_max) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > depth_max) {
        return true;
      }
    } else if (c == ']' || c == '}') {
      depth--;
    }
  }
  return false;
}

}  // namespace

Json ParseJson(std::string_view text, int depth_max) {
  if (IsDeeperThan(text, depth_max)) {
    return Json(Json::value_t::discarded);
  }
  return Json::parse(text, nullptr, false);
}

const Json& MemberOf(const Json& value, const char* name) {
  static const Json nothing;
  if (!value.is_object()) {
    return nothing;
  }
  const auto member = value.find(name);
  return member == value.end() ? nothing : *member;
}

std::string TextAt(const Json& value, const char* name, size_t bytes_max) {
  const Json& member = MemberOf(value, name);
  if (!member.is_string()) {
    return "";
  }
  const auto& text = member.get_ref<const std::string&>();
  return text.size() <= bytes_max ? text : "";
}

double NumberAt(const Json& value, const char* name, double low, double high, double otherwise) {
  const Json& member = MemberOf(value, name);
  return member.is_number() ? std::clamp(member.get<double>(), low, high) : otherwise;
}

bool BoolAt(const Json& value, const char* name, bool otherwise) {
  const Json& member = MemberOf(value, name);
  return member.is_boolean() ? member.get<bool>() : otherwise;
}

std::string WriteJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sprites
