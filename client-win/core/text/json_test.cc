#include "core/text/json.h"

#include <doctest/doctest.h>

#include <string>

namespace sprites {
namespace {

std::string Nested(int depth, char open, char close) {
  const auto count = static_cast<size_t>(depth);
  return std::string(count, open) + std::string(count, close);
}

TEST_CASE("json › is nested as deep as the reader allows, and no deeper") {
  // Every limit of the readers: releases, answers and seats, saved states, events, settings.
  for (const int depth_max : {3, 4, 6, 8, 16}) {
    for (const int depth : {depth_max - 1, depth_max, depth_max + 1}) {
      CAPTURE(depth_max);
      CAPTURE(depth);
      CHECK(ParseJson(Nested(depth, '[', ']'), depth_max).is_discarded() == (depth > depth_max));
      const std::string objects =
          "{\"a\":" + Nested(depth - 1, '[', ']') + "}";  // REQUIRES: depth ≥ 2
      CHECK(ParseJson(objects, depth_max).is_discarded() == (depth > depth_max));
    }
  }
}

TEST_CASE("json › depth does not count brackets in texts, nor brackets side by side") {
  CHECK(!ParseJson(R"(["[[[[","\\\"[[[","{{{"])", 1).is_discarded());
  CHECK(!ParseJson("[[],[],[],{}]", 2).is_discarded());
  CHECK(ParseJson("[[],[[]]]", 2).is_discarded());
}

TEST_CASE("json › a text is read up to its limit of bytes, a number is clamped to its range") {
  const Json value = {{"text", "abcd"}, {"number", 5}, {"on", true}};
  CHECK(TextAt(value, "text", 5) == "abcd");
  CHECK(TextAt(value, "text", 4) == "abcd");
  CHECK(TextAt(value, "text", 3) == "");
  CHECK(TextAt(value, "number", 9) == "");
  CHECK(NumberAt(value, "number", 0, 6, 1) == 5);
  CHECK(NumberAt(value, "number", 0, 5, 1) == 5);
  CHECK(NumberAt(value, "number", 0, 4, 1) == 4);
  CHECK(NumberAt(value, "number", 6, 9, 1) == 6);
  CHECK(NumberAt(value, "text", 0, 9, 1) == 1);
  CHECK(BoolAt(value, "on", false));
  CHECK(BoolAt(value, "number", false) == false);
  CHECK(MemberOf(value, "none").is_null());
  CHECK(MemberOf(Json(7), "none").is_null());
}

}  // namespace
}  // namespace sprites
