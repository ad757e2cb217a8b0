#include "plan/options.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "account/flight.h"
#include "account/sprite_tag.h"

namespace swarm {
namespace {

using Json = nlohmann::json;

// Half of the ports that a source address has with the default range of Linux, because ports may
// still be in TIME_WAIT from the previous run.
constexpr uint32_t kConnectionsPerSourceMax = 14'000;

constexpr uint32_t kRateMax = 10'000'000;
constexpr double kSecondsMax = 7 * 24 * 3600;
constexpr double kTimeMinS = 0.1;
constexpr size_t kTextBytesMax = 4096;  // of one text; the longest are lists of addresses and paths
constexpr uint64_t kPidMax = 1U << 22U;  // of Linux

std::string Shown(double number) {
  std::array<char, 32> digits;
  std::snprintf(digits.data(), digits.size(), "%g", number);
  return digits.data();
}

// Whether `text` needs no escape in JSON: parts of the plan go into requests as they are.
bool IsPlainText(std::string_view text) {
  return text.size() <= kTextBytesMax && std::all_of(text.begin(), text.end(), [](char c) {
           return c >= ' ' && c <= '~' && c != '"' && c != '\\';
         });
}

// One object of the plan. Each reader takes one member and checks its type and range. A member that
// is absent, or that no reader has taken when the object ends, is an error: sender and receiver
// would disagree about the plan.
class Members {
 public:
  // `path` is what messages call the object, with a dot; empty for the plan itself.
  Members(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) {
      throw WrongPlan((path_.empty() ? "the plan" : path_.substr(0, path_.size() - 1)) +
                      " must be an object; got " + object.dump());
    }
  }

  const Json& Any(const std::string& key) {
    taken_.insert(key);
    const auto found = object_.find(key);
    if (found == object_.end()) {
      throw WrongPlan(path_ + key + " is missing");
    }
    return *found;
  }

  Members Object(const std::string& key) { return {Any(key), path_ + key + "."}; }

  bool Flag(const std::string& key) {
    const Json& value = Any(key);
    Require(value.is_boolean(), key, "true or false");
    return value.get<bool>();
  }

  std::string Text(const std::string& key) {
    const Json& value = Any(key);
    Require(value.is_string() && IsPlainText(value.get_ref<const std::string&>()), key,
            "text of printable ASCII without \" and \\");
    return value.get<std::string>();
  }

  uint64_t Whole(const std::string& key, uint64_t min, uint64_t max) {
    const Json& value = Any(key);
    const bool fits =
        value.is_number_unsigned() && value.get<uint64_t>() >= min && value.get<uint64_t>() <= max;
    Require(fits, key, "a whole number from " + std::to_string(min) + " to " + std::to_string(max));
    return value.get<uint64_t>();
  }

  uint32_t Count(const std::string& key, uint32_t min, uint32_t max) {
    return static_cast<uint32_t>(Whole(key, min, max));
  }

  double Number(const std::string& key, double min, double max) {
    const Json& value = Any(key);
    const bool fits = value.is_number() && value.get<double>() >= min && value.get<double>() <= max;
    Require(fits, key, "a number from " + Shown(min) + " to " + Shown(max));
    return value.get<double>();
  }

  double Seconds(const std::string& key, double min_s) { return Number(key, min_s, kSecondsMax); }

  double Rate(const std::string& key) {
    const double rate = Number(key, 0, kRateMax);
    Require(rate > 0, key, "more than 0");
    return rate;
  }

  // The place of the text among `names`.
  size_t OneOf(const std::string& key, const std::vector<std::string>& names) {
    const Json& value = Any(key);
    const auto found = value.is_string()
                           ? std::find(names.begin(), names.end(), value.get<std::string>())
                           : names.end();
    std::string wanted = "one of";
    for (const std::string& name : names) {
      wanted += " " + name;
    }
    Require(found != names.end(), key, wanted);
    return static_cast<size_t>(found - names.begin());
  }

  const Json& List(const std::string& key, size_t size_max) {
    const Json& value = Any(key);
    Require(value.is_array() && value.size() <= size_max, key,
            "a list of at most " + std::to_string(size_max));
    return value;
  }

  // Throws when `is_right` is false. `wanted` completes "KEY must be …".
  void Require(bool is_right, const std::string& key, const std::string& wanted) const {
    if (!is_right) {
      throw WrongPlan(path_ + key + " must be " + wanted + "; got " + object_.at(key).dump());
    }
  }

  // Throws when the object has a member that nothing has read.
  void End() const {
    for (const auto& member : object_.items()) {
      if (!taken_.contains(member.key())) {
        throw WrongPlan("there is no " + path_ + member.key());
      }
    }
  }

 private:
  const Json& object_;
  std::string path_;
  std::set<std::string> taken_;
};

double SecondsOf(const std::vector<Stage>& stages) {
  return std::accumulate(stages.begin(), stages.end(), 0.0,
                         [](double sum, const Stage& stage) { return sum + stage.seconds; });
}

std::vector<std::string> ReadApis(Members& plan) {
  std::vector<std::string> apis;
  for (const Json& api : plan.List("apis", kRelaysMax)) {
    plan.Require(api.is_string() && IsPlainText(api.get_ref<const std::string&>()), "apis",
                 "a list of HOST:PORT");
    apis.push_back(api.get<std::string>());
  }
  const bool is_unique = std::set<std::string>(apis.begin(), apis.end()).size() == apis.size();
  plan.Require(!apis.empty() && is_unique, "apis", "a list of different relays");
  return apis;
}

std::vector<std::string> ReadPictures(Members& plan) {
  std::vector<std::string> pictures;
  for (const Json& picture : plan.List("pictures", SIZE_MAX)) {
    const bool is_hash =
        picture.is_string() && picture.get_ref<const std::string&>().size() == kPictureDigits &&
        picture.get_ref<const std::string&>().find_first_not_of("0123456789abcdef") ==
            std::string::npos;
    plan.Require(is_hash, "pictures", "a list of SHA-256 in lowercase hex");
    pictures.push_back(picture.get<std::string>());
  }
  return pictures;
}

std::vector<int> ReadPids(Members& plan) {
  std::vector<int> pids;
  for (const Json& pid : plan.List("watchPids", SIZE_MAX)) {
    const uint64_t id = pid.is_number_unsigned() ? pid.get<uint64_t>() : 0;
    plan.Require(id > 0 && id <= kPidMax, "watchPids", "a list of process ids");
    pids.push_back(static_cast<int>(id));
  }
  return pids;
}

// Reads how many desktops of each behaviour there are; one that is absent has none.
void ReadMix(Members& plan, Options* o) {
  const Json& given = plan.Any("mix");
  Members mix = plan.Object("mix");
  uint64_t desktops = 0;
  for (size_t i = 0; i < kBehaviourNames.size(); ++i) {
    const std::string name(kBehaviourNames[i]);
    o->mix[i] = given.contains(name) ? mix.Count(name, 0, kDesktopsMax) : 0;
    desktops += o->mix[i];
  }
  mix.End();
  const uint32_t hostile = CountIn(o->mix, Behaviour::kHostile);
  plan.Require(
      desktops > hostile && desktops <= kDesktopsMax, "mix",
      "at most " + std::to_string(kDesktopsMax) + " desktops, and not all of them hostile");
  o->desktops = static_cast<uint32_t>(desktops);
  o->senders = CountIn(o->mix, Behaviour::kThrowing);
}

void ReadStages(Members& load, Options* o) {
  for (const Json& one : load.List("stages", SIZE_MAX)) {
    Members stage(one, "load.stages: ");
    o->stages.push_back({stage.Seconds("seconds", 0), stage.Number("perSecond", 0, kRateMax)});
    stage.End();
    o->rate = std::max(o->rate, o->stages.back().rate);
  }
  const double seconds = SecondsOf(o->stages);
  const bool throws =
      seconds >= kTimeMinS && seconds <= kSecondsMax && RateCurve(o->stages).CountAt(seconds) > 0;
  load.Require(throws, "stages", "stages from 100 ms to 7 days, in which something is thrown");
}

void ReadLoad(Members& plan, Options* o) {
  Members load = plan.Object("load");
  switch (load.OneOf("kind", {"sitting", "rate", "stages", "closed"})) {
    case 0:
      o->mode = Mode::kSitting;
      break;
    case 1:
      o->rate = load.Rate("perSecond");
      break;
    case 2:
      ReadStages(load, o);
      break;
    default:
      o->mode = Mode::kClosed;
      o->in_flight = load.Count("inFlight", 1, 1'000'000);
  }
  load.End();
  const bool is_thrown = o->mode != Mode::kSitting;
  plan.Require(is_thrown == (o->senders > 0), "mix",
               is_thrown ? "one with throwing desktops, because of its load"
                         : "one without throwing desktops, because its load is sitting");
}

// The phases and the limits, in seconds. Stages are the window.
void ReadTimes(Members& plan, Options* o) {
  o->act_every_s = plan.Seconds("actEvery", kTimeMinS);
  o->read_late_s = plan.Seconds("readLate", 0);
  o->connect_rate = plan.Rate("connectRate");
  o->connect_batch = plan.Count("connectBatch", 1, kDesktopsMax);
  o->connect_timeout_s = plan.Seconds("connectTimeout", kTimeMinS);
  o->settle_s = plan.Seconds("settle", 0);
  o->warm_up_s = plan.Seconds("warmUp", 0);
  o->duration_s = plan.Seconds("duration", kTimeMinS);
  o->drain_s = plan.Seconds("drain", 0);
  o->post_timeout_s = plan.Seconds("postTimeout", kTimeMinS);
  o->gone_after_s = plan.Seconds("goneAfter", kTimeMinS);
  o->late_after_s = plan.Seconds("lateAfter", 0);
  o->slip_max_s = plan.Seconds("slipMax", 0);
  o->poll_overdue_s = plan.Seconds("pollOverdue", kTimeMinS);
  if (!o->stages.empty()) {
    o->warm_up_s = 0;
    o->duration_s = SecondsOf(o->stages);
  }
}

Options ReadMembers(const Json& document) {
  Options o;
  Members plan(document, "");
  o.apis = ReadApis(plan);
  o.events = plan.Text("events");
  o.crossings = plan.Text("crossings");
  o.socket = plan.Text("socket");
  o.ca = plan.Text("ca");
  o.world = plan.Text("world");
  o.name = plan.Text("name");
  o.pictures = ReadPictures(plan);
  ReadMix(plan, &o);
  ReadLoad(plan, &o);
  o.transport =
      plan.OneOf("transport", {"poll", "socket"}) == 0 ? Transport::kPoll : Transport::kSocket;
  o.toward = static_cast<Toward>(plan.OneOf("toward", {"any", "within", "across"}));
  o.throw_each = plan.Any("throwConnections") == "each";
  if (o.throw_each) {
    plan.Text("throwConnections");
  } else {
    o.throw_connections = plan.Count("throwConnections", 0, kDesktopsMax);
  }
  o.pipeline = plan.Count("pipeline", 1, 32);
  o.arrivals =
      plan.OneOf("arrivals", {"even", "random"}) == 0 ? Arrivals::kEven : Arrivals::kRandom;
  o.sprite_bytes = plan.Count("spriteBytes", 0, 1024);
  o.seed = plan.Whole("seed", 0, UINT64_MAX);
  o.talk_rate = plan.Rate("talkRate");
  ReadTimes(plan, &o);
  o.leave = plan.Flag("leave");
  o.start_on_stdin = plan.Flag("startOnStdin");
  o.print_seconds = plan.Flag("printSeconds");
  o.processes = plan.Count("processes", 0, kSlicesMax);
  const std::string sources = plan.Text("sources");
  if (!sources.empty()) {
    const std::string wrong = o.sources.Parse(sources);
    plan.Require(wrong.empty(), "sources", "IPv4 addresses and ranges of them (" + wrong + ")");
  }
  o.watch_pids = ReadPids(plan);
  plan.End();
  return o;
}

// Decides which connections throw. Throws that share one must go to the same relay.
void AssignConnections(Options* options) {
  Options& o = *options;
  const auto relays = static_cast<uint32_t>(o.apis.size());
  const bool shares = o.throw_connections > 0 && o.throw_connections < o.senders;
  if (o.transport == Transport::kSocket && (o.throw_connections > 0 || o.throw_each)) {
    throw WrongPlan("throwConnections must be 0 on sockets: each desktop throws on its own");
  }
  if (relays > 1 && shares && o.throw_connections < o.processes * relays) {
    throw WrongPlan("throwConnections must be at least " + std::to_string(o.processes * relays) +
                    ": one for each relay in each process");
  }
  if (!shares) {
    o.throw_connections = o.senders;
  }
  if (o.throw_each && o.pipeline > 1) {
    throw WrongPlan("pipeline must be 1 where throwConnections is \"each\"");
  }
  if (o.mode == Mode::kClosed && o.in_flight > uint64_t{o.throw_connections} * o.pipeline) {
    throw WrongPlan("load.inFlight must be at most " +
                    std::to_string(uint64_t{o.throw_connections} * o.pipeline) +
                    ", pipeline times the connections that throw");
  }
}

// A connection that is opened for one throw is expected to take at most a second.
uint64_t ThrowConnectionsOf(const Options& o) {
  const auto in_a_second = static_cast<uint64_t>(o.mode == Mode::kClosed ? o.in_flight : o.rate);
  return o.throw_each ? std::min<uint64_t>(o.throw_connections, in_a_second + 1)
                      : o.throw_connections;
}

// Connections of desktops, throwers, talkers and peekers.
uint64_t ConnectionsOf(const Options& o) {
  const uint64_t more = ThrowConnectionsOf(o) + CountIn(o.mix, Behaviour::kTalking);
  return uint64_t{o.desktops} + CountIn(o.mix, Behaviour::kPeeking) +
         (o.transport == Transport::kSocket ? 0 : more);
}

// Decides how many slices there are: as few as descriptors allow, unless the plan says a number.
void AssignSlices(uint64_t descriptors_max, Options* options) {
  Options& o = *options;
  uint64_t slices = std::max<uint32_t>(o.processes, 1);
  const auto fits = [&](uint64_t n) {
    // All are spread evenly, so slices differ by at most one desktop, one sender, one talker and one
    // peeker.
    return ConnectionsOf(o) / n + 4 + SpareDescriptors(static_cast<uint32_t>(n)) <= descriptors_max;
  };
  while (slices <= kSlicesMax && !fits(slices)) {
    ++slices;
  }
  if (slices > kSlicesMax) {
    throw WrongPlan("a file limit of " + std::to_string(descriptors_max) +
                    " descriptors is too low for " + std::to_string(o.desktops) +
                    " desktops: raise it (ulimit -n)");
  }
  if (o.processes != 0 && slices != o.processes) {
    throw WrongPlan("processes (" + std::to_string(o.processes) + ") cannot hold " +
                    std::to_string(ConnectionsOf(o)) + " connections at " +
                    std::to_string(descriptors_max) + " descriptors each: use at least " +
                    std::to_string(slices));
  }
  if (slices > o.desktops || (o.senders > 0 && slices > o.throw_connections) ||
      (o.mode == Mode::kClosed && slices > o.in_flight)) {
    throw WrongPlan(
        "processes must be at most the desktops, the connections that throw, and the "
        "throws in flight; here they are " +
        std::to_string(slices));
  }
  o.processes = static_cast<uint32_t>(slices);
}

// Resolves all addresses, so that a wrong one is known before any process is forked, and decides
// which addresses connections come from.
void CheckAddresses(Options* options) {
  Options& o = *options;
  const bool has_own = !o.events.empty() || !o.crossings.empty() || !o.socket.empty();
  if (o.apis.size() > 1 && has_own) {
    throw WrongPlan("events, crossings and socket belong to one relay: leave them empty");
  }
  bool is_secure = false;
  bool is_loopback = true;
  const auto resolve = [&](const char* key, const std::string& text) {
    Endpoint endpoint;
    if (const std::string wrong = ResolveEndpoint(text, &endpoint); !wrong.empty()) {
      throw WrongPlan(std::string(key) + ": " + wrong);
    }
    is_secure = is_secure || endpoint.secure;
    return endpoint;
  };
  for (const std::string& text : o.apis) {
    is_loopback = resolve("apis", text).loopback() && is_loopback;
  }
  for (const auto& [key, text] :
       {std::pair{"events", &o.events}, std::pair{"crossings", &o.crossings},
        std::pair{"socket", &o.socket}}) {
    if (!text->empty()) {
      resolve(key, *text);
    }
  }
  if (is_secure || !o.ca.empty()) {
    try {
      const TlsContext probe(o.ca);
    } catch (const std::exception& error) {
      throw WrongPlan(std::string("ca: ") + error.what());
    }
  }
  if (o.sources.empty() && is_loopback) {
    o.sources.UseLoopback(static_cast<uint32_t>(ConnectionsOf(o) / kConnectionsPerSourceMax) + 1);
  }
}

}  // namespace

RateCurve CurveOf(const Options& options) {
  return options.stages.empty() ? RateCurve(options.rate) : RateCurve(options.stages);
}

uint32_t SpareDescriptors(uint32_t slices) { return 16 + slices + kJoinConnections; }

Options ReadPlan(std::istream& in, uint64_t descriptors_max) {
  Json document;
  try {
    in >> document;
  } catch (const Json::parse_error& error) {
    throw WrongPlan(std::string("the plan is not JSON: ") + error.what());
  }
  in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  Options options = ReadMembers(document);
  AssignConnections(&options);
  AssignSlices(descriptors_max, &options);
  CheckAddresses(&options);
  return options;
}

}  // namespace swarm
