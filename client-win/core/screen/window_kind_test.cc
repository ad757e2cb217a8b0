#include "core/screen/window_kind.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

struct Case {
  const char* what;
  WindowTraits traits;
  WindowKind kind;
};

TEST_CASE(
    "window kind › sprites stand on windows of programs, not on what passes or can't be seen") {
  const Case cases[] = {
      {"a usual window", {.has_caption = true, .has_frame = true}, WindowKind::kGround},
      {"a palette with a caption", {.has_caption = true, .is_tool = true}, WindowKind::kGround},
      {"a window without caption that can be sized", {.has_frame = true}, WindowKind::kGround},
      {"a half transparent window",
       {.has_caption = true, .is_layered = true, .alpha = 128},
       WindowKind::kGround},
      {"a window of a browser, drawn pixel by pixel",
       {.has_caption = true, .is_layered = true, .alpha = -1},
       WindowKind::kGround},
      {"a player with a skin, on the task bar", {.is_on_task_bar = true}, WindowKind::kGround},
      {"a film on the whole screen", {}, WindowKind::kCover},
      {"a faint window",
       {.has_caption = true, .is_layered = true, .alpha = 16},
       WindowKind::kGround},
      {"one fainter still",
       {.has_caption = true, .is_layered = true, .alpha = 15},
       WindowKind::kIgnored},
      {"an invisible helper",
       {.has_caption = true, .is_layered = true, .alpha = 0},
       WindowKind::kIgnored},
      {"a widget of any shape", {.is_layered = true, .alpha = -1}, WindowKind::kIgnored},
      {"an overlay of a driver", {.is_never_active = true}, WindowKind::kIgnored},
      {"a keyboard on the screen, on the task bar",
       {.has_caption = true, .is_on_task_bar = true, .is_never_active = true},
       WindowKind::kGround},
      {"a recorder's frame that lets clicks through",
       {.has_frame = true, .lets_clicks_through = true},
       WindowKind::kIgnored},
      {"a menu", {.class_name = L"#32768"}, WindowKind::kIgnored},
      {"a tooltip", {.class_name = L"tooltips_class32"}, WindowKind::kIgnored},
      {"a popup of a program's own", {.is_tool = true}, WindowKind::kIgnored}};
  for (const Case& one : cases) {
    CAPTURE(one.what);
    CHECK(KindOf(one.traits) == one.kind);
  }
}

TEST_CASE("window kind › a film has no caption, and is not maximised as a borderless window is") {
  CHECK(MayBeFilm({}));
  CHECK(MayBeFilm({.has_frame = true}));
  CHECK(!MayBeFilm({.has_caption = true}));
  CHECK(!MayBeFilm({.is_maximised = true}));
}

}  // namespace
}  // namespace sprites
