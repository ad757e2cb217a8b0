// A plan of the engine for tests: one that the engine accepts, in which a test replaces members.
#ifndef LOADTEST_ENGINE_TEST_PLAN_JSON_H_
#define LOADTEST_ENGINE_TEST_PLAN_JSON_H_

#include <nlohmann/json.hpp>

namespace swarm {

using Json = nlohmann::json;

// A load of so many throws a second.
inline Json Rate(double per_second) { return {{"kind", "rate"}, {"perSecond", per_second}}; }

// A closed loop with so many throws in flight.
inline Json InFlight(uint32_t count) { return {{"kind", "closed"}, {"inFlight", count}}; }

inline Json Sitting() { return {{"kind", "sitting"}}; }

// A load that ramps: seconds and the throws a second at their end, in turn.
inline Json Stages(const std::vector<std::pair<double, double>>& stages) {
  Json load = {{"kind", "stages"}, {"stages", Json::array()}};
  for (const auto& [seconds, rate] : stages) {
    load["stages"].push_back({{"seconds", seconds}, {"perSecond", rate}});
  }
  return load;
}

// A thousand desktops throw five sprites a second at 127.0.0.1:8080; members of `changes` replace
// whole members.
inline Json PlanWith(const Json& changes) {
  Json plan = {
      {"apis", {"127.0.0.1:8080"}},
      {"events", ""},
      {"crossings", ""},
      {"socket", ""},
      {"ca", ""},
      {"world", ""},
      {"name", "fake"},
      {"machines", 1},
      {"fleet", 0},
      {"machine", 0},
      {"pictures", Json::array()},
      {"mix", {{"throwing", 1000}}},
      {"load", Rate(5)},
      {"transport", "poll"},
      {"toward", "any"},
      {"throwConnections", 0},
      {"arrivals", "even"},
      {"spriteBytes", 0},
      {"seed", 1},
      {"talkRate", 1},
      {"actEvery", 5},
      {"readLate", 2},
      {"connectRate", 10'000},
      {"connectBatch", 1},
      {"connectTimeout", 120},
      {"settle", 1},
      {"warmUp", 2},
      {"duration", 10},
      {"drain", 10},
      {"postTimeout", 10},
      {"goneAfter", 5},
      {"lateAfter", 1},
      {"slipMax", 0.002},
      {"pollOverdue", 150},
      {"leave", false},
      {"startOnStdin", false},
      {"printSeconds", false},
      {"processes", 0},
      {"sources", ""},
      {"watchPids", Json::array()},
  };
  plan.update(changes);
  return plan;
}

}  // namespace swarm

#endif  // LOADTEST_ENGINE_TEST_PLAN_JSON_H_
