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
    CHECK_EQ(WrongIn(plan.dump()), member.key() + " is missing");
    plan[member.key()] = nullptr;  // no member may be null
    CAPTURE(member.key());
    CHECK(!WrongIn(plan.dump()).empty());
  }
  CHECK_EQ(WrongWith({{"desktops", 5}}), "there is no desktops");
  CHECK_EQ(WrongWith({{"mix", {{"dancing", 1}, {"throwing", 1}}}}), "there is no mix.dancing");
  CHECK_EQ(WrongWith({{"load", {{"kind", "rate"}}}}), "load.perSecond is missing");
  CHECK_EQ(WrongWith({{"load", {{"kind", "sitting"}, {"perSecond", 1}}}}),
           "there is no load.perSecond");
}

TEST_CASE("options: a message names the member, the range and the value") {
  CHECK_EQ(WrongWith({{"connectBatch", 99'999'999}}),
           "connectBatch must be a whole number from 1 to 16777215; got 99999999");
  CHECK_EQ(WrongWith({{"connectBatch", -5}}),
           "connectBatch must be a whole number from 1 to 16777215; got -5");
  CHECK_EQ(WrongWith({{"duration", "5 s"}}),
           "duration must be a number from 0.1 to 604800; got \"5 s\"");
  CHECK_EQ(WrongWith({{"transport", "pigeon"}}),
           "transport must be one of poll socket; got \"pigeon\"");
  CHECK_EQ(WrongWith({{"mix", 7}}), "mix must be an object; got 7");
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
  for (const auto& [connections, is_wrong] :
       {std::pair{3, true}, std::pair{4, false}, std::pair{5, false}}) {
    CHECK_EQ(IsWrong({{"apis", kTwoRelays}, {"processes", 2}, {"throwConnections", connections}}),
             is_wrong);
  }
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
  CHECK_EQ(sitting.sources.size(), 15U);
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
  const Options options =
      ReadWith({{"load", InFlight(40)}, {"mix", {{"throwing", 10}}}, {"pipeline", 4}});
  CHECK(options.mode == Mode::kClosed);
  CHECK_EQ(options.in_flight, 40U);
  CHECK(IsWrong({{"load", InFlight(41)}, {"mix", {{"throwing", 10}}}, {"pipeline", 4}}));
  CHECK(IsWrong({{"load", InFlight(2)}, {"processes", 3}}));
}

TEST_CASE("options: rejects wrong values and combinations") {
  for (const Json& load :
       {Json(5), Json("rate"), Rate(0), Rate(-5), Rate(1e8), InFlight(0), Stages({}),
        Stages({{5, 0}}), Stages({{0, 5}}), Stages({{0.05, 9}}), Stages({{5, -1}}),
        Stages({{-1, 5}}), Stages({{5, 10'000'001}}), Stages({{300'000, 1}, {400'000, 1}})}) {
    CHECK(IsWrong({{"load", load}}));
  }
  for (const Json& apis :
       {Json::array(), Json::array({"nowhere"}), Json::array({"127.0.0.1:70000"}),
        Json::array({""}), Json::array({7}), Json::array({"127.0.0.1:1", "127.0.0.1:1"}),
        Json::array({"127.0.0.1:1", "nowhere"})}) {
    CHECK(IsWrong({{"apis", apis}}));
  }
  CHECK(IsWrong({{"arrivals", "odd"}}));
  CHECK(IsWrong({{"toward", "up"}}));
  CHECK(IsWrong({{"events", "127.0.0.1:3"}, {"apis", kTwoRelays}}));
  CHECK(IsWrong({{"events", "127.0.0.1:0"}}));
  CHECK(IsWrong({{"sources", "127.0.0.9-127.0.0.1"}}));
  CHECK(IsWrong({{"world", "a\"b"}}));
  for (const std::string& picture :
       {std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A')}) {
    CHECK(IsWrong({{"pictures", {picture}}}));
  }
  CHECK(IsWrong({{"watchPids", {1, 0}}}));
  CHECK(IsWrong({{"watchPids", {5'000'000}}}));
  CHECK(IsWrong({{"mix", {{"sitting", 1}}}}));
  CHECK(IsWrong({{"load", Sitting()}, {"mix", {{"throwing", 1}, {"sitting", 1}}}}));
  CHECK(IsWrong({{"load", Sitting()}, {"mix", {{"hostile", 1}}}}));
  CHECK(IsWrong({{"mix", {{"throwing", 1}, {"sitting", 16'777'215}}}}));
  CHECK(IsWrong({{"mix", {{"throwing", 5}}}, {"processes", 6}}));
  CHECK(IsWrong({{"load", Sitting()}, {"mix", {{"sitting", 200'000}}}, {"processes", 2}}));
}

TEST_CASE("options: rejects a file limit that is too low for any desktop") {
  CHECK_THROWS_AS(ReadWith(Json::object(), 16), WrongPlan);
}

}  // namespace swarm
