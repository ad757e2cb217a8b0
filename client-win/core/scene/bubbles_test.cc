#include "core/scene/bubbles.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/desktop/conversation.h"
#include "core/relay/crossings/edges.h"
#include "test/core/vectors.h"

namespace sprites {
namespace {

constexpr Rect kRoom{0, 0, 800, 600};

PlacedBubble AtSprite(const Rect& sprite, double width = 100, double height = 40,
                      double scale = 1) {
  return {{kRoom, scale, sprite, Edge::kTop, false}, {width, height}};
}

PlacedBubble AtEdge(Edge edge, bool has_tail = true) {
  return {{kRoom, 1, std::nullopt, edge, has_tail}, {100, 40}};
}

BubblePlace PlaceOf(const PlacedBubble& bubble) {
  const PlacedBubble one[] = {bubble};
  const auto places = PlaceBubbles(one, {});
  REQUIRE(places.size() == 1);
  REQUIRE(places[0]);
  return *places[0];
}

TEST_CASE("bubbles › one is over the middle of its sprite, with a tail that points at it") {
  const BubblePlace place = PlaceOf(AtSprite({370, 500, 430, 560}));
  CHECK(place.box == Rect{350, 452, 450, 492});
  CHECK(place.tail == Edge::kBottom);
  CHECK(place.tail_at == 50);
  const BubblePlace large = PlaceOf(AtSprite({370, 500, 430, 560}, 100, 40, 2));
  CHECK(large.box.bottom == 484);  // twice the gap
}

TEST_CASE("bubbles › one without room above is below its sprite") {
  CHECK(PlaceOf(AtSprite({370, 48, 430, 100})).box.top == 0);
  const BubblePlace place = PlaceOf(AtSprite({370, 47, 430, 100}));
  CHECK(place.box == Rect{350, 108, 450, 148});
  CHECK(place.tail == Edge::kTop);
}

TEST_CASE("bubbles › one stays inside its room, and its tail inside the bubble") {
  const BubblePlace left = PlaceOf(AtSprite({-20, 500, 20, 560}));
  CHECK(left.box.left == 0);
  CHECK(left.tail_at == kTailInset);
  const BubblePlace right = PlaceOf(AtSprite({780, 500, 820, 560}));
  CHECK(right.box.right == 800);
  CHECK(right.tail_at == 100 - kTailInset);
  const BubblePlace huge = PlaceOf(AtSprite({370, 500, 430, 560}, 900, 700));
  CHECK(huge.box == Rect{0, 0, 900, 700});
  CHECK(!huge.tail);
}

TEST_CASE("bubbles › one of a neighbour is in the middle of its edge") {
  CHECK(PlaceOf(AtEdge(Edge::kLeft)).box == Rect{0, 280, 100, 320});
  CHECK(PlaceOf(AtEdge(Edge::kRight)).box == Rect{700, 280, 800, 320});
  CHECK(PlaceOf(AtEdge(Edge::kTop)).box == Rect{350, 0, 450, 40});
  CHECK(PlaceOf(AtEdge(Edge::kBottom)).box == Rect{350, 560, 450, 600});
  CHECK(PlaceOf(AtEdge(Edge::kLeft)).tail == Edge::kLeft);
  CHECK(PlaceOf(AtEdge(Edge::kLeft)).tail_at == 20);
  CHECK(PlaceOf(AtEdge(Edge::kBottom)).tail_at == 50);
  CHECK(!PlaceOf(AtEdge(Edge::kTop, false)).tail);
}

TEST_CASE("bubbles › the newest has the place it wants, and the older ones make room") {
  const Rect sprite{370, 500, 430, 560};
  const PlacedBubble both[] = {AtSprite(sprite), AtSprite(sprite)};
  const auto places = PlaceBubbles(both, {});
  CHECK(places[0]->box == Rect{350, 452, 450, 492});
  CHECK(places[1]->box == Rect{350, 404, 450, 444});
}

TEST_CASE("bubbles › none covers the sprite that the pointer holds") {
  const PlacedBubble one[] = {AtSprite({370, 500, 430, 560})};
  const Rect held[] = {{340, 440, 460, 470}};
  const auto places = PlaceBubbles(one, held);
  REQUIRE(places[0]);
  CHECK(places[0]->box.top == 478);
}

TEST_CASE("bubbles › one that fits nowhere has no place, and takes none") {
  const PlacedBubble three[] = {AtSprite({370, 300, 430, 360}, 800, 500),
                                AtSprite({370, 300, 430, 360}, 800, 200), AtEdge(Edge::kBottom)};
  const auto places = PlaceBubbles(three, {});
  CHECK(places[0]);
  CHECK(!places[1]);
  CHECK(places[2]);
}

TEST_CASE("bubbles › are inside their room and apart from each other, wherever they belong") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 engine(seed);
  const auto number = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  for (int turn = 0; turn < 100; turn++) {
    std::vector<PlacedBubble> bubbles;
    for (int i = 0; i < 8; i++) {
      const double x = number(-50, 800);
      const double y = number(-50, 600);
      PlacedBubble bubble = AtSprite({x, y, x + 60, y + 60}, number(40, 260), number(30, 200));
      if (number(0, 1) < 0.3) {
        bubble.post.sprite.reset();
        bubble.post.edge = static_cast<Edge>(static_cast<int>(number(0, 3.99)));
      }
      bubbles.push_back(bubble);
    }
    const auto places = PlaceBubbles(bubbles, {});
    for (size_t i = 0; i < places.size(); i++) {
      if (!places[i]) {
        continue;
      }
      const Rect& box = places[i]->box;
      CHECK(box.left >= 0);
      CHECK(box.top >= 0);
      CHECK(box.right <= 800 + 1e-9);
      CHECK(box.bottom <= 600 + 1e-9);
      for (size_t j = 0; j < i; j++) {
        const bool is_apart = !places[j] || box.left >= places[j]->box.right + 7.99 ||
                              box.right <= places[j]->box.left - 7.99 ||
                              box.top >= places[j]->box.bottom + 7.99 ||
                              box.bottom <= places[j]->box.top - 7.99;
        CHECK(is_apart);
      }
    }
  }
}

// -- The vectors, which the browser's desktop plays too.

const Json& Vectors() {
  static const Json vectors = ReadVectors(BUBBLE_VECTORS);
  return vectors;
}

Rect RectIn(const Json& box) { return {box["left"], box["top"], box["right"], box["bottom"]}; }

TEST_CASE("bubbles › have the places of the vectors") {
  const Json& vectors = Vectors();
  REQUIRE(!vectors["placing"].empty());
  for (const Json& vector : vectors["placing"]) {
    CAPTURE(vector["name"].get<std::string>());
    std::vector<Rect> obstacles;
    for (const Json& box : vector["obstacles"]) {
      obstacles.push_back(RectIn(box));
    }
    std::vector<PlacedBubble> bubbles;
    for (const Json& one : vector["bubbles"]) {
      PlacedBubble bubble{{RectIn(vector["room"]), 1, std::nullopt, Edge::kTop, false},
                          {one["width"], one["height"]}};
      const Json& anchor = one["anchor"];
      if (anchor.contains("box")) {
        bubble.post.sprite = RectIn(anchor["box"]);
      } else {
        bubble.post.edge = *EdgeNamed(anchor["edge"]);
        bubble.post.has_tail_at_edge = anchor["tail"];
      }
      bubbles.push_back(bubble);
    }
    const auto places = PlaceBubbles(bubbles, obstacles);
    REQUIRE(places.size() == vector["expect"].size());
    for (size_t i = 0; i < places.size(); i++) {
      CAPTURE(i);
      const Json& wanted = vector["expect"][i];
      REQUIRE(places[i].has_value() == !wanted.is_null());
      if (!places[i]) {
        continue;
      }
      CHECK(places[i]->box.left == doctest::Approx(wanted["left"].get<double>()));
      CHECK(places[i]->box.top == doctest::Approx(wanted["top"].get<double>()));
      REQUIRE(places[i]->tail.has_value() == !wanted["tail"].is_null());
      if (places[i]->tail) {
        CHECK(*places[i]->tail == *EdgeNamed(wanted["tail"]["side"]));
        CHECK(places[i]->tail_at == doctest::Approx(wanted["tail"]["at"].get<double>()));
      }
    }
  }
}

TEST_CASE("bubbles › are shown as in the vectors") {
  const Json& vectors = Vectors();
  REQUIRE(!vectors["shown"].empty());
  for (const Json& vector : vectors["shown"]) {
    CAPTURE(vector["name"].get<std::string>());
    Conversation conversation;
    size_t looks = 0;
    for (const Json& step : vector["script"]) {
      conversation.Expire(step["ms"]);
      if (step.contains("text")) {
        conversation.Hear({{step["from"], ""}, step["text"], std::nullopt}, false, step["ms"]);
      } else if (step.contains("mute")) {
        conversation.Silence({step["mute"], ""});
      } else {
        Json shown = Json::array();
        for (const HeardBubble& bubble : conversation.bubbles()) {
          shown.insert(shown.begin(), bubble.saying.text);
        }
        CHECK(shown == vector["expect"][looks++]);
      }
    }
    CHECK(looks == vector["expect"].size());
  }
}

TEST_CASE("bubbles › have the numbers of the vectors") {
  const std::map<std::string, double> numbers = {{"BUBBLES_MAX", kBubblesMax},
                                                 {"BUBBLES_PER_SPEAKER_MAX", kBubblesPerSpeakerMax},
                                                 {"BUBBLE_GAP", kBubbleGap},
                                                 {"BUBBLE_MS_MIN", kBubbleMsMin},
                                                 {"BUBBLE_MS_PER_BYTE", kBubbleMsPerByte},
                                                 {"BUBBLE_WIDTH_MAX", kBubbleWidthMax},
                                                 {"HISTORY_MAX", kHistoryMax},
                                                 {"SIDEWAYS", kSideways},
                                                 {"TAIL_INSET", kTailInset}};
  CHECK(Vectors()["constants"].get<std::map<std::string, double>>() == numbers);
}

}  // namespace
}  // namespace sprites
