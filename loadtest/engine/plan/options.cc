#include "plan/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <exception>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>

#include "account/flight.h"
#include "account/sprite_tag.h"

namespace swarm {
namespace {

// Half of the ports that a source address has with the default range of Linux, because ports may
// still be in TIME_WAIT from the previous run.
constexpr uint32_t kConnectionsPerSourceMax = 14'000;

constexpr std::string_view kHelp =
    R"(swarm-engine: fake desktops that hold long-polls or sockets, throw sprites and account for every sprite.

usage: swarm-engine [flags]

the relay
  --api HOST:PORT,…       joins and leaves go here; with TLS: https://HOST:PORT. Several relays
                          of one cluster get the same number of desktops each
                                                                          (127.0.0.1:8080)
  --events HOST:PORT      polls go here              (the address in the answer to a join)
  --crossings HOST:PORT   throws go here             (the address in the answer to a join)
  --socket HOST:PORT      sockets go here            (the address in the answer to a join)
  --ca FILE               trust the certificates in this PEM file
                                         (those that the system trusts)
  --world NAME            the world to join                         (the relay's default)
  --name TEXT             desktops are called TEXT-0, TEXT-1, …                    (fake)
  --pictures HASH,…       sprites show these pictures of the relay, and desktops have the friendly
                          names that the relay gives them: for people who watch

the load: exactly one of
  --rate R                open model: R throws a second, on schedule, however slow the relay is
  --stages T:R,T:R,…      open model whose rate ramps from 0 to the first R within the first T,
                          and so on; 0s:R is a jump. The window lasts for all of them, and there
                          is no warm-up
  --in-flight K           closed loop: K throws in flight; when one is accepted and delivered,
                          the next starts
  --sitting               no throws at all
and
  --desktops N            fake desktops                                            (1000)
  --transport poll|socket long-polls and a POST for each throw, or a WebSocket for both (poll)
  --toward any|within|across
                          with several relays and a rate: desktops that have neighbours at their
                          own relay and at another one throw only to the former, or only to the
                          latter, once the warm-up has shown which is which           (any)
  --senders S             how many of them throw; the others only hold their poll
                              (1000, or twice --in-flight if that is more; at most all)
  --mix SHARES            instead of --senders: how many of each behaviour, for example
                          throwing=80,slow=20; behaviours are sitting, throwing, storming,
                          churning, slow and hostile
  --act-every T           how often a storming desktop reconnects, a churning one leaves and
                          joins, a hostile one strikes                                (5)
  --read-late T           how late a slow desktop reads an answer                     (2)
  --throw-connections C   connections that all throws share             (one for each sender)
  --arrivals even|random  open model: equal gaps, or a Poisson process             (even)
  --pipeline P            throws of one sender on the wire at the same time           (1)
  --sprite-bytes B        pad the body of a throw to B bytes, ≤ 1024       (not padded)
  --seed N                for everything random                                       (1)

the phases, in seconds (500ms, 2s, 1m work too)
  --connect-rate R        desktops a second                                       (10000)
  --connect-batch N       how many of them start together                             (1)
  --connect-timeout T     until all must be parked                                  (120)
  --settle T              quiet time before the first throw                           (1)
  --warm-up T             throws that do not count for latency and CPU                (2)
  --duration T            the measured window                                        (10)
  --drain T               the longest wait for throws that are still under way       (10)
  --leave                 at the end, desktops leave the relay
  --start-on-stdin        when all are parked, wait for a line on stdin: the wall-clock time of
                          the first throw, in ms, so that several machines start together

the limits, in seconds
  --post-timeout T        after this a throw without an answer has timed out         (10)
  --late-after T          a sprite delivered later than this after it was due is late (1)
  --slip-max T            the swarm is the limit when one throw in a hundred leaves later
                          than this after it was due                               (2ms)
  --poll-overdue T        a poll that is out for longer than this is overdue        (150)
  --gone-after T          a relay that refuses connections and answers nothing for
                          so long is gone, and the run ends                           (5)

the machine
  --sources LIST          local IPv4 addresses to connect from: a-b,c
                                 (on loopback, 127.0.0.1 and as many after it as needed)
  --processes N           slices, one process each       (as few as descriptors allow)
  --spin                  never sleep: less latency in the swarm itself, but a full core
                          for each process
  --watch-pids A,B        measure CPU and memory of these processes (the relay's)

the output
  --seconds               also print a JSON line {"second": …} on stdout each second
  --help                  this text

stdout: a JSON line for each phase, the last one with all results. stderr: a line each second.
exit: 0 done, 1 failed (relay unreachable or gone, not all parked, accounts do not add up), 2 misused.
)";

constexpr uint32_t kRateMax = 10'000'000;
constexpr double kSecondsMax = 7 * 24 * 3600;
constexpr double kTimeMinS = 0.1;
constexpr size_t kStagesMax = 100;  // more than anybody writes by hand

double SecondsOf(const std::vector<Stage>& stages) {
  return std::accumulate(stages.begin(), stages.end(), 0.0,
                         [](double sum, const Stage& stage) { return sum + stage.seconds; });
}

double CountAll(const std::vector<Stage>& stages) {
  return RateCurve(stages).CountAt(SecondsOf(stages));
}

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

// Whether `text` needs no escape in JSON.
bool IsPlainText(std::string_view text, size_t max) {
  return text.size() <= max && std::all_of(text.begin(), text.end(), [](char c) {
           return c >= ' ' && c <= '~' && c != '"' && c != '\\';
         });
}

bool ReadApis(std::string_view text, std::vector<std::string>* apis) {
  apis->clear();
  for (;;) {
    const size_t comma = text.find(',');
    const std::string_view api = text.substr(0, comma);
    if (!IsPlainText(api, 255) || api.empty() || apis->size() == kRelaysMax ||
        std::find(apis->begin(), apis->end(), api) != apis->end()) {
      return false;
    }
    apis->emplace_back(api);
    if (comma == std::string_view::npos) {
      return true;
    }
    text = text.substr(comma + 1);
  }
}

bool ReadPictures(std::string_view text, std::vector<std::string>* pictures) {
  pictures->clear();
  for (;;) {
    const size_t comma = text.find(',');
    const std::string_view picture = text.substr(0, comma);
    if (picture.size() != kPictureDigits ||
        picture.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
      return false;
    }
    pictures->emplace_back(picture);
    if (comma == std::string_view::npos) {
      return true;
    }
    text = text.substr(comma + 1);
  }
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

// Reads whole shares, each behaviour at most once.
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

// Turns shares into numbers of desktops. What rounding down leaves over goes to the behaviours that
// lost most.
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

// Reads "30s:1000,2m:1000,0s:0": how long a stage lasts, and the rate at its end.
bool ReadStages(std::string_view text, std::vector<Stage>* stages) {
  stages->clear();
  double seconds = 0;
  double most = 0;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos || stages->size() == kStagesMax) {
      return false;
    }
    const std::optional<double> lasts = ReadSeconds(part.substr(0, colon));
    std::string_view rest;
    const std::optional<double> rate = ReadNumber(part.substr(colon + 1), &rest);
    if (!lasts || !rate || !rest.empty() || *rate > kRateMax) {
      return false;
    }
    stages->push_back({*lasts, *rate});
    seconds += *lasts;
    most = std::max(most, *rate);
  }
  return seconds >= kTimeMinS && seconds <= kSecondsMax && most > 0 && CountAll(*stages) > 0;
}

struct Flag {
  std::string_view name;
  std::string wanted;  // what the value must be; empty: the flag has no value
  std::function<bool(std::string_view)> read;
};

// Builds flags that store into options. The range that `read` checks is the one that `wanted` says.

Flag Text(std::string_view name, const std::string& wanted, std::string* to, size_t size_max) {
  return {name, wanted, [=](std::string_view v) {
            *to = v;
            return !v.empty() && IsPlainText(v, size_max);
          }};
}

Flag HostPort(std::string_view name, std::string* to) {
  return Text(name, "host:port, for example 127.0.0.1:8080", to, 255);
}

Flag Count(std::string_view name, uint32_t* to, uint32_t min, uint32_t max) {
  return {name, "a whole number from " + std::to_string(min) + " to " + std::to_string(max),
          [=](std::string_view v) {
            uint64_t value = 0;
            const bool valid = ReadCount(v, max, &value) && value >= min;
            *to = static_cast<uint32_t>(value);
            return valid;
          }};
}

Flag Rate(std::string_view name, const std::string& unit, double* to) {
  return {name, "a number of " + unit + ", more than 0 and at most " + std::to_string(kRateMax),
          [=](std::string_view v) {
            std::string_view rest;
            const std::optional<double> number = ReadNumber(v, &rest);
            *to = number.value_or(0);
            return number && rest.empty() && *number > 0 && *number <= kRateMax;
          }};
}

Flag Seconds(std::string_view name, double* to, double min_s) {
  return {name,
          std::string("a time from ") + (min_s > 0 ? "100ms" : "0") +
              " to 7 days, for example 10, 500ms, 2s or 1m",
          [=](std::string_view v) {
            const std::optional<double> value = ReadSeconds(v);
            *to = value.value_or(0);
            return value && *value >= min_s;
          }};
}

Flag Switch(std::string_view name, bool* to) {
  return {name, "", [=](std::string_view) { return *to = true; }};
}

std::vector<Flag> Flags(Options* o, bool* sitting) {
  return {
      {"--api",
       "at most " + std::to_string(kRelaysMax) +
           " different host:port, for example 127.0.0.1:8080 or 10.0.0.5:8080,10.0.0.6:8080",
       [=](std::string_view v) { return ReadApis(v, &o->apis); }},
      HostPort("--events", &o->events),
      HostPort("--crossings", &o->crossings),
      HostPort("--socket", &o->socket),
      {"--toward", "any, within or across",
       [=](std::string_view v) {
         o->toward = v == "within"   ? Toward::kWithin
                     : v == "across" ? Toward::kAcross
                                     : Toward::kAny;
         return v == "any" || v == "within" || v == "across";
       }},
      Text("--ca", "the path of a PEM file", &o->ca, 4096),
      {"--transport", "poll or socket",
       [=](std::string_view v) {
         o->transport = v == "socket" ? Transport::kSocket : Transport::kPoll;
         return v == "poll" || v == "socket";
       }},
      Text("--world", "a name of 1 to 64 characters, ASCII without quotes and backslashes",
           &o->world, 64),
      Text("--name", "1 to 40 characters, ASCII without quotes and backslashes", &o->name, 40),
      {"--pictures", "SHA-256 in lowercase hex, with commas between them",
       [=](std::string_view v) { return ReadPictures(v, &o->pictures); }},
      Rate("--rate", "throws a second", &o->rate),
      {"--stages",
       "at most " + std::to_string(kStagesMax) +
           " stages, a time and the throws a second at its end each, for example "
           "30s:1000,2m:1000,30s:0, of which some rate is above 0",
       [=](std::string_view v) { return ReadStages(v, &o->stages); }},
      Count("--in-flight", &o->in_flight, 1, 1'000'000),
      Count("--desktops", &o->desktops, 1, kDesktopsMax),
      Count("--senders", &o->senders, 1, kDesktopsMax),
      {"--mix", "shares of behaviours, each named once, for example throwing=80,sitting=20",
       [=](std::string_view v) { return ReadShares(v, &o->mix); }},
      Seconds("--act-every", &o->act_every_s, kTimeMinS),
      Seconds("--read-late", &o->read_late_s, 0),
      Count("--throw-connections", &o->throw_connections, 1, kDesktopsMax),
      Count("--connect-batch", &o->connect_batch, 1, kDesktopsMax),
      {"--arrivals", "even or random",
       [=](std::string_view v) {
         o->arrivals = v == "random" ? Arrivals::kRandom : Arrivals::kEven;
         return v == "random" || v == "even";
       }},
      Count("--pipeline", &o->pipeline, 1, 32),
      Count("--sprite-bytes", &o->sprite_bytes, 1, 1024),
      {"--seed", "a whole number from 0 to " + std::to_string(UINT64_MAX),
       [=](std::string_view v) { return ReadCount(v, UINT64_MAX, &o->seed); }},
      Rate("--connect-rate", "desktops a second", &o->connect_rate),
      Seconds("--connect-timeout", &o->connect_timeout_s, kTimeMinS),
      Seconds("--settle", &o->settle_s, 0),
      Seconds("--warm-up", &o->warm_up_s, 0),
      Seconds("--duration", &o->duration_s, kTimeMinS),
      Seconds("--drain", &o->drain_s, 0),
      Seconds("--post-timeout", &o->post_timeout_s, kTimeMinS),
      Seconds("--gone-after", &o->gone_after_s, kTimeMinS),
      Seconds("--late-after", &o->late_after_s, 0),
      Seconds("--slip-max", &o->slip_max_s, 0),
      Seconds("--poll-overdue", &o->poll_overdue_s, kTimeMinS),
      Count("--processes", &o->processes, 1, kSlicesMax),
      {"--sources", "IPv4 addresses or ranges of them, for example 127.0.0.1-127.0.0.40",
       [=](std::string_view v) { return o->sources.Parse(v).empty(); }},
      {"--watch-pids", "process ids from 1 to 4194304, for example 12,13",
       [=](std::string_view v) { return ReadPids(v, &o->watch_pids); }},
      Switch("--leave", &o->leave),
      Switch("--start-on-stdin", &o->start_on_stdin),
      Switch("--spin", &o->spin),
      Switch("--seconds", &o->print_seconds),
      Switch("--sitting", sitting),
  };
}

Parsed Misuse(std::string message) { return {Parsed::Kind::kMisuse, std::move(message)}; }

// Returns the empty string, or what is wrong.
std::string ReadFlags(const std::vector<std::string_view>& arguments, Options* options,
                      bool* sitting) {
  const std::vector<Flag> flags = Flags(options, sitting);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t equals = arguments[i].find('=');
    const std::string name(arguments[i].substr(0, equals));
    const auto flag =
        std::find_if(flags.begin(), flags.end(), [&](const Flag& f) { return f.name == name; });
    if (flag == flags.end()) {
      return "unknown flag '" + name + "'";
    }
    std::string_view value;
    if (flag->wanted.empty()) {
      if (equals != std::string_view::npos) {
        return name + " takes no value";
      }
    } else if (equals != std::string_view::npos) {
      value = arguments[i].substr(equals + 1);
    } else if (++i < arguments.size()) {
      value = arguments[i];
    } else {
      return name + " needs a value: " + flag->wanted;
    }
    if (!flag->read(value)) {
      return name + " must be " + flag->wanted + "; got '" + std::string(value) + "'";
    }
  }
  return {};
}

// Gives each behaviour its number of desktops, from --mix or from --senders. Returns the empty
// string, or what is wrong.
std::string AssignBehaviours(Options* options) {
  Options& o = *options;
  const bool sitting = o.mode == Mode::kSitting;
  const bool mixed = std::accumulate(o.mix.begin(), o.mix.end(), uint64_t{0}) > 0;
  if (sitting && o.senders > 0) {
    return "--senders throw, so they cannot be used with --sitting";
  }
  if (mixed && o.senders > 0) {
    return "use either --mix or --senders, not both";
  }
  if (mixed) {
    Scale(o.desktops, &o.mix);
    o.senders = CountIn(o.mix, Behaviour::kThrowing);
    if (sitting != (o.senders == 0)) {
      return sitting ? "with --sitting, --mix must not have throwing desktops"
                     : "--mix must have throwing desktops, except with --sitting";
    }
    if (CountIn(o.mix, Behaviour::kHostile) == o.desktops) {
      return "--mix must have desktops that are not hostile";
    }
  } else {
    if (!sitting && o.senders == 0) {
      // A closed loop needs a sender for each throw in flight, and more to choose from.
      o.senders = std::min(o.desktops, std::max<uint32_t>(1000, 2 * o.in_flight));
    }
    if (o.senders > o.desktops) {
      return "--senders (" + std::to_string(o.senders) + ") must be at most --desktops (" +
             std::to_string(o.desktops) + ")";
    }
    o.mix[static_cast<size_t>(Behaviour::kThrowing)] = o.senders;
    o.mix[static_cast<size_t>(Behaviour::kSitting)] = o.desktops - o.senders;
  }
  if (o.transport == Transport::kSocket && o.throw_connections > 0) {
    return "--throw-connections are POSTs, so they cannot be used with --transport socket: each "
           "desktop throws on its socket";
  }
  if (o.throw_connections == 0 || o.throw_connections > o.senders) {
    o.throw_connections = o.senders;
  }
  if (o.mode == Mode::kClosed && o.in_flight > uint64_t{o.throw_connections} * o.pipeline) {
    return "--in-flight must be at most --pipeline times the connections that throw, here " +
           std::to_string(uint64_t{o.throw_connections} * o.pipeline);
  }
  return {};
}

// Checks what several relays need. Returns the empty string, or what is wrong.
std::string CheckRelays(const Options& o) {
  const auto relays = static_cast<uint32_t>(o.apis.size());
  if (o.toward != Toward::kAny && (relays == 1 || o.mode != Mode::kOpen)) {
    return "--toward needs several relays in --api, and --rate or --stages";
  }
  if (relays == 1) {
    return {};
  }
  if (!o.events.empty() || !o.crossings.empty() || !o.socket.empty()) {
    return "--events, --crossings and --socket belong to one relay: leave them out when --api has "
           "several";
  }
  // Throws that share a connection must go to the same relay.
  if (o.throw_connections < o.senders && o.throw_connections < o.processes * relays) {
    return "--throw-connections must be at least " + std::to_string(o.processes * relays) +
           ": one for each relay in each process";
  }
  return {};
}

}  // namespace

RateCurve CurveOf(const Options& options) {
  return options.stages.empty() ? RateCurve(options.rate) : RateCurve(options.stages);
}

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
  if (int{o.rate > 0} + int{!o.stages.empty()} + int{o.in_flight > 0} + int{sitting} != 1) {
    return Misuse("use exactly one of --rate R, --stages T:R,…, --in-flight K and --sitting");
  }
  for (const Stage& stage : o.stages) {
    o.rate = std::max(o.rate, stage.rate);
  }
  if (!o.stages.empty()) {
    o.warm_up_s = 0;
    o.duration_s = SecondsOf(o.stages);
  }
  o.mode = sitting ? Mode::kSitting : o.rate > 0 ? Mode::kOpen : Mode::kClosed;
  if (const std::string wrong = AssignBehaviours(&o); !wrong.empty()) {
    return Misuse(wrong);
  }

  const bool has_sockets = o.transport == Transport::kSocket;
  const uint64_t connections = uint64_t{o.desktops} + (has_sockets ? 0 : o.throw_connections);
  uint64_t slices = std::max<uint32_t>(o.processes, 1);
  const auto fits = [&](uint64_t n) {
    // Senders are spread evenly, so slices differ by at most one desktop and one sender.
    return connections / n + 2 + SpareDescriptors(static_cast<uint32_t>(n)) <= descriptors_max;
  };
  while (slices <= kSlicesMax && !fits(slices)) {
    ++slices;
  }
  if (slices > kSlicesMax) {
    return Misuse("a file limit of " + std::to_string(descriptors_max) +
                  " descriptors is too low for " + std::to_string(o.desktops) +
                  " desktops: raise it (ulimit -n)");
  }
  if (o.processes != 0 && slices != o.processes) {
    return Misuse("--processes " + std::to_string(o.processes) + " cannot hold " +
                  std::to_string(connections) + " connections at " +
                  std::to_string(descriptors_max) + " descriptors each: use at least " +
                  std::to_string(slices));
  }
  if (slices > o.desktops || (o.senders > 0 && slices > o.throw_connections)) {
    return Misuse("--processes must be at most --desktops, and at most the connections that throw");
  }
  if (o.mode == Mode::kClosed && slices > o.in_flight) {
    return Misuse("--in-flight must be at least the number of processes, here " +
                  std::to_string(slices));
  }
  o.processes = static_cast<uint32_t>(slices);

  if (const std::string wrong = CheckRelays(o); !wrong.empty()) {
    return Misuse(wrong);
  }
  bool is_secure = false;
  bool is_loopback = true;
  for (const std::string& text : o.apis) {
    Endpoint api;
    if (const std::string wrong = ResolveEndpoint(text, &api); !wrong.empty()) {
      return Misuse("--api: " + wrong);
    }
    is_secure = is_secure || api.secure;
    is_loopback = is_loopback && api.loopback();
  }
  Endpoint other;
  for (const auto& [flag, given] :
       {std::pair{"--events: ", &o.events}, std::pair{"--crossings: ", &o.crossings},
        std::pair{"--socket: ", &o.socket}}) {
    if (given->empty()) {
      continue;
    }
    if (const std::string wrong = ResolveEndpoint(*given, &other); !wrong.empty()) {
      return Misuse(flag + wrong);
    }
    is_secure = is_secure || other.secure;
  }
  if (is_secure || !o.ca.empty()) {
    try {
      const TlsContext probe(o.ca);
    } catch (const std::exception& error) {
      return Misuse(std::string("--ca: ") + error.what());
    }
  }
  if (o.sources.empty() && is_loopback) {
    o.sources.UseLoopback(static_cast<uint32_t>(connections / kConnectionsPerSourceMax) + 1);
  }
  return {};
}

}  // namespace swarm
