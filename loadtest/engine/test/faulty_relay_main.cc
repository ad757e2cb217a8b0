// faulty-relay: the tests' faulty relay as a program, for tests of the whole swarm command.
//
//   faulty-relay drop-every=1000 stall-at=500 stall-ms=1000 …
//
// Prints "PORT PID" and serves until its standard input ends. Then it prints the faults it
// committed as JSON and exits. PID is the process that serves; kill it to simulate a crash.
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "test/faulty_relay.h"

namespace {

struct Setting {
  std::string_view name;
  uint32_t swarm::Faults::*value;
};
constexpr Setting kSettings[] = {
    {"drop-every", &swarm::Faults::drop_every},
    {"duplicate-every", &swarm::Faults::duplicate_every},
    {"misroute-every", &swarm::Faults::misroute_every},
    {"wrong-edge-every", &swarm::Faults::wrong_edge_every},
    {"refuse-every", &swarm::Faults::refuse_every},
    {"mute-every", &swarm::Faults::mute_every},
    {"cut-every", &swarm::Faults::cut_every},
    {"delay-every", &swarm::Faults::delay_every},
    {"delay-ms", &swarm::Faults::delay_ms},
    {"garbage-every", &swarm::Faults::garbage_every},
    {"deliver-refused-every", &swarm::Faults::deliver_refused_every},
    {"corrupt-every", &swarm::Faults::corrupt_every},
    {"hold-every", &swarm::Faults::hold_every},
    {"end-every", &swarm::Faults::end_every},
    {"truncate-every", &swarm::Faults::truncate_every},
    {"half-close-every", &swarm::Faults::half_close_every},
    {"refuse-upgrade-every", &swarm::Faults::refuse_upgrade_every},
    {"mute-upgrade-every", &swarm::Faults::mute_upgrade_every},
    {"close-every", &swarm::Faults::close_every},
    {"lose-hearing-every", &swarm::Faults::lose_hearing_every},
    {"miss-hearing-every", &swarm::Faults::miss_hearing_every},
    {"stall-at", &swarm::Faults::stall_at},
    {"stall-ms", &swarm::Faults::stall_ms},
};

bool Read(std::string_view argument, swarm::Faults* faults) {
  const size_t equals = argument.find('=');
  for (const Setting& setting : kSettings) {
    if (equals == std::string_view::npos || setting.name != argument.substr(0, equals)) {
      continue;
    }
    const char* const end = argument.data() + argument.size();
    const auto read = std::from_chars(argument.data() + equals + 1, end, faults->*setting.value);
    return read.ec == std::errc() && read.ptr == end;
  }
  return false;
}

void Print(const swarm::Committed& committed) {
  const nlohmann::json json = {{"accepted", committed.accepted.load()},
                               {"dropped", committed.dropped.load()},
                               {"duplicated", committed.duplicated.load()},
                               {"misrouted", committed.misrouted.load()},
                               {"wrongEdge", committed.wrong_edge.load()},
                               {"refused", committed.refused.load()},
                               {"muted", committed.muted.load()},
                               {"cut", committed.cut.load()},
                               {"delayed", committed.delayed.load()},
                               {"garbage", committed.garbage.load()},
                               {"deliveredRefused", committed.delivered_refused.load()},
                               {"corrupted", committed.corrupted.load()},
                               {"held", committed.held.load()},
                               {"ended", committed.ended.load()},
                               {"truncated", committed.truncated.load()},
                               {"halfClosed", committed.half_closed.load()},
                               {"upgradesRefused", committed.upgrades_refused.load()},
                               {"upgradesMuted", committed.upgrades_muted.load()},
                               {"closed", committed.closed.load()},
                               {"hearingsLost", committed.hearings_lost.load()},
                               {"hearingsMissed", committed.hearings_missed.load()},
                               {"socketCrossings", committed.socket_crossings.load()}};
  std::printf("%s\n", json.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  swarm::Faults faults;
  for (int i = 1; i < argc; ++i) {
    if (!Read(argv[i], &faults)) {
      std::fprintf(stderr, "faulty-relay: '%s' is not of the form fault=number\n", argv[i]);
      return 2;
    }
  }
  swarm::FaultyRelay relay(faults);
  const std::string authority = relay.authority();
  std::printf("%s %d\n", authority.substr(authority.rfind(':') + 1).c_str(), relay.pid());
  std::fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  Print(relay.committed());
  return 0;
}
