#include "desktops/sayings.h"

#include "account/sprite_tag.h"

namespace swarm {
namespace {

// A saying that was sent so often fails when its connection breaks.
constexpr uint8_t kSaidMax = 10;
// How long after the window its last sayings may leave: as throws.
constexpr int64_t kLastSayingNs = 100 * kNsPerMs;

}  // namespace

Sayings::Sayings(SliceState& slice) : slice_(slice) {
  for (uint32_t i = 0; i < slice.desktops.size(); ++i) {
    if (slice.desktops[i].behaviour == Behaviour::kTalking) {
      slice.desktops[i].sender = static_cast<uint32_t>(talkers_.size());
      talkers_.emplace_back().desktop = i;
    }
  }
}

void Sayings::Begin(int64_t from_ns, int64_t until_ns) {
  until_ns_ = until_ns;
  if (!talkers_.empty()) {
    schedule_.emplace(slice_.options.arrivals,
                      slice_.options.talk_rate * static_cast<double>(talkers_.size()), slice_.index,
                      slice_.run.slices(), slice_.options.seed, from_ns, until_ns);
  }
}

void Sayings::Turn(int64_t now_ns) {
  const bool is_late = now_ns > until_ns_ + kLastSayingNs || slice_.phase > Phase::kDrain;
  for (; NextDue() <= now_ns; schedule_->Advance()) {
    ++slice_.counters.sayings_due;
    const uint32_t index = next_talker_;
    next_talker_ = (index + 1) % static_cast<uint32_t>(talkers_.size());
    if (is_late || talkers_[index].speaks || next_number_ >= slice_.sayings.capacity()) {
      ++slice_.counters.sayings_skipped;
    } else {
      Say(index, schedule_->due_ns());
    }
  }
}

void Sayings::Say(uint32_t index, int64_t due_ns) {
  Talker& talker = talkers_[index];
  talker.due_ns = due_ns;
  talker.number = next_number_++;
  talker.sends = 0;
  talker.speaks = true;
  slice_.sayings.Say(talker.number);
  ++slice_.counters.said;
  ++slice_.counters.sayings_unanswered;
  Send(index);
}

bool Sayings::IsReady(uint32_t index) {
  Talker& talker = talkers_[index];
  const Desktop& desktop = slice_.desktops[talker.desktop];
  if (desktop.state != Desktop::State::kJoined) {
    slice_.RetryLater(Part::kTalker, index, &talker.tries);
    return false;
  }
  if (slice_.has_sockets()) {
    const MessagePace& pace = slice_.sockets[talker.desktop].pace;
    const bool may_send = pace.MaySend(NowNs());
    if (!may_send) {
      slice_.ScheduleAt(Part::kTalker, index, pace.free_at_ns());
    }
    return may_send && slice_.IsReady(talker.desktop);
  }
  if (talker.connection.open() && talker.endpoint == desktop.crossings_endpoint) {
    return true;
  }
  if (talker.connection.state() != Connection::State::kConnecting) {
    slice_.Close(talker.connection);
    talker.endpoint = desktop.crossings_endpoint;
    if (!slice_.Connect(talker.connection, TagOf(Part::kTalker, index), talker.endpoint,
                        slice_.GlobalIndex(talker.desktop) + 1)) {
      slice_.RetryLater(Part::kTalker, index, &talker.tries);
    }
  }
  return false;
}

void Sayings::Send(uint32_t index) {
  Talker& talker = talkers_[index];
  const Desktop& desktop = slice_.desktops[talker.desktop];
  if (!talker.speaks || talker.on_wire) {
    return;
  }
  if (talker.sends > 0 && talker.identity != desktop.identity) {
    // The relay may have accepted it from the desktop that it was. Now it would be said twice.
    Settle(index, &Counters::sayings_failed);
    return;
  }
  if (!IsReady(index)) {
    return;
  }
  if (talker.identity != desktop.identity) {
    talker.identity = desktop.identity;
    talker.saying = 0;
  }
  talker.saying += talker.sends == 0 ? 1 : 0;
  slice_.counters.sayings_resent += talker.sends++ > 0 ? 1 : 0;
  talker.on_wire = true;
  WriteBody(talker);
  slice_.request.clear();
  if (slice_.has_sockets()) {
    slice_.AppendMessage(talker.desktop, body_, &slice_.request);
    if (!slice_.Send(slice_.desktops[talker.desktop].poll, slice_.request)) {
      slice_.broken.push_back(talker.desktop);
    }
    return;
  }
  slice_.AppendPost(desktop, "/sayings", body_, &slice_.request);
  if (!slice_.Send(talker.connection, slice_.request)) {
    OnBroken(index);
  }
}

void Sayings::WriteBody(const Talker& talker) {
  const SpriteTag tag = {slice_.run_id,
                         slice_.index,
                         talker.number,
                         slice_.GlobalIndex(talker.desktop),
                         talker.due_ns - slice_.first_throw_ns(),
                         Edge::kLeft};
  body_.assign("{\"saying\":").append(std::to_string(talker.saying)).append(",\"text\":\"");
  body_.append(kSpriteTagBytes, ' ');
  WriteSpriteTag(tag, &body_[body_.size() - kSpriteTagBytes]);
  body_.append(kSayingEnd).append("\"}");
}

void Sayings::OnResponse(uint32_t index, const HttpResponse& response) {
  Talker& talker = talkers_[index];
  if (!talker.on_wire) {  // a response without a request
    slice_.counters.answers_bad += MayCloseIdle(response) ? 0 : 1;
    OnBroken(index);
    return;
  }
  OnVerdict(index, ReadVerdict(response));
  if (!response.keep_alive) {
    slice_.Close(talker.connection);
  }
}

void Sayings::OnMessage(uint32_t index, const Verdict& verdict) {
  const Talker& talker = talkers_[index];
  if (talker.on_wire && verdict.number == talker.saying) {
    OnVerdict(index, verdict);
  } else if (verdict.number > talker.saying) {
    ++slice_.counters.answers_bad;  // otherwise it is about a saying that has timed out
  }
}

void Sayings::OnVerdict(uint32_t index, const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::kAccepted:
      if (!verdict.valid || !verdict.hearers) {
        ++slice_.counters.answers_bad;
      }
      slice_.sayings.Accept(talkers_[index].number, verdict.hearers.value_or(0) + 1);
      slice_.counters.hearings_owed += verdict.hearers.value_or(0) + 1;
      Settle(index, &Counters::sayings_accepted);
      break;
    case Verdict::Kind::kRefused:
      ++slice_.counters.other_refused_by_code[verdict.problem];
      Settle(index, &Counters::sayings_refused);
      break;
    case Verdict::Kind::kUnexpected:
      ++slice_.counters.answers_bad;
      Settle(index, &Counters::sayings_failed);
      break;
  }
}

void Sayings::Settle(uint32_t index, uint64_t Counters::*fate) {
  Talker& talker = talkers_[index];
  ++(slice_.counters.*fate);
  --slice_.counters.sayings_unanswered;
  talker.speaks = false;
  talker.on_wire = false;
  talker.tries = 0;
}

void Sayings::OnBroken(uint32_t index) {
  Talker& talker = talkers_[index];
  if (talker.connection.open() && talker.on_wire) {
    ++slice_.counters.cuts;
  }
  slice_.Close(talker.connection);
  talker.on_wire = false;
  if (talker.speaks && talker.sends >= kSaidMax) {
    Settle(index, &Counters::sayings_failed);
  } else if (talker.speaks && !slice_.has_sockets()) {
    // A socket is opened again by its desktop's poll.
    slice_.RetryLater(Part::kTalker, index, &talker.tries);
  }
}

void Sayings::Sweep(int64_t now_ns) {
  const int64_t timeout_ns = Ns(slice_.options.post_timeout_s);
  for (uint32_t i = 0; i < talkers_.size(); ++i) {
    if (talkers_[i].speaks && now_ns - talkers_[i].due_ns > timeout_ns) {
      Settle(i, &Counters::sayings_timed_out);
      slice_.Close(talkers_[i].connection);  // or its answer would be mistaken for that of the next
    }
  }
}

}  // namespace swarm
