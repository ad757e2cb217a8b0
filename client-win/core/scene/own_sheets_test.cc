#include "core/scene/own_sheets.h"

#include <doctest/doctest.h>

#include <memory>

namespace sprites {
namespace {

TEST_CASE("own sheets › a picture is drawn once a size, and dropped when no scene shows it") {
  OwnSheets sheets;
  int drawn = 0;
  const auto draw = [&] {
    drawn++;
    return std::make_shared<Sheet>();
  };
  const SheetPointer shown = sheets.Find({8, 4}, draw);
  CHECK(sheets.Find({8, 4}, draw) == shown);
  CHECK(drawn == 1);
  sheets.Find({16, 4}, draw);  // nobody shows it
  CHECK(sheets.kept() == 2);
  sheets.Find({24, 4}, draw);
  CHECK(sheets.kept() == 2);
  CHECK(sheets.Find({8, 4}, draw) == shown);
  CHECK(drawn == 3);
}

}  // namespace
}  // namespace sprites
