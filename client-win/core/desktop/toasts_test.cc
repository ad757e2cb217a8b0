#include "core/desktop/toasts.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

TEST_CASE("toasts › are limited to one of a kind in four seconds") {
  Toasts toasts;
  toasts.Add(ToastKind::kNotice, "a", "", 0);
  toasts.Add(ToastKind::kNotice, "b", "", kToastMsMin);
  toasts.Add(ToastKind::kReturned, "c", "", kToastMsMin);
  toasts.Add(ToastKind::kNotice, "d", "", kToastMsMin + 1);
  const auto popped = toasts.Pop();
  REQUIRE(popped.size() == 3);
  CHECK(popped[0].title == "a");
  CHECK(popped[1].title == "c");
  CHECK(popped[2].title == "d");
  CHECK(toasts.Pop().empty());
}

TEST_CASE("toasts › announce only the first sprite of each neighbour") {
  Toasts toasts;
  toasts.AddArrival(Language::kEnglish, "Blob", "Bob", 1);
  toasts.AddArrival(Language::kEnglish, "Blob", "Bob", 10'000);
  toasts.AddArrival(Language::kEnglish, "Blob", "", 20'000);
  CHECK(toasts.Pop().size() == 1);
  for (size_t i = 0; i < kKnownNeighboursMax; i++) {
    toasts.AddArrival(Language::kEnglish, "Blob", std::to_string(i), 30'000);
  }
  toasts.Pop();
  toasts.AddArrival(Language::kEnglish, "Blob", "Bob", 40'000);
  CHECK(toasts.Pop().size() == 1);
}

TEST_CASE("toasts › are not shown while they are switched off") {
  Toasts toasts;
  toasts.SetEnabled(false);
  toasts.Add(ToastKind::kNotice, "a", "", 1);
  toasts.SetEnabled(true);
  toasts.Add(ToastKind::kNotice, "b", "", 2);
  const auto popped = toasts.Pop();
  REQUIRE(popped.size() == 1);
  CHECK(popped[0].title == "b");
}

}  // namespace
}  // namespace sprites
