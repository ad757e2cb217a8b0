#include "core/desktop/conversation.h"

#include <doctest/doctest.h>

#include <limits>

namespace sprites {
namespace {

Saying Said(const std::string& desktop, const std::string& text) {
  return {{desktop, desktop == "9-3e" ? "Bob" : ""}, text, std::nullopt};
}

TEST_CASE("conversation › a bubble is shown for as long as its text takes to read") {
  CHECK(BubbleMs("") == 3'000);
  CHECK(BubbleMs("x") == 3'060);
  CHECK(BubbleMs(std::string(kSayingBytesMax, 'x')) == 19'800);
  CHECK(BubbleMs("漢") == 3'180);  // three bytes
  Conversation conversation;
  CHECK(conversation.NextEndMs() == std::numeric_limits<int64_t>::max());
  conversation.Hear(Said("9-3e", "x"), false, 1'000);
  CHECK(conversation.NextEndMs() == 4'060);
  conversation.Expire(4'059);
  CHECK(conversation.bubbles().size() == 1);
  conversation.Expire(4'060);
  CHECK(conversation.bubbles().empty());
  CHECK(conversation.history().size() == 1);
}

TEST_CASE("conversation › shows at most three bubbles of one speaker; the oldest goes") {
  Conversation conversation;
  conversation.Hear(Said("9-40", "other"), false, 0);
  for (const char* text : {"1", "2", "3"}) {
    conversation.Hear(Said("9-3e", text), false, 0);
  }
  CHECK(conversation.bubbles().size() == 4);
  conversation.Hear(Said("9-3e", "4"), false, 0);
  REQUIRE(conversation.bubbles().size() == 4);
  CHECK(conversation.bubbles()[0].saying.text == "other");
  CHECK(conversation.bubbles()[1].saying.text == "2");
  CHECK(conversation.bubbles()[3].saying.text == "4");
  CHECK(conversation.bubbles()[3].id == 5);
}

TEST_CASE("conversation › shows at most eight bubbles; the oldest goes") {
  Conversation conversation;
  for (int i = 1; i <= 8; i++) {
    conversation.Hear(Said("9-" + std::to_string(i), "x"), false, 0);
  }
  CHECK(conversation.bubbles().size() == 8);
  conversation.Hear(Said("9-9", "x"), true, 0);
  REQUIRE(conversation.bubbles().size() == kBubblesMax);
  CHECK(conversation.bubbles().front().saying.from.desktop == "9-2");
  CHECK(conversation.bubbles().back().is_own);
}

TEST_CASE("conversation › keeps fifty lines; the oldest goes") {
  Conversation conversation;
  for (int i = 1; i <= 50; i++) {
    conversation.Hear(Said("9-3e", std::to_string(i)), false, i);
  }
  CHECK(conversation.history().size() == 50);
  CHECK(conversation.history().front().saying.text == "1");
  const uint64_t version = conversation.history_version();
  conversation.Hear(Said("9-3e", "51"), false, 51);
  REQUIRE(conversation.history().size() == kHistoryMax);
  CHECK(conversation.history().front().saying.text == "2");
  CHECK(conversation.history().back().heard_ms == 51);
  CHECK(conversation.history_version() > version);
}

TEST_CASE("conversation › missed sayings are one line, without a bubble, until the next saying") {
  Conversation conversation;
  conversation.Miss(0, 0);
  CHECK(conversation.history().empty());
  conversation.Miss(3, 10);
  conversation.Miss(4, 20);
  REQUIRE(conversation.history().size() == 1);
  CHECK(conversation.history()[0].missed == 7);
  CHECK(conversation.history()[0].heard_ms == 10);
  conversation.Hear(Said("9-3e", "x"), false, 30);
  conversation.Miss(1, 40);
  CHECK(conversation.history().size() == 3);
  CHECK(conversation.bubbles().size() == 1);
  conversation.Miss(std::numeric_limits<uint64_t>::max(), 50);
  CHECK(conversation.history().back().missed == std::numeric_limits<uint64_t>::max());
}

TEST_CASE("conversation › the bubbles of a muted desktop go at once, its lines stay") {
  Conversation conversation;
  conversation.Hear(Said("9-3e", "x"), false, 0);
  conversation.Hear(Said("9-40", "y"), false, 0);
  conversation.Silence({"9-3e", "Bob"});
  REQUIRE(conversation.bubbles().size() == 1);
  CHECK(conversation.bubbles()[0].saying.text == "y");
  conversation.Silence({"", "9-40"});  // of a file of version 0.1, which had names
  CHECK(conversation.bubbles().empty());
  CHECK(conversation.history().size() == 2);
}

}  // namespace
}  // namespace sprites
