#include "plan/options.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "account/flight.h"
#include "account/sprite_tag.h"

namespace swarm {
namespace {

using Json = nlohmann::json;

// A quarter of the ports that a source address has with the default range of Linux, because the
// search for a free port gets long when half of them are taken (PORTS_SHARE in run/plan.ts).
constexpr uint32_t kConnectionsPerSourceMax = 7'000;

// Whether `text` needs no escape in JSON: parts of the plan go into requests as they are.
bool IsPlainText(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

// One object of the plan. A member that is absent or of another type, or that nothing has read when
// the object ends, is an error: sender and receiver would disagree about the plan. The ranges are
// checked where a plan is made of what people write (run/scenario.ts).
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  template <typename T>
  T Read(const std::string& key) {
    taken_.insert(key);
    try {
      const Json& value = object_.at(key);
      // The library would convert them.
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        if (!value.is_number_unsigned() || !std::in_range<T>(value.get<uint64_t>())) {
          throw WrongPlan(key + " must be a whole number; got " + value.dump());
        }
      }
      return value.get<T>();
    } catch (const Json::exception& error) {
      throw WrongPlan(key + ": " + error.what());
    }
  }

  template <typename T>
  void ReadTo(const std::string& key, T* member) {
    *member = Read<T>(key);
  }

  // The place of the member's text among `names`.
  size_t OneOf(const std::string& key, const std::vector<std::string>& names) {
    const auto text = Read<std::string>(key);
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) {
      throw WrongPlan(key + " can't be " + text);
    }
    return static_cast<size_t>(found - names.begin());
  }

  // Throws when the object has a member that nothing has read.
  void End() const {
    for (const auto& member : object_.items()) {
      if (!taken_.contains(member.key())) {
        throw WrongPlan("there is no " + member.key());
      }
    }
  }

 private:
  const Json& object_;
  std::set<std::string> taken_;
};

double SecondsOf(const std::vector<Stage>& stages) {
  return std::accumulate(stages.begin(), stages.end(), 0.0,
                         [](double sum, const Stage& stage) { return sum + stage.seconds; });
}

// Reads how many desktops of each behaviour there are; one that is absent has none.
void ReadMix(const Json& mix, Options* o) {
  Members members(mix);
  for (size_t i = 0; i < kBehaviourNames.size(); ++i) {
    const std::string name(kBehaviourNames[i]);
    o->mix[i] = mix.contains(name) ? members.Read<uint32_t>(name) : 0;
    o->desktops += o->mix[i];
  }
  members.End();
  o->senders = CountIn(o->mix, Behaviour::kThrowing);
}

void ReadLoad(const Json& load, Options* o) {
  Members members(load);
  switch (members.OneOf("kind", {"sitting", "rate", "stages", "closed"})) {
    case 0:
      o->mode = Mode::kSitting;
      break;
    case 1:
      members.ReadTo("perSecond", &o->rate);
      break;
    case 2:
      for (const Json& one : members.Read<std::vector<Json>>("stages")) {
        Members stage(one);
        o->stages.push_back({stage.Read<double>("seconds"), stage.Read<double>("perSecond")});
        stage.End();
        o->rate = std::max(o->rate, o->stages.back().rate);
      }
      break;
    default:
      o->mode = Mode::kClosed;
      members.ReadTo("inFlight", &o->in_flight);
  }
  members.End();
  if ((o->mode != Mode::kSitting) != (o->senders > 0)) {
    throw WrongPlan("mix must have throwing desktops if, and only if, the load is not sitting");
  }
}

// The phases and the limits, in seconds. Stages are the window.
void ReadTimes(Members& plan, Options* o) {
  plan.ReadTo("actEvery", &o->act_every_s);
  plan.ReadTo("readLate", &o->read_late_s);
  plan.ReadTo("connectRate", &o->connect_rate);
  plan.ReadTo("connectBatch", &o->connect_batch);
  plan.ReadTo("connectTimeout", &o->connect_timeout_s);
  plan.ReadTo("settle", &o->settle_s);
  plan.ReadTo("warmUp", &o->warm_up_s);
  plan.ReadTo("duration", &o->duration_s);
  plan.ReadTo("drain", &o->drain_s);
  plan.ReadTo("postTimeout", &o->post_timeout_s);
  plan.ReadTo("goneAfter", &o->gone_after_s);
  plan.ReadTo("lateAfter", &o->late_after_s);
  plan.ReadTo("slipMax", &o->slip_max_s);
  plan.ReadTo("pollOverdue", &o->poll_overdue_s);
  if (!o->stages.empty()) {
    o->warm_up_s = 0;
    o->duration_s = SecondsOf(o->stages);
  }
}

Options ReadMembers(const Json& document) {
  Options o;
  Members plan(document);
  plan.ReadTo("apis", &o.apis);
  plan.ReadTo("events", &o.events);
  plan.ReadTo("crossings", &o.crossings);
  plan.ReadTo("socket", &o.socket);
  plan.ReadTo("ca", &o.ca);
  plan.ReadTo("world", &o.world);
  plan.ReadTo("name", &o.name);
  plan.ReadTo("machines", &o.machines);
  plan.ReadTo("fleet", &o.fleet);
  plan.ReadTo("machine", &o.machine);
  plan.ReadTo("pictures", &o.pictures);
  ReadMix(plan.Read<Json>("mix"), &o);
  ReadLoad(plan.Read<Json>("load"), &o);
  o.transport = static_cast<Transport>(plan.OneOf("transport", {"poll", "socket"}));
  o.toward = static_cast<Toward>(plan.OneOf("toward", {"any", "within", "across"}));
  o.throw_each = plan.Read<Json>("throwConnections") == "each";
  if (!o.throw_each) {
    plan.ReadTo("throwConnections", &o.throw_connections);
  }
  o.arrivals =
      plan.OneOf("arrivals", {"even", "random"}) == 0 ? Arrivals::kEven : Arrivals::kRandom;
  plan.ReadTo("spriteBytes", &o.sprite_bytes);
  plan.ReadTo("seed", &o.seed);
  plan.ReadTo("talkRate", &o.talk_rate);
  ReadTimes(plan, &o);
  plan.ReadTo("leave", &o.leave);
  plan.ReadTo("startOnStdin", &o.start_on_stdin);
  plan.ReadTo("printSeconds", &o.print_seconds);
  plan.ReadTo("processes", &o.processes);
  if (const auto sources = plan.Read<std::string>("sources"); !sources.empty()) {
    if (const std::string wrong = o.sources.Parse(sources); !wrong.empty()) {
      throw WrongPlan("sources: " + wrong);
    }
  }
  plan.ReadTo("watchPids", &o.watch_pids);
  plan.End();
  if (o.apis.empty() || o.apis.size() > kRelaysMax) {
    throw WrongPlan("apis must be 1 to " + std::to_string(kRelaysMax) + " relays");
  }
  if (o.machines > 1 && CountIn(o.mix, Behaviour::kTalking) > 0) {
    throw WrongPlan(
        "machines must be 1 where desktops talk: what is heard on another machine has no account");
  }
  for (const std::string& picture : o.pictures) {
    if (picture.size() != kPictureDigits || !IsPlainText(picture)) {
      throw WrongPlan("pictures must be hashes; got " + picture);
    }
  }
  for (const std::string* text : {&o.events, &o.crossings, &o.socket, &o.world, &o.name}) {
    if (!IsPlainText(*text)) {
      throw WrongPlan("must be printable ASCII without \" and \\: " + *text);
    }
  }
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
  if (relays > 1 && shares && o.throw_connections < relays) {
    throw WrongPlan("throwConnections must be at least " + std::to_string(relays) +
                    ": one for each relay");
  }
  if (!shares) {
    o.throw_connections = o.senders;
  }
  if (o.mode == Mode::kClosed && o.in_flight > o.throw_connections) {
    throw WrongPlan("load.inFlight must be at most " + std::to_string(o.throw_connections) +
                    ", the connections that throw");
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

// How many slices have something to do: a desktop each, and where there are throws, one of them and
// a connection for it to each relay.
uint64_t UsefulSlices(const Options& o) {
  const bool shares = o.throw_connections < o.senders;
  const size_t connections = o.throw_connections / (shares ? o.apis.size() : 1);
  uint64_t most = std::min<uint64_t>(o.desktops, kSlicesMax);
  most = o.senders > 0 ? std::min<uint64_t>(most, connections) : most;
  return o.mode == Mode::kClosed ? std::min<uint64_t>(most, o.in_flight) : most;
}

// Decides how many slices there are: as many as the plan wants, if they have something to do, and
// more if their descriptors would not be enough.
void AssignSlices(uint64_t descriptors_max, Options* options) {
  Options& o = *options;
  const uint64_t most = std::max<uint64_t>(UsefulSlices(o), 1);
  uint64_t slices = std::clamp<uint64_t>(o.processes, 1, most);
  const auto fits = [&](uint64_t n) {
    // All are spread evenly, so slices differ by at most one desktop, one sender, one talker and
    // one peeker.
    return ConnectionsOf(o) / n + 4 + SpareDescriptors(static_cast<uint32_t>(n)) <= descriptors_max;
  };
  while (slices <= most && !fits(slices)) {
    ++slices;
  }
  if (slices > most) {
    throw WrongPlan("a file limit of " + std::to_string(descriptors_max) + " is too low for " +
                    std::to_string(ConnectionsOf(o)) + " connections in at most " +
                    std::to_string(most) + " processes: raise it (ulimit -n 65536)");
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
