#include "core/relay/stages/peek.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "test/core/peek_vectors.h"
#include "test/core/test_relay.h"

namespace sprites {
namespace {

// A relay that answers as the test says, at once.
struct Watcher {
  void Pass(int64_t ms) {
    for (const int64_t end = now_ms + ms; now_ms < end;) {
      now_ms += 10;
      Seat seat;
      seat.desktop = "1-1";
      seat.token = "1-1.00";
      const auto request = AskedAt("http://relay.example", seat, peek.DueRequest(now_ms));
      if (!request) {
        continue;
      }
      last = *request;
      asked.push_back(Json::parse(request->body)["edge"]);
      asked_ms.push_back(now_ms);
      std::optional<PeekRefusal> refusal;
      if (answers) {
        refusal = peek.HandleResponse({request->id, status, body}, now_ms);
      }
      if (refusal) {
        refusals.push_back(refusal->problem.code);
      }
    }
  }

  Peek peek;
  Request last;
  std::vector<Json> asked;
  std::vector<int64_t> asked_ms;
  std::vector<std::string> refusals;
  bool answers = true;
  int status = 202;
  std::string body = R"({"edge":"left","leaseMs":10000})";
  int64_t now_ms = 0;
};

TEST_CASE("peek › asks at once, renews the lease when half of it is over, and ends it") {
  Watcher watcher;
  CHECK(watcher.peek.NextDueMs() == std::numeric_limits<int64_t>::max());
  watcher.peek.Look(Edge::kLeft);
  watcher.Pass(19'000);
  CHECK(watcher.asked == std::vector<Json>{"left", "left", "left", "left"});
  CHECK(watcher.asked_ms[1] - watcher.asked_ms[0] == 5'000);
  CHECK(watcher.last.url == "http://relay.example/v1/desktops/1-1/peeks");
  CHECK(watcher.last.method == Method::kPost);
  CHECK(watcher.last.token == "1-1.00");
  watcher.peek.Look(std::nullopt);
  watcher.Pass(30'000);
  CHECK(watcher.asked.size() == 5);
  CHECK(watcher.asked.back() == nullptr);
}

TEST_CASE("peek › a lease: below its limits, at them, above them") {
  // The time until it is renewed: half of the lease.
  const auto renewed_after = [](int64_t lease_ms) {
    Watcher watcher;
    watcher.body = R"({"edge":"left","leaseMs":)" + std::to_string(lease_ms) + "}";
    watcher.peek.Look(Edge::kLeft);
    watcher.Pass(kPeekLeaseMsMax);
    REQUIRE(watcher.asked_ms.size() >= 2);
    return watcher.asked_ms[1] - watcher.asked_ms[0];
  };
  for (const int64_t lease_ms : {kPeekLeaseMsMax - 20, kPeekLeaseMsMax, kPeekLeaseMsMax + 20}) {
    CHECK(renewed_after(lease_ms) == std::min(lease_ms, kPeekLeaseMsMax) / 2);
  }
  for (const int64_t lease_ms : {kPeekLeaseMsMin - 20, kPeekLeaseMsMin, kPeekLeaseMsMin + 20}) {
    CHECK(renewed_after(lease_ms) == std::max(lease_ms, kPeekLeaseMsMin) / 2);
  }
}

TEST_CASE("peek › asks at most every half second, for the newest edge, one request at a time") {
  Watcher watcher;
  for (const auto edge : {Edge::kLeft, Edge::kTop, Edge::kRight, Edge::kBottom}) {
    watcher.peek.Look(edge);
    watcher.Pass(20);
  }
  watcher.Pass(2'000);
  CHECK(watcher.asked == std::vector<Json>{"left", "bottom"});
  CHECK(watcher.asked_ms[1] - watcher.asked_ms[0] == kPeekAskMs);
  watcher.answers = false;
  watcher.peek.Look(Edge::kLeft);
  watcher.Pass(60'000);
  CHECK(watcher.asked.size() == 3);
}

TEST_CASE(
    "peek › says why an edge shows nothing, and tries it again later, or soon after a change") {
  Watcher watcher;
  watcher.status = 403;
  watcher.body = R"({"code":"stage-hidden"})";
  watcher.peek.Look(Edge::kLeft);
  watcher.Pass(kPeekRefusedMs - 10);
  CHECK(watcher.asked.size() == 1);
  CHECK(watcher.refusals == std::vector<std::string>{"stage-hidden"});
  watcher.Pass(20);
  CHECK(watcher.asked.size() == 2);
  watcher.peek.AskSoon(watcher.now_ms);
  watcher.Pass(kPeekRetryMs + 10);
  CHECK(watcher.asked.size() == 3);
  watcher.status = 404;
  watcher.body = R"({"code":"no-neighbour"})";
  watcher.Pass(kPeekRefusedMs + 10);
  CHECK(watcher.refusals.back() == "no-neighbour");
}

TEST_CASE("peek › asks again after a lost request and a passing refusal, and reports neither") {
  struct Row {
    int status;
    const char* body;
  };
  for (const Row& row : {Row{0, ""}, Row{429, R"({"code":"too-fast"})"},
                         Row{503, R"({"code":"draining"})"}, Row{503, R"({"code":"relay-busy"})"},
                         Row{202, "{}"}, Row{401, R"({"code":"unknown-desktop"})"}}) {
    CAPTURE(row.body);
    Watcher watcher;
    watcher.status = row.status;
    watcher.body = row.body;
    watcher.peek.Look(Edge::kLeft);
    watcher.Pass(kPeekRetryMs + 20);
    CHECK(watcher.asked.size() == 2);
    CHECK(watcher.refusals.empty());
  }
}

TEST_CASE("peek › never again asks a relay that does not know peeks") {
  Watcher watcher;
  watcher.status = 404;
  watcher.body = R"({"code":"not-found"})";
  watcher.peek.Look(Edge::kLeft);
  watcher.Pass(100);
  watcher.peek.Look(Edge::kRight);
  watcher.Pass(60'000);
  CHECK(watcher.asked.size() == 1);
  CHECK(watcher.peek.is_unsupported());
  CHECK(!watcher.peek.wanted());
  CHECK(watcher.refusals.empty());
}

TEST_CASE("peek › asks again with another seat, and not too often when the lease is short") {
  Watcher watcher;
  watcher.body = R"({"leaseMs":0})";
  watcher.peek.Look(Edge::kLeft);
  watcher.Pass(1'000);
  CHECK(watcher.asked.size() == 2);  // half of the shortest lease
  watcher.body = R"({"leaseMs":10000})";
  watcher.Pass(1'000);
  const size_t before = watcher.asked.size();
  watcher.peek.Restart();
  watcher.Pass(600);
  CHECK(watcher.asked.size() == before + 1);
}

TEST_CASE("peek › has the constants of the vectors") {
  const Json& constants = PeekVectors()["constants"];
  CHECK(constants["ASK_GAP_MS"] == kPeekAskMs);
  CHECK(constants["RETRY_MS"] == kPeekRetryMs);
  CHECK(constants["REFUSED_MS"] == kPeekRefusedMs);
}

}  // namespace
}  // namespace sprites
