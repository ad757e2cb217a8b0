#include "core/desktop/guests.h"

#include <algorithm>
#include <utility>

#include "core/relay/problem_texts.h"

namespace sprites {

void Guests::ReportPicture(const PictureReport& report) {
  std::optional<Request> request;
  if (context_.relay.seat()) {
    request = moderation_.ReportPicture(context_.relay.poller.relay(), *context_.relay.seat(),
                                        report, &context_.next_request);
  }
  if (request) {
    context_.Send(std::move(*request));
  } else {
    context_.ShowNotice(context_.Said(Text::kToastNotReported),
                        context_.Said(Text::kWhyNotConnected));
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
  if (context_.relay.ConnectedSeat() == nullptr || !context_.relay.neighbours) {
    return;
  }
  for (Request& request : moderation_.DueMutes(
           context_.relay.poller.relay(), *context_.relay.seat(), *context_.relay.neighbours,
           context_.settings.muted, context_.now_ms, &context_.budget, &context_.next_request)) {
    context_.Send(std::move(request));
  }
}

bool Guests::IsMuted(const Neighbour& neighbour) const {
  const auto& muted = context_.settings.muted;
  return std::ranges::find(muted, neighbour.DisplayName()) != muted.end();
}

void Guests::Mute(const Neighbour& neighbour, bool is_muted) {
  std::erase(context_.settings.muted, neighbour.DisplayName());
  if (is_muted) {
    context_.settings.muted.push_back(neighbour.DisplayName());
  }
  context_.settings = WithinLimits(std::move(context_.settings));
  context_.outbox.settings_changed = true;
}

// Not at each departure: a sprite that is refused comes back, and its sender must still be known.
void Guests::Remember(SpriteId id, const Neighbour& from) {
  if (senders_.size() >= 2 * size_t{kSpriteLimitMax}) {
    std::erase_if(senders_,
                  [this](const auto& sender) { return simulation_.Find(sender.first) == nullptr; });
  }
  if (!from.desktop.empty()) {
    senders_[id] = from;
  }
}

bool Guests::HandleResponse(const Response& response) {
  const auto report = moderation_.HandleResponse(response);
  if (report && report->was_accepted) {
    context_.ShowNotice(context_.Said(Text::kToastReported),
                        context_.Said(Text::kToastReportedText));
  } else if (report) {
    context_.ShowNotice(context_.Said(Text::kToastNotReported),
                        SayProblem(context_.language(), report->problem));
  }
  return report.has_value();
}

}  // namespace sprites
