#include "plan/options.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "test/plan_json.h"

namespace swarm {
namespace {

Options Read(const std::string& text, uint64_t descriptors_max = 20'000) {
  std::istringstream in(text);
  return ReadPlan(in, descriptors_max);
}

Options ReadWith(const Json& changes, uint64_t descriptors_max = 20'000) {
  return Read(PlanWith(changes).dump(), descriptors_max);
}

// What is wrong with a plan; empty when nothing is.
std::string WrongIn(const std::string& text) {
  try {
    Read(text);
  } catch (const WrongPlan& error) {
    return error.what();
  }
  return {};
}

std::string WrongWith(const Json& changes) { return WrongIn(PlanWith(changes).dump()); }

bool IsWrong(const Json& changes) {
  CAPTURE(changes.dump());
  return !WrongWith(changes).empty();
}

const Json kTwoRelays = {"127.0.0.1:1", "127.0.0.1:2"};

}  // namespace

TEST_CASE("options: a rate is the open model, and every member is where it belongs") {
  const Options options =
      ReadWith({{"load", Rate(2000)}, {"duration", 0.5}, {"leave", true}, {"slipMax", 0.1}});
  CHECK(options.mode == Mode::kOpen);
  CHECK_EQ(options.rate, 2000);
  CHECK_EQ(options.duration_s, 0.5);
  CHECK_EQ(options.slip_max_s, 0.1);
  CHECK_EQ(options.desktops, 1000U);
  CHECK_EQ(options.senders, 1000U);
  CHECK_EQ(options.throw_connections, 1000U);
  CHECK_EQ(options.processes, 1U);
  CHECK(options.leave);
  CHECK(options.transport == Transport::kPoll);
}

TEST_CASE("options: a plan is one object, and what follows its line is left") {
  std::istringstream in(PlanWith(Json::object()).dump(2) + "\n1700000000123\n");
  CHECK_EQ(ReadPlan(in, 20'000).desktops, 1000U);
  std::string rest;
  std::getline(in, rest);
  CHECK_EQ(rest, "1700000000123");
  for (const char* const text : {"", "{", "[]", "7", "null", "{\"apis\": [\"a\"}"}) {
    CAPTURE(text);
    CHECK(!WrongIn(text).empty());
  }
}

TEST_CASE("options: every member must be there, and no other one") {
  const Json whole = PlanWith(Json::object());
  for (const auto& member : whole.items()) {
    Json plan = whole;
    plan.erase(member.key());
    CHECK(WrongIn(plan.dump()).starts_with(member.key() + ": "));
    plan[member.key()] = nullptr;  // no member may be null
    CAPTURE(member.key());
    CHECK(!WrongIn(plan.dump()).empty());
  }
  CHECK_EQ(WrongWith({{"desktops", 5}}), "there is no desktops");
  CHECK_EQ(WrongWith({{"mix", {{"dancing", 1}, {"throwing", 1}}}}), "there is no dancing");
  CHECK(WrongWith({{"load", {{"kind", "rate"}}}}).starts_with("perSecond: "));
  CHECK_EQ(WrongWith({{"load", {{"kind", "sitting"}, {"perSecond", 1}}}}), "there is no perSecond");
}

TEST_CASE("options: a message names the member, and what is wrong with it") {
  for (const Json& wrong : {Json(-5), Json(1.5), Json(1ULL << 32)}) {
    CHECK_EQ(WrongWith({{"connectBatch", wrong}}),
             "connectBatch must be a whole number; got " + wrong.dump());
  }
  CHECK(WrongWith({{"duration", "5 s"}}).starts_with("duration: "));
  CHECK_EQ(WrongWith({{"transport", "pigeon"}}), "transport can't be pigeon");
  CHECK(IsWrong({{"mix", 7}}));
}

TEST_CASE("options: there is one relay or several, up to a limit") {
  CHECK_EQ(ReadWith(Json::object()).apis.size(), 1U);
  Json apis = Json::array();
  for (size_t relay = 1; relay <= kRelaysMax; ++relay) {
    apis.push_back("127.0.0.1:" + std::to_string(relay));
  }
  const Options most = ReadWith({{"apis", apis}, {"toward", "across"}});
  CHECK_EQ(most.apis.size(), kRelaysMax);
  CHECK(most.toward == Toward::kAcross);
  apis.push_back("127.0.0.1:65");
  CHECK(IsWrong({{"apis", apis}}));
}

TEST_CASE("options: throws that share connections need one for each relay in each process") {
  const auto shared = [](int connections) {
    return Json({{"apis", kTwoRelays}, {"processes", 2}, {"throwConnections", connections}});
  };
  CHECK(IsWrong(shared(1)));
  CHECK_EQ(ReadWith(shared(2)).processes, 1U);
  CHECK_EQ(ReadWith(shared(3)).processes, 1U);
  CHECK_EQ(ReadWith(shared(4)).processes, 2U);
  CHECK_EQ(ReadWith(shared(6)).processes, 2U);
}

TEST_CASE("options: has as many processes as are wanted and have something to do") {
  const auto processes = [](const Json& mix, const Json& load, int wanted) {
    return ReadWith({{"mix", mix}, {"load", load}, {"processes", wanted}}).processes;
  };
  CHECK_EQ(processes({{"throwing", 9}}, Rate(1), 0), 1U);
  CHECK_EQ(processes({{"throwing", 7}}, Rate(1), 8), 7U);
  CHECK_EQ(processes({{"throwing", 8}}, Rate(1), 8), 8U);
  CHECK_EQ(processes({{"throwing", 9}}, Rate(1), 8), 8U);
  CHECK_EQ(processes({{"throwing", 3}, {"sitting", 4997}}, Rate(1), 8), 3U);
  CHECK_EQ(processes({{"sitting", 5}}, Sitting(), 8), 5U);
  CHECK_EQ(processes({{"sitting", 999}, {"slow", 1}}, Sitting(), 8), 8U);
  CHECK_EQ(processes({{"throwing", 5000}}, InFlight(4), 8), 4U);
  CHECK_EQ(ReadWith({{"throwConnections", 2}, {"processes", 8}}).processes, 2U);
}

TEST_CASE("options: on sockets each desktop throws on its own connection, which needs fewer") {
  // 1,000 desktops, 1,000 connections that throw, and the spare descriptors.
  CHECK_EQ(ReadWith(Json::object(), 2050).processes, 1U);
  CHECK_EQ(ReadWith(Json::object(), 1050).processes, 2U);
  const Options sockets = ReadWith({{"transport", "socket"}, {"socket", "127.0.0.1:80"}}, 1050);
  CHECK(sockets.transport == Transport::kSocket);
  CHECK_EQ(sockets.processes, 1U);
  CHECK_EQ(sockets.throw_connections, 1000U);
  CHECK(IsWrong({{"transport", "socket"}, {"throwConnections", 10}}));
  CHECK(IsWrong({{"socket", "nowhere"}}));
}

TEST_CASE("options: stages are the window, without a warm-up, and their most is the rate") {
  const Options options =
      ReadWith({{"load", Stages({{30, 1000}, {120, 3000}, {0, 500}, {0.5, 0}})}, {"duration", 5}});
  CHECK(options.mode == Mode::kOpen);
  CHECK_EQ(options.stages.size(), 4U);
  CHECK_EQ(options.rate, 3000);
  CHECK_EQ(options.warm_up_s, 0);
  CHECK_EQ(options.duration_s, 150.5);
}

TEST_CASE(
    "options: uses as many processes as the descriptors need, and loopback sources for their "
    "ports") {
  const Options sitting = ReadWith({{"load", Sitting()}, {"mix", {{"sitting", 200'000}}}});
  CHECK_EQ(sitting.processes, 11U);
  CHECK_EQ(
      ReadWith({{"load", Sitting()}, {"mix", {{"sitting", 200'000}}}, {"processes", 2}}).processes,
      11U);
  CHECK_EQ(sitting.sources.size(), 29U);
  CHECK_EQ(sitting.senders, 0U);
  CHECK_EQ(ReadWith({{"sources", "127.0.1.1-127.0.1.9,127.0.2.1"}}).sources.size(), 10U);
  const Options shared = ReadWith({{"mix", {{"throwing", 100'000}}}, {"throwConnections", 50}});
  CHECK_EQ(shared.throw_connections, 50U);
  CHECK_EQ(shared.processes, 6U);
}

TEST_CASE("options: the mix says how many desktops there are, and how many of them throw") {
  const Options options = ReadWith({{"mix", {{"sitting", 3}, {"throwing", 7}}}});
  CHECK(options.mix == (Mix{3, 7, 0, 0, 0, 0, 0}));
  CHECK_EQ(options.desktops, 10U);
  CHECK_EQ(options.senders, 7U);
}

TEST_CASE("options: a closed loop has a connection for each throw in flight") {
  const Options options = ReadWith({{"load", InFlight(10)}, {"mix", {{"throwing", 10}}}});
  CHECK(options.mode == Mode::kClosed);
  CHECK_EQ(options.in_flight, 10U);
  CHECK(IsWrong({{"load", InFlight(11)}, {"mix", {{"throwing", 10}}}}));
}

TEST_CASE("options: rejects addresses and combinations that the engine can't carry out") {
  for (const Json& load : {Json(5), Json("rate")}) {
    CHECK(IsWrong({{"load", load}}));
  }
  for (const Json& apis :
       {Json::array(), Json::array({"nowhere"}), Json::array({"127.0.0.1:70000"}),
        Json::array({""}), Json::array({7}), Json::array({"127.0.0.1:1", "nowhere"})}) {
    CHECK(IsWrong({{"apis", apis}}));
  }
  CHECK(IsWrong({{"arrivals", "odd"}}));
  CHECK(IsWrong({{"toward", "up"}}));
  CHECK(IsWrong({{"events", "127.0.0.1:3"}, {"apis", kTwoRelays}}));
  CHECK(IsWrong({{"events", "127.0.0.1:0"}}));
  CHECK(IsWrong({{"sources", "127.0.0.9-127.0.0.1"}}));
  CHECK(IsWrong({{"world", "a\"b"}}));
  for (const std::string& picture : {std::string(63, 'a'), std::string(65, 'a')}) {
    CHECK(IsWrong({{"pictures", {picture}}}));
  }
  CHECK(IsWrong({{"watchPids", {"1"}}}));
  CHECK(IsWrong({{"mix", {{"sitting", 1}}}}));
  CHECK(IsWrong({{"load", Sitting()}, {"mix", {{"throwing", 1}, {"sitting", 1}}}}));
}

TEST_CASE("options: rejects a file limit that is too low for any desktop") {
  CHECK_THROWS_AS(ReadWith(Json::object(), 16), WrongPlan);
  // Two throwers can have two processes, and their 40,000 neighbours need three.
  CHECK(IsWrong({{"mix", {{"throwing", 2}, {"sitting", 40'000}}}}));
  CHECK(!IsWrong({{"mix", {{"throwing", 3}, {"sitting", 40'000}}}}));
}

}  // namespace swarm
