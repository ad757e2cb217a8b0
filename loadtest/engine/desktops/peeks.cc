#include "desktops/peeks.h"

#include "account/seen_stages.h"
#include "account/sprite_tag.h"
#include "net/problem.h"

namespace swarm {
namespace {

constexpr int64_t kTickNs = kNsPerSecond;
constexpr uint32_t kTicksPerPeek = 5;  // PROTOCOL.md: repeat a peek every 5 s
constexpr uint32_t kNobody = UINT32_MAX;
// Desktops that are looked at for one at the relay that the peeker is connected to.
constexpr size_t kLooksMax = 8;

}  // namespace

Peeks::Peeks(SliceState& slice) : slice_(slice) {
  for (uint32_t i = 0; i < slice.desktops.size(); ++i) {
    if (slice.desktops[i].behaviour == Behaviour::kPeeking) {
      Peeker& peeker = peekers_.emplace_back();
      peeker.desktop = i;
      peeker.edge = static_cast<uint8_t>(i % kEdges);
    }
  }
}

void Peeks::Begin(int64_t from_ns, int64_t until_ns) {
  until_ns_ = until_ns;
  for (uint32_t i = 0; i < peekers_.size(); ++i) {
    const auto after_ns = static_cast<int64_t>(slice_.random.Unit() * kTickNs);
    peekers_[i].next_ns = from_ns + after_ns;
    slice_.ScheduleAt(Part::kPeeker, i, peekers_[i].next_ns);
  }
}

void Peeks::Tick(uint32_t index, int64_t now_ns) {
  Peeker& peeker = peekers_[index];
  if (now_ns >= until_ns_ || slice_.phase > Phase::kThrow) {
    return;
  }
  peeker.next_ns += kTickNs;
  slice_.ScheduleAt(Part::kPeeker, index, peeker.next_ns);
  const bool is_stage = peeker.ticks++ % kTicksPerPeek != 0;
  const uint32_t asker = is_stage ? NextWatched(peeker) : peeker.desktop;
  if (asker == kNobody) {
    return;
  }
  ++slice_.counters.peeks_due;
  if (peeker.asks || slice_.desktops[asker].state != Desktop::State::kJoined) {
    ++slice_.counters.peeks_skipped;
    return;
  }
  peeker.asker = asker;
  peeker.asks = true;
  peeker.is_stage = is_stage;
  peeker.since_ns = now_ns;
  ++slice_.counters.peeks_sent;
  ++slice_.counters.peeks_unanswered;
  Send(index);
}

uint32_t Peeks::NextWatched(const Peeker& peeker) {
  for (size_t looks = 0; looks < kLooksMax && !slice_.watched.empty(); ++looks) {
    const uint32_t index = slice_.watched.front();
    slice_.watched.pop_front();
    Desktop& desktop = slice_.desktops[index];
    if (!desktop.is_watched) {
      desktop.in_watched = false;
      continue;
    }
    slice_.watched.push_back(index);
    if (peeker.endpoint == Endpoints::kUnknown || peeker.endpoint == desktop.crossings_endpoint) {
      return index;
    }
  }
  return kNobody;
}

void Peeks::Send(uint32_t index) {
  Peeker& peeker = peekers_[index];
  const Desktop& desktop = slice_.desktops[peeker.asker];
  if (!peeker.asks || peeker.on_wire) {
    return;
  }
  if (!peeker.connection.open() || peeker.endpoint != desktop.crossings_endpoint) {
    if (peeker.connection.state() == Connection::State::kConnecting) {
      return;
    }
    slice_.Close(peeker.connection);
    peeker.endpoint = desktop.crossings_endpoint;
    if (!slice_.Connect(peeker.connection, TagOf(Part::kPeeker, index), peeker.endpoint,
                        slice_.GlobalIndex(peeker.desktop) + 2)) {
      Settle(index, &Counters::peeks_failed);
    }
    return;
  }
  peeker.on_wire = true;
  if (peeker.is_stage) {
    WriteStage(StageNumber(NowNs() - slice_.started_ns), &body_);
  } else {
    body_.assign("{\"edge\":\"").append(NameOf(static_cast<Edge>(peeker.edge))).append("\"}");
  }
  slice_.request.clear();
  slice_.AppendPost(desktop, peeker.is_stage ? "/stage" : "/peeks", body_, &slice_.request);
  if (!slice_.Send(peeker.connection, slice_.request)) {
    OnBroken(index);
  }
}

void Peeks::OnResponse(uint32_t index, const HttpResponse& response) {
  Peeker& peeker = peekers_[index];
  if (!peeker.on_wire) {  // a response without a request
    slice_.counters.answers_bad += MayCloseIdle(response) ? 0 : 1;
    OnBroken(index);
    return;
  }
  if (response.status == 202) {
    Settle(index, &Counters::peeks_accepted);
  } else if (response.status >= 400) {
    const size_t problem = ProblemIndex(ReadProblem(response).code);
    // 401, 410: the desktop has left meanwhile.
    const bool is_hidden = problem == ProblemIndex(rules::codes::kStageHidden) ||
                           problem == ProblemIndex(rules::codes::kNoNeighbour) ||
                           response.status == 401 || response.status == 410;
    if (!is_hidden) {
      ++slice_.counters.other_refused_by_code[problem];
    }
    peeker.edge = static_cast<uint8_t>((peeker.edge + 1) % kEdges);
    Settle(index, is_hidden ? &Counters::peeks_hidden : &Counters::peeks_refused);
  } else {
    ++slice_.counters.answers_bad;
    Settle(index, &Counters::peeks_failed);
  }
  if (!response.keep_alive) {
    slice_.Close(peeker.connection);
  }
}

void Peeks::Settle(uint32_t index, uint64_t Counters::*fate) {
  Peeker& peeker = peekers_[index];
  ++(slice_.counters.*fate);
  --slice_.counters.peeks_unanswered;
  slice_.counters.stages_posted += peeker.is_stage && fate == &Counters::peeks_accepted ? 1 : 0;
  peeker.asks = false;
  peeker.on_wire = false;
}

void Peeks::OnBroken(uint32_t index) {
  Peeker& peeker = peekers_[index];
  if (peeker.connection.open() && peeker.on_wire) {
    ++slice_.counters.cuts;
  }
  slice_.Close(peeker.connection);
  if (peeker.asks) {
    Settle(index, &Counters::peeks_failed);  // the next tick is soon
  }
}

void Peeks::Sweep(int64_t now_ns) {
  const int64_t timeout_ns = Ns(slice_.options.post_timeout_s);
  for (uint32_t i = 0; i < peekers_.size(); ++i) {
    if (peekers_[i].asks && now_ns - peekers_[i].since_ns > timeout_ns) {
      OnBroken(i);
    }
  }
}

}  // namespace swarm
