// Peeking, both ways: what is seen beyond the edge that the person looks over, and the stage of
// this desktop for neighbours who look.
#include <algorithm>
#include <limits>
#include <utility>

#include "core/desktop/desktop.h"
#include "core/relay/problem_texts.h"

namespace sprites {

namespace {

constexpr SpriteId kFirstPane = 0xFFFF'FF00;  // ids of the panes; silhouettes count from 1

}  // namespace

void Desktop::SetPointer(Point point, bool is_busy, int64_t now_ms) {
  if (!settings_.peek_at_edges || IsQuiet()) {
    gesture_.Leave(now_ms);
  } else {
    gesture_.SetPointer(point, simulation_.screen(), is_busy, now_ms);
  }
}

void Desktop::PeekOver(std::optional<Edge> edge) { gesture_.Choose(edge); }

void Desktop::ShowStageToNeighbours(bool is_shown) {
  settings_.show_stage = is_shown ? ShowStage::kShow : ShowStage::kHide;
  stage_switch_.AskNow();
  outbox_.settings_changed = true;
}

bool Desktop::CanPeek() const {
  return poller_.seat() && poller_.seat()->stage && !peek_.is_unsupported();
}

bool Desktop::IsStageShown() const { return poller_.seat() && poller_.seat()->stage == true; }

const Neighbour* Desktop::NeighbourBeyond(Edge edge) const {
  if (!neighbours_ || !poller_.seat() || poller_.link() != Link::kConnected) {
    return nullptr;
  }
  const Neighbour& neighbour = (*neighbours_)[static_cast<size_t>(edge)];
  const bool is_other = !neighbour.desktop.empty() && neighbour.desktop != poller_.seat()->desktop;
  return is_other ? &neighbour : nullptr;
}

std::optional<bool> Desktop::ChosenStage() const {
  return settings_.show_stage == ShowStage::kAsWorld
             ? std::nullopt
             : std::optional(settings_.show_stage == ShowStage::kShow);
}

// Looks over the edge of the gesture, if somebody is there.
void Desktop::UpdatePeek() {
  const bool is_hidden = settings_.quiet && presence_ == Presence::kPresenting;
  if (simulation_.held() != kNobody || is_hidden || !CanPeek()) {
    gesture_.Stop();
  }
  std::optional<Edge> edge = gesture_.EdgeAt(now_ms_);
  if (edge && NeighbourBeyond(*edge) == nullptr) {
    edge.reset();
  }
  peek_.Look(edge);
  if (!edge) {
    silhouettes_.Clear();
  }
}

void Desktop::SendPeeking() {
  if (!poller_.seat() || poller_.link() != Link::kConnected) {
    return;
  }
  const std::string& relay = poller_.relay();
  const Seat& seat = *poller_.seat();
  const auto send = [this](std::optional<Request> request) {
    if (request) {
      outbox_.requests.push_back(std::move(*request));
    }
  };
  send(stage_switch_.DueRequest(relay, seat, ChosenStage(), now_ms_, &budget_, &next_request_));
  send(peek_.DueRequest(relay, seat, now_ms_, &next_request_));
  const auto look = [this](const std::function<bool(const std::string&)>& is_shown) {
    return StageOf(simulation_, stage_posts_.edges(), is_shown, is_paused_);
  };
  const auto is_at_relay = [this](const std::string& file) { return uploads_.IsAtRelay(file); };
  send(stage_posts_.DueRequest(relay, seat, now_ms_, look, is_at_relay, &next_request_));
}

void Desktop::HandleStages(const Batch& batch) {
  follows_stage_ = false;
  for (const StageEvent& event : batch.stages) {
    if (event.edge != peek_.wanted()) {
      continue;
    }
    follows_stage_ = true;
    if (event.from && IsMuted(*event.from)) {
      silhouettes_.Clear();
      continue;
    }
    silhouettes_.Receive(event, now_ms_);
    if (!event.from) {
      peek_.AskSoon(now_ms_);
    }
  }
  if (batch.watched) {
    stage_posts_.Watch(*batch.watched);
  }
}

bool Desktop::HandlePeekingResponse(const Response& response) {
  std::optional<bool> shown;
  if (stage_switch_.HandleResponse(response, now_ms_, random_, &shown)) {
    if (shown && poller_.seat()) {
      poller_.SetStage(*shown);
      saves_now_ = true;
    }
    return true;
  }
  std::optional<PeekRefusal> refusal;
  if (!peek_.HandleResponse(response, now_ms_, &refusal)) {
    return stage_posts_.HandleResponse(response, now_ms_);
  }
  if (!refusal) {
    return true;
  }
  if (silhouettes_.edge() == refusal->edge) {
    silhouettes_.Clear();
  }
  // A pointer may rest at an edge for another reason, so a refusal is shown only after a choice.
  if (gesture_.chosen() == refusal->edge) {
    gesture_.Choose(std::nullopt);
    const Neighbour* neighbour = NeighbourBeyond(refusal->edge);
    const std::string name = neighbour == nullptr ? "" : neighbour->DisplayName();
    ShowNotice(Said(Text::kToastPeekNothing), refusal->problem.code == codes::kStageHidden
                                                  ? Said(Text::kToastPeekHidden, {name})
                                                  : SayProblem(language(), refusal->problem));
  }
  return true;
}

// The seat has ended, so this desktop watches nobody, and nobody watches it.
void Desktop::ForgetPeeking() {
  peek_.Restart();
  silhouettes_.Clear();
  stage_posts_.Restart();
  stage_switch_.Restart();
  follows_stage_ = false;
}

void Desktop::DrawBeyond() {
  scene_.beyond.clear();
  const std::optional<Edge> edge = peek_.wanted();
  const Screen& screen = simulation_.screen();
  const auto silhouettes = silhouettes_.At(
      now_ms_, {static_cast<double>(screen.DipWidth()), static_cast<double>(screen.DipHeight())});
  if (!edge || silhouettes_.edge() != edge) {
    panes_.clear();
    return;
  }
  std::vector<Pane> panes = PanesAlong(*edge, screen);
  std::erase_if(panes, [this](const Pane& pane) {
    return settings_.hide_in_full_screen && pane.monitor < covered_.size() &&
           covered_[pane.monitor];
  });
  if (!IsSamePlace(panes, panes_)) {
    panes_ = std::move(panes);
  }
  for (size_t i = 0; i < panes_.size(); i++) {
    scene_.beyond.push_back(Draw(panes_[i], kFirstPane + static_cast<SpriteId>(i)));
  }
  for (const Silhouette& silhouette : silhouettes) {
    if (auto drawn = DrawSilhouette(silhouette, *edge)) {
      scene_.beyond.push_back(std::move(*drawn));
    }
  }
}

// Nothing when it is outside of the panes.
std::optional<DrawnSprite> Desktop::DrawSilhouette(const Silhouette& silhouette, Edge edge) {
  const Screen& screen = simulation_.screen();
  const double width = screen.DipWidth();
  const double height = screen.DipHeight();
  const Point& place = silhouette.place;
  const double share = IsSide(edge) ? place.y / height : place.x / width;
  const Doorway door = screen.EnterBy(edge, std::clamp(share, 0.0, 1.0));
  const auto pane = std::ranges::find(panes_, door.monitor, &Pane::monitor);
  if (pane == panes_.end()) {
    return std::nullopt;
  }
  const Monitor& monitor = screen.monitors()[door.monitor];
  const double scale = monitor.scale;
  // A sprite above the neighbour's screen is above this one too.
  const double outside =
      (share - std::clamp(share, 0.0, 1.0)) * (IsSide(edge) ? height : width) * scale;
  Sprite sprite;
  sprite.id = silhouette.key;
  sprite.scale = silhouette.scale;
  sprite.facing = silhouette.facing;
  sprite.mode = silhouette.animation;
  sprite.since_ms = static_cast<double>(silhouette.since_ms);
  switch (edge) {
    case Edge::kLeft:
      sprite.x = pane->rect.right + place.x * scale;
      break;
    case Edge::kRight:
      sprite.x = pane->rect.left + (place.x - width) * scale;
      break;
    case Edge::kTop:
      sprite.y = pane->rect.bottom + place.y * scale;
      break;
    case Edge::kBottom:
      sprite.y = pane->rect.top + (place.y - height) * scale;
      break;
  }
  if (IsSide(edge)) {
    // A sprite on the neighbour's floor stands on the floor here, above the task bar.
    sprite.y = std::min(door.point.y + outside, monitor.work.bottom);
  } else {
    sprite.x = door.point.x + outside;
  }
  DrawnSprite drawn = Draw(sprite, sheets_.Find(silhouette.file, ShowsOthers()), monitor,
                           settings_.scale, settings_.whole_pixels, static_cast<double>(now_ms_));
  drawn.is_silhouette = true;
  return InPane(std::move(drawn), *pane);
}

int64_t Desktop::NextPeekingMs() const {
  const bool is_connected = poller_.seat() && poller_.link() == Link::kConnected;
  return is_connected ? std::min({gesture_.NextMs(), peek_.NextDueMs(), stage_posts_.NextDueMs()})
                      : gesture_.NextMs();
}

}  // namespace sprites
