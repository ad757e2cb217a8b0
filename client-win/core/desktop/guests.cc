#include "core/desktop/guests.h"

#include <algorithm>
#include <utility>

#include "core/relay/problem_texts.h"

namespace sprites {

void Guests::ReportPicture(const PictureReport& report) {
  const auto request = context_.relay.seat() ? moderation_.ReportPicture(report) : std::nullopt;
  if (request) {
    context_.Send(request, Until::kProgramEnds,
                  [this](const Response& response) { HandleReport(response); });
  } else {
    context_.ShowNotice(Text::kToastNotReported, Text::kWhyNotConnected);
  }
}

const Neighbour* Guests::SenderOf(SpriteId id) const {
  const auto sender = senders_.find(id);
  return sender == senders_.end() ? nullptr : &sender->second;
}

PictureReport Guests::ReportOf(const Sprite& sprite) const {
  const Neighbour* sender = SenderOf(sprite.id);
  const bool is_own = sender == nullptr || context_.relay.IsSelf(sender->desktop);
  return {sprite.file, is_own ? "" : sender->desktop, ""};
}

void Guests::SendMutes() {
  if (!context_.relay.neighbours) {
    return;
  }
  for (const SeatRequest& request :
       moderation_.DueMutes(context_.relay.seat()->desktop, *context_.relay.neighbours,
                            context_.settings.muted, context_.now_ms, &context_.budget)) {
    context_.Send(request, Until::kSeatEnds, [](const Response&) {});
  }
}

bool Guests::IsMuted(const Neighbour& neighbour) const {
  return std::ranges::any_of(context_.settings.muted,
                             [&](const Neighbour& muted) { return Mutes(muted, neighbour); });
}

void Guests::Mute(const Neighbour& neighbour, bool is_muted) {
  std::erase_if(context_.settings.muted,
                [&](const Neighbour& muted) { return Mutes(muted, neighbour); });
  if (is_muted) {
    context_.settings.muted.push_back(neighbour);
    for (const auto& [id, sender] : senders_) {
      if (Mutes(neighbour, sender)) {
        list_.SendOn(sender.desktop, context_.now_ms);
      }
    }
  }
  context_.settings = WithinLimits(std::move(context_.settings));
  context_.outbox.settings_changed = true;
}

void Guests::Add(SpriteId id, const Neighbour& from, Edge entered) {
  if (context_.relay.IsSelf(from.desktop)) {
    return;  // it was thrown here, and has come home
  }
  senders_[id] = from;
  list_.Add(id, from.desktop, Opposite(entered), context_.now_ms);
  if (IsMuted(from)) {
    list_.SendOn(from.desktop, context_.now_ms);  // it had waited for room
  }
}

void Guests::Head(SpriteId id, const Step& step, bool passes) {
  steps_[id] = step;
  if (passes) {
    list_.Pass(id, step.edge, context_.now_ms);
  }
}

const Step* Guests::StepOf(SpriteId id, Edge edge) const {
  const auto step = steps_.find(id);
  return step != steps_.end() && step->second.edge == edge ? &step->second : nullptr;
}

void Guests::EndWay(SpriteId id) {
  if (steps_.erase(id) > 0) {
    list_.Stay(id);
  }
}

void Guests::Remove(SpriteId id) {
  senders_.erase(id);
  steps_.erase(id);
  list_.Remove(id);
}

std::optional<Edge> Guests::EdgeOf(SpriteId id) const {
  const GuestList::Guest* guest = list_.Find(id);
  return guest == nullptr ? std::nullopt : std::optional(guest->edge);
}

void Guests::SendOnward() {
  for (const SpriteId taken : {simulation_.held(), simulation_.steered()}) {
    EndWay(taken);  // who is taken up is on its way to nobody
  }
  const GuestList::Guest* guest =
      context_.relay.ConnectedSeat() == nullptr ? nullptr : list_.Next(context_.now_ms);
  if (guest != nullptr && simulation_.held() != guest->id) {
    simulation_.ThrowTo(guest->id, guest->edge);
  }
}

void Guests::HandleReport(const Response& response) {
  const Moderation::Report report = moderation_.HandleResponse(response);
  if (report.was_accepted) {
    context_.ShowNotice(Text::kToastReported, Text::kToastReportedText);
  } else {
    context_.ShowNotice(Text::kToastNotReported, SayProblem(context_.language(), report.problem));
  }
}

}  // namespace sprites
