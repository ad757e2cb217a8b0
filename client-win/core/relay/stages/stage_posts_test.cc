#include "core/relay/stages/stage_posts.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "test/core/peek_vectors.h"
#include "test/core/test_relay.h"

namespace sprites {
namespace {

const std::string kCat(64, 'a');
const std::string kDog(64, 'b');

// A desktop with a sprite of each of `files`, of which the first one walks, and a relay.
struct Shown {
  Shown() {
    const Rect all{0, 0, 800, 600};
    simulation.SetScreen(Screen(std::vector<Monitor>{{all, all, 1, true}}));
  }
  std::optional<Request> Due(int64_t at_ms) {
    now_ms = at_ms;
    const auto look = [this](const std::function<bool(const std::string&)>& is_shown) {
      Sprite sprite;
      sprite.mode = Mode::kWalk;
      sprite.vx = 60;
      sprite.x = x;
      for (const std::string& file : files) {
        sprite.id++;
        sprite.file = file;
        simulation.Put(sprite);
        sprite.mode = Mode::kIdle;
        sprite.vx = 0;
        sprite.x = 50;
      }
      const Edge left[] = {Edge::kLeft};
      return StageOf(simulation, left, is_shown, false);
    };
    Seat seat;
    seat.desktop = "1-1";
    seat.token = "1-1.00";
    const auto is_at_relay = [this](const std::string& file) { return file == at_relay; };
    return AskedAt("http://relay.example", seat, posts.DueRequest(now_ms, look, is_at_relay));
  }
  void Respond(const Request& request, int status, const std::string& body) {
    posts.HandleResponse({request.id, status, body}, now_ms);
  }
  // The files of the stage that is posted at `at_ms`, which the relay accepts.
  std::vector<std::string> Post(int64_t at_ms) {
    const auto request = Due(at_ms);
    REQUIRE(request);
    Respond(*request, 202, R"({"edges":["left"]})");
    return Json::parse(request->body)["files"];
  }

  Simulation simulation;
  StagePosts posts;
  std::vector<std::string> files = {kCat};
  std::string at_relay;
  double x = 100;
  int64_t now_ms = 0;
};

TEST_CASE("stage posts › begin when somebody watches, and follow the protocol") {
  Shown shown;
  CHECK(!shown.Due(0));
  CHECK(shown.posts.NextDueMs() == std::numeric_limits<int64_t>::max());
  shown.posts.Watch({Edge::kLeft});
  CHECK(shown.posts.NextDueMs() == 0);
  const auto request = shown.Due(0);
  REQUIRE(request);
  CHECK(request->method == Method::kPost);
  CHECK(request->url == "http://relay.example/v1/desktops/1-1/stage");
  CHECK(request->token == "1-1.00");
  CHECK(Json::parse(request->body)["sprites"][0]["vx"] == 60);
  CHECK(!shown.Due(60'000));  // one at a time
}

TEST_CASE("stage posts › send only what a watcher can't predict, and a sign of life every 2 s") {
  Shown shown;
  shown.posts.Watch({Edge::kLeft});
  shown.Post(1'000);
  shown.x = 130;
  CHECK(!shown.Due(1'500));  // it walks at 60 px/s, as the watcher knows
  CHECK(shown.posts.NextDueMs() == 1'000 + kStageAliveMs);
  shown.x = 220;
  CHECK(!shown.Due(1'000 + kStageAliveMs - 1));
  shown.Post(1'000 + kStageAliveMs);
  shown.x = 300;
  shown.Post(3'000 + kStagePostMs);  // it has jumped
  shown.x = 500;
  CHECK(!shown.Due(3'000 + 2 * kStagePostMs - 1));  // too soon
  shown.Post(3'000 + 2 * kStagePostMs);
}

TEST_CASE("stage posts › start again with each event, at most ten times a second") {
  Shown shown;
  shown.posts.Watch({Edge::kLeft});
  shown.Post(0);
  shown.posts.Watch({Edge::kLeft});
  CHECK(!shown.Due(kStagePostMs - 1));
  shown.Post(kStagePostMs);  // for the one who came
}

TEST_CASE("stage posts › end with an event or an answer without edges") {
  Shown shown;
  shown.posts.Watch({Edge::kLeft});
  shown.posts.Watch({});
  CHECK(!shown.Due(0));
  shown.posts.Watch({Edge::kLeft});
  auto request = shown.Due(0);
  REQUIRE(request);
  shown.Respond(*request, 202, R"({"edges":[]})");
  CHECK(shown.posts.edges().empty());
  // An event after the request was sent is newer than the answer.
  shown.posts.Watch({Edge::kLeft});
  request = shown.Due(kStagePostMs);
  REQUIRE(request);
  shown.posts.Watch({Edge::kRight});
  shown.Respond(*request, 202, R"({"edges":[]})");
  CHECK(shown.posts.edges() == std::vector{Edge::kRight});
}

TEST_CASE(
    "stage posts › go on a second after a lost or too fast one, and end after other refusals") {
  struct Row {
    int status;
    const char* body;
    bool goes_on;
  };
  for (const Row& row :
       {Row{0, "", true}, Row{429, R"({"code":"too-fast"})", true},
        Row{503, R"({"code":"relay-busy"})", true}, Row{502, "<html>", true}, Row{202, "{}", true},
        Row{410, R"({"code":"desktop-ended"})", true}, Row{404, R"({"code":"not-found"})", false},
        Row{400, R"({"code":"malformed"})", false}}) {
    CAPTURE(row.body);
    Shown shown;
    shown.posts.Watch({Edge::kLeft});
    const auto request = shown.Due(0);
    REQUIRE(request);
    shown.Respond(*request, row.status, row.body);
    CHECK(shown.posts.edges().empty() == !row.goes_on);
    CHECK(!shown.Due(kStageRetryMs - 1));
    CHECK(shown.Due(kStageRetryMs).has_value() == row.goes_on);
  }
}

TEST_CASE("stage posts › have one unknown picture at a time, so that a refusal names it") {
  Shown shown;
  shown.files = {kCat, kDog};
  shown.posts.Watch({Edge::kLeft});
  const auto request = shown.Due(0);
  REQUIRE(request);
  CHECK(Json::parse(request->body)["files"] == Json::array({kCat}));
  shown.Respond(*request, 403, R"({"code":"picture-refused"})");
  CHECK(shown.Post(kStageRetryMs) == std::vector{kDog});
  CHECK(shown.Post(kStageRetryMs + kStageAliveMs) == std::vector{kDog});  // the cat stays away
  Shown other;
  other.files = {kCat, kDog};
  other.posts.Watch({Edge::kLeft});
  CHECK(other.Post(0) == std::vector{kCat});
  CHECK(other.Post(kStagePostMs) == std::vector{kDog, kCat});
  // What the relay is known to carry needs no try.
  Shown third;
  third.files = {kCat, kDog};
  third.at_relay = kDog;
  third.posts.Watch({Edge::kLeft});
  CHECK(third.Post(0).size() == 2);
}

TEST_CASE(
    "stage posts › files known: one less than the limit, the limit; with one more all are "
    "forgotten") {
  for (const size_t count :
       {kStageFilesKnownMax - 1, kStageFilesKnownMax, kStageFilesKnownMax + 1}) {
    Shown shown;
    shown.posts.Watch({Edge::kLeft});
    int64_t at_ms = 0;
    const auto post = [&](const std::vector<std::string>& files) {
      shown.files = files;
      return shown.Post(at_ms += kStageAliveMs);
    };
    post({kCat});
    post({kDog});
    for (size_t i = 2; i < count; i++) {
      const std::string number = std::to_string(10'000 + i);
      post({std::string(64 - number.size(), 'c') + number});
    }
    // Of pictures that are not known, only one is posted at a time.
    CHECK(post({kCat, kDog}).size() == (count <= kStageFilesKnownMax ? 2 : 1));
  }
}

TEST_CASE("stage posts › try each picture again when the relay refuses known ones") {
  Shown shown;
  shown.files = {kCat, kDog};
  shown.posts.Watch({Edge::kLeft});
  shown.Post(0);
  shown.Post(100);
  shown.x = 300;
  auto request = shown.Due(200);
  REQUIRE(request);
  shown.Respond(*request, 403, R"({"code":"picture-refused"})");
  request = shown.Due(200 + kStageRetryMs);
  REQUIRE(request);
  CHECK(Json::parse(request->body)["files"].size() == 1);
}

TEST_CASE("stage posts › have the constants of the vectors") {
  const Json& constants = PeekVectors()["constants"];
  CHECK(constants["POST_GAP_MS"] == kStagePostMs);
  CHECK(constants["ALIVE_MS"] == kStageAliveMs);
  CHECK(constants["RETRY_MS"] == kStageRetryMs);
}

}  // namespace
}  // namespace sprites
