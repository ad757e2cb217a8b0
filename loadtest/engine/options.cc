#include "options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>

#include "sprite_tag.h"

namespace swarm {
namespace {

constexpr uint32_t kJoinConnections = 8;
// Half of what a source address can carry with Linux' default port range, so that ports still in
// TIME_WAIT from the run before are no obstacle.
constexpr uint32_t kConnectionsPerSource = 14'000;

constexpr std::string_view kHelp =
    R"(swarm-engine: fake desktops that hold long-polls and throw sprites, and account for every one of them.

usage: swarm-engine [flags]

the relay
  --api HOST:PORT         joins and leaves go here                        (127.0.0.1:8080)
  --events HOST:PORT      polls go here           (as the relay's answer to the join says)
  --crossings HOST:PORT   throws go here          (as the relay's answer to the join says)
  --world NAME            the world to join                         (the relay's default)
  --name TEXT             desktops are called TEXT-0, TEXT-1, …                    (fake)

the load: one of
  --rate R                open model: R throws a second, when due, whatever comes back
  --in-flight K           closed loop: K relays in flight (throw, 202, delivered, next)
  --sitting               no throws at all
and
  --desktops N            fake desktops                                            (1000)
  --senders S             how many of them throw; the others sit
                                                        (as many as throw, at most 1000)
  --mix SHARES            instead: who does what, throwing=80,slow=20; of sitting, throwing,
                          storming, churning, slow and hostile
  --act-every T           how often who storms reconnects, churns leaves, is hostile strikes
                                                                                      (5)
  --read-late T           how late who is slow reads an answer                        (2)
  --throw-connections C   connections that throws share        (one for each who throws)
  --arrivals even|random  open model: gaps all alike, or a Poisson process         (even)
  --pipeline P            throws of one sender on the wire at once                    (1)
  --sprite-bytes B        pad the body of a throw to B bytes, ≤ 1024       (not padded)
  --seed N                of everything random                                        (1)

the phases, in seconds (500ms, 2s, 1m work too)
  --connect-rate R        desktops a second                                       (10000)
  --connect-batch N       so many of them at once                                     (1)
  --connect-timeout T     until all must be parked                                  (120)
  --settle T              quiet time before the first throw                           (1)
  --warm-up T             throws that do not count for latency and CPU                (2)
  --duration T            the measured window                                        (10)
  --drain T               at most so long for what is still under way                (10)
  --leave                 take the desktops out of the relay at the end

when something counts as
  --post-timeout T        timed out                                                  (10)
  --late-after T          late, from when it was due                                  (1)
  --poll-overdue T        a poll that does not come back                            (150)

the machine
  --sources LIST          local IPv4 addresses: a-b,c   (loopback: 127.0.0.1 and as many
                          more as are needed)
  --processes N           slices, one process each       (as many as descriptors demand)
  --spin                  never sleep: lower latency of the swarm itself, a core each
  --watch-pids A,B        measure CPU and memory of these processes (the relay's)

what is told
  --seconds               on stdout, a JSON line {"second": …} for each second as well
  --help                  this text

stdout: a JSON line for each phase, the last one with all results. stderr: a line a second.
exit: 0 done, 1 failed (relay unreachable or gone, not all parked, account does not add up), 2 misused.
)";

bool ReadCount(std::string_view text, uint64_t max, uint64_t* value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), *value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && *value <= max;
}

std::optional<double> ReadNumber(std::string_view text, std::string_view* unit) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || !std::isfinite(value) || value < 0) {
    return std::nullopt;
  }
  *unit = text.substr(static_cast<size_t>(read.ptr - text.data()));
  return value;
}

std::optional<double> ReadSeconds(std::string_view text) {
  constexpr double kSecondsMax = 7 * 24 * 3600;
  std::string_view unit;
  const std::optional<double> number = ReadNumber(text, &unit);
  if (!number) {
    return std::nullopt;
  }
  double seconds = *number;
  if (unit == "ms") {
    seconds /= 1000;
  } else if (unit == "m") {
    seconds *= 60;
  } else if (!unit.empty() && unit != "s") {
    return std::nullopt;
  }
  if (seconds > kSecondsMax) {
    return std::nullopt;
  }
  return seconds;
}

bool ReadPids(std::string_view text, std::vector<int>* pids) {
  pids->clear();
  while (!text.empty()) {
    const size_t comma = text.find(',');
    uint64_t pid = 0;
    if (!ReadCount(text.substr(0, comma), 1U << 22U, &pid) || pid == 0) {
      return false;
    }
    pids->push_back(static_cast<int>(pid));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return !pids->empty();
}

// Each behaviour at most once; whole shares.
bool ReadShares(std::string_view text, Mix* mix) {
  mix->fill(0);
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const size_t equals = part.find('=');
    const auto* const name =
        std::find(kBehaviourNames.begin(), kBehaviourNames.end(), part.substr(0, equals));
    uint64_t share = 0;
    if (equals == std::string_view::npos || name == kBehaviourNames.end() ||
        !ReadCount(part.substr(equals + 1), kDesktopsMax, &share)) {
      return false;
    }
    uint32_t& known = (*mix)[static_cast<size_t>(name - kBehaviourNames.begin())];
    if (known != 0) {
      return false;
    }
    known = static_cast<uint32_t>(share);
  }
  return std::accumulate(mix->begin(), mix->end(), uint64_t{0}) > 0;
}

// Shares of any sum become numbers of desktops; what rounding leaves goes to the largest rests.
void Scale(uint32_t desktops, Mix* mix) {
  const uint64_t total = std::accumulate(mix->begin(), mix->end(), uint64_t{0});
  std::array<uint64_t, std::tuple_size_v<Mix>> rests{};
  uint32_t given = 0;
  for (size_t i = 0; i < mix->size(); ++i) {
    const uint64_t exact = uint64_t{(*mix)[i]} * desktops;
    (*mix)[i] = static_cast<uint32_t>(exact / total);
    rests[i] = exact % total;
    given += (*mix)[i];
  }
  for (; given < desktops; ++given) {
    auto* const most = std::max_element(rests.begin(), rests.end());
    ++(*mix)[static_cast<size_t>(most - rests.begin())];
    *most = 0;
  }
}

// True for what can stand in the relay's JSON without an escape.
bool IsPlainText(std::string_view text, size_t max) {
  return text.size() <= max && std::all_of(text.begin(), text.end(), [](char c) {
           return c >= ' ' && c <= '~' && c != '"' && c != '\\';
         });
}

struct Flag {
  std::string_view name;
  std::string_view wants;  // empty: the flag takes no value
  std::function<bool(std::string_view)> read;
};

std::vector<Flag> Flags(Options* o) {
  const auto text = [](std::string* to, size_t max) {
    return [=](std::string_view v) {
      *to = v;
      return !v.empty() && IsPlainText(v, max);
    };
  };
  const auto count = [](uint32_t* to, uint64_t min, uint64_t max) {
    return [=](std::string_view v) {
      uint64_t value = 0;
      const bool good = ReadCount(v, max, &value) && value >= min;
      *to = static_cast<uint32_t>(value);
      return good;
    };
  };
  const auto rate = [](double* to) {
    return [=](std::string_view v) {
      constexpr double kRateMax = 1e7;
      std::string_view unit;
      const std::optional<double> number = ReadNumber(v, &unit);
      *to = number.value_or(0);
      return number && unit.empty() && *number > 0 && *number <= kRateMax;
    };
  };
  const auto seconds = [](double* to, double min) {
    return [=](std::string_view v) {
      const std::optional<double> value = ReadSeconds(v);
      *to = value.value_or(0);
      return value && *value >= min;
    };
  };
  const auto yes = [](bool* to) { return [=](std::string_view) { return *to = true; }; };
  constexpr std::string_view kHostPort = "host:port";
  constexpr std::string_view kSeconds = "a time like 10, 500ms, 2s or 1m";
  return {
      {"--api", kHostPort, text(&o->api, 255)},
      {"--events", kHostPort, text(&o->events, 255)},
      {"--crossings", kHostPort, text(&o->crossings, 255)},
      {"--world", "a name of 1 to 64 plain characters", text(&o->world, 64)},
      {"--name", "1 to 40 plain characters", text(&o->name, 40)},
      {"--rate", "throws a second, more than 0", rate(&o->rate)},
      {"--in-flight", "a number from 1 to 1000000", count(&o->in_flight, 1, 1'000'000)},
      {"--desktops", "a number from 1 to 16777215", count(&o->desktops, 1, kDesktopsMax)},
      {"--senders", "a number from 1 to 16777215", count(&o->senders, 1, kDesktopsMax)},
      {"--mix", "shares like throwing=80,sitting=20",
       [o](std::string_view v) { return ReadShares(v, &o->mix); }},
      {"--act-every", kSeconds, seconds(&o->act_every_s, 0.1)},
      {"--read-late", kSeconds, seconds(&o->read_late_s, 0)},
      {"--throw-connections", "a number from 1 to 16777215",
       count(&o->throw_connections, 1, kDesktopsMax)},
      {"--connect-batch", "a number from 1 to 16777215", count(&o->connect_batch, 1, kDesktopsMax)},
      {"--arrivals", "even or random",
       [o](std::string_view v) {
         o->arrivals = v == "random" ? Arrivals::kRandom : Arrivals::kEven;
         return v == "random" || v == "even";
       }},
      {"--pipeline", "a number from 1 to 32", count(&o->pipeline, 1, 32)},
      {"--sprite-bytes", "a number from 1 to 1024", count(&o->sprite_bytes, 1, 1024)},
      {"--seed", "a number",
       [o](std::string_view v) { return ReadCount(v, UINT64_MAX, &o->seed); }},
      {"--connect-rate", "desktops a second, more than 0", rate(&o->connect_rate)},
      {"--connect-timeout", kSeconds, seconds(&o->connect_timeout_s, 0.1)},
      {"--settle", kSeconds, seconds(&o->settle_s, 0)},
      {"--warm-up", kSeconds, seconds(&o->warm_up_s, 0)},
      {"--duration", kSeconds, seconds(&o->duration_s, 0.1)},
      {"--drain", kSeconds, seconds(&o->drain_s, 0)},
      {"--post-timeout", kSeconds, seconds(&o->post_timeout_s, 0.1)},
      {"--late-after", kSeconds, seconds(&o->late_after_s, 0)},
      {"--poll-overdue", kSeconds, seconds(&o->poll_overdue_s, 0.1)},
      {"--processes", "a number from 1 to 4095", count(&o->processes, 1, kSlicesMax)},
      {"--sources", "IPv4 addresses or ranges: 127.0.0.1-127.0.0.40",
       [o](std::string_view v) { return o->sources.Parse(v).empty(); }},
      {"--watch-pids", "process ids: 12,13",
       [o](std::string_view v) { return ReadPids(v, &o->watch_pids); }},
      {"--leave", "", yes(&o->leave)},
      {"--spin", "", yes(&o->spin)},
      {"--seconds", "", yes(&o->print_seconds)},
      {"--sitting", "",
       [o](std::string_view) {
         o->mode = Mode::kSitting;
         return true;
       }},
  };
}

Parsed Misuse(std::string message) { return {Parsed::Kind::kMisuse, std::move(message)}; }

std::string ReadFlags(const std::vector<std::string_view>& arguments, Options* options,
                      bool* sitting) {
  const std::vector<Flag> flags = Flags(options);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t equals = arguments[i].find('=');
    const std::string_view name = arguments[i].substr(0, equals);
    const auto flag =
        std::find_if(flags.begin(), flags.end(), [&](const Flag& f) { return f.name == name; });
    if (flag == flags.end()) {
      return "unknown flag '" + std::string(name) + "'";
    }
    std::string_view value;
    if (flag->wants.empty()) {
      if (equals != std::string_view::npos) {
        return std::string(name) + " takes no value";
      }
    } else if (equals != std::string_view::npos) {
      value = arguments[i].substr(equals + 1);
    } else if (++i < arguments.size()) {
      value = arguments[i];
    } else {
      return std::string(name) + " wants " + std::string(flag->wants);
    }
    if (!flag->read(value)) {
      return std::string(name) + " wants " + std::string(flag->wants) + ", not '" +
             std::string(value) + "'";
    }
    if (name == "--sitting") {
      *sitting = true;
    }
  }
  return {};
}

// Who does what: from --mix, or from --senders. Empty, or what is wrong.
std::string AssignBehaviours(Options* options) {
  Options& o = *options;
  const bool sitting = o.mode == Mode::kSitting;
  const bool mixed = std::accumulate(o.mix.begin(), o.mix.end(), uint64_t{0}) > 0;
  if (sitting && o.senders > 0) {
    return "--sitting desktops have no --senders";
  }
  if (mixed && o.senders > 0) {
    return "say one of --mix and --senders";
  }
  if (mixed) {
    Scale(o.desktops, &o.mix);
    o.senders = CountIn(o.mix, Behaviour::kThrowing);
    if (sitting != (o.senders == 0)) {
      return sitting ? "--sitting, and yet --mix has somebody throwing"
                     : "--mix has nobody throwing";
    }
    if (CountIn(o.mix, Behaviour::kHostile) == o.desktops) {
      return "--mix is hostile alone: somebody must be there to be disturbed";
    }
  } else {
    if (!sitting && o.senders == 0) {
      // A closed loop needs a sender for each relay in flight, and some more to choose from.
      o.senders = std::min(o.desktops, std::max<uint32_t>(1000, 2 * o.in_flight));
    }
    if (o.senders > o.desktops) {
      return "--senders cannot be more than --desktops";
    }
    o.mix[static_cast<size_t>(Behaviour::kThrowing)] = o.senders;
    o.mix[static_cast<size_t>(Behaviour::kSitting)] = o.desktops - o.senders;
  }
  if (o.throw_connections == 0 || o.throw_connections > o.senders) {
    o.throw_connections = o.senders;
  }
  if (o.mode == Mode::kClosed && o.in_flight > uint64_t{o.throw_connections} * o.pipeline) {
    return "--in-flight cannot be more than connections that throw × --pipeline";
  }
  return {};
}

}  // namespace

uint32_t SpareDescriptors(uint32_t slices) { return 16 + slices + kJoinConnections; }

Parsed ParseOptions(const std::vector<std::string_view>& arguments, uint64_t descriptors_max,
                    Options* options) {
  if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end()) {
    return {Parsed::Kind::kHelp, std::string(kHelp)};
  }
  Options& o = *options;
  bool sitting = false;
  if (const std::string wrong = ReadFlags(arguments, options, &sitting); !wrong.empty()) {
    return Misuse(wrong);
  }
  if (int{o.rate > 0} + int{o.in_flight > 0} + int{sitting} != 1) {
    return Misuse("say one of --rate R, --in-flight K and --sitting");
  }
  o.mode = sitting ? Mode::kSitting : o.rate > 0 ? Mode::kOpen : Mode::kClosed;
  if (const std::string wrong = AssignBehaviours(&o); !wrong.empty()) {
    return Misuse(wrong);
  }

  const uint64_t connections = uint64_t{o.desktops} + o.throw_connections;
  uint64_t slices = std::max<uint32_t>(o.processes, 1);
  const auto fits = [&](uint64_t n) {
    // Senders are spread evenly, so slices differ by one desktop and one sender at most.
    return connections / n + 2 + SpareDescriptors(static_cast<uint32_t>(n)) <= descriptors_max;
  };
  while (slices <= kSlicesMax && !fits(slices)) {
    ++slices;
  }
  if (slices > kSlicesMax) {
    return Misuse("a file limit of " + std::to_string(descriptors_max) +
                  " descriptors is too low for so many desktops: raise it (ulimit -n)");
  }
  if (o.processes != 0 && slices != o.processes) {
    return Misuse("--processes " + std::to_string(o.processes) + " cannot hold " +
                  std::to_string(connections) + " connections at " +
                  std::to_string(descriptors_max) + " descriptors each: it takes " +
                  std::to_string(slices));
  }
  if (slices > o.desktops || (o.senders > 0 && slices > o.throw_connections)) {
    return Misuse("--processes cannot be more than --desktops, or than connections that throw");
  }
  if (o.mode == Mode::kClosed && slices > o.in_flight) {
    return Misuse("--in-flight must be at least the number of processes, here " +
                  std::to_string(slices));
  }
  o.processes = static_cast<uint32_t>(slices);

  Endpoint api;
  if (const std::string wrong = ResolveEndpoint(o.api, &api); !wrong.empty()) {
    return Misuse("--api: " + wrong);
  }
  Endpoint other;
  for (const auto& [flag, given] :
       {std::pair{"--events: ", &o.events}, std::pair{"--crossings: ", &o.crossings}}) {
    if (given->empty()) {
      continue;
    }
    if (const std::string wrong = ResolveEndpoint(*given, &other); !wrong.empty()) {
      return Misuse(flag + wrong);
    }
  }
  if (o.sources.empty() && api.loopback()) {
    o.sources.UseLoopback(static_cast<uint32_t>(connections / kConnectionsPerSource) + 1);
  }
  return {};
}

}  // namespace swarm
