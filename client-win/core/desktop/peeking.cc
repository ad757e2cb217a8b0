#include "core/desktop/peeking.h"

#include <algorithm>
#include <utility>

#include "core/relay/problem_texts.h"

namespace sprites {

namespace {

constexpr SpriteId kFirstPane = 0xFFFF'FF00;  // ids of the panes; silhouettes count from 1

}  // namespace

void Peeking::SetPointer(Point point, bool is_busy, int64_t now_ms) {
  if (!context_.settings.peek_at_edges || context_.IsQuiet()) {
    gesture_.Leave(now_ms);
  } else {
    gesture_.SetPointer(point, simulation_.screen(), is_busy, now_ms);
  }
}

void Peeking::ShowStageToNeighbours(bool is_shown) {
  context_.settings.show_stage = is_shown ? ShowStage::kShow : ShowStage::kHide;
  stage_switch_.AskNow();
  context_.outbox.settings_changed = true;
}

bool Peeking::CanPeek() const {
  return context_.relay.seat() && context_.relay.seat()->stage && !peek_.is_unsupported();
}

bool Peeking::IsStageShown() const {
  return context_.relay.seat() && context_.relay.seat()->stage == true;
}

std::optional<bool> Peeking::ChosenStage() const {
  return context_.settings.show_stage == ShowStage::kAsWorld
             ? std::nullopt
             : std::optional(context_.settings.show_stage == ShowStage::kShow);
}

// Looks over the edge of the gesture, if somebody is there.
void Peeking::Update() {
  if (simulation_.held() != kNobody || context_.HidesAll() || !CanPeek()) {
    gesture_.Stop();
  }
  std::optional<Edge> edge = gesture_.EdgeAt(context_.now_ms);
  if (edge && context_.relay.NeighbourBeyond(*edge) == nullptr) {
    edge.reset();
  }
  peek_.Look(edge);
  if (!edge) {
    silhouettes_.Clear();
  }
}

void Peeking::Send(bool is_paused) {
  context_.Send(stage_switch_.DueRequest(context_.relay.seat()->stage, ChosenStage(),
                                         context_.now_ms, &context_.budget),
                Until::kSeatEnds, [this](const Response& response) {
                  if (const auto shown =
                          stage_switch_.HandleResponse(response, context_.now_ms, context_.random);
                      shown && context_.relay.seat()) {
                    context_.relay.poller.SetStage(*shown);
                    context_.saves_now = true;
                  }
                });
  context_.Send(peek_.DueRequest(context_.now_ms), Until::kSeatEnds,
                [this](const Response& response) { HandlePeeked(response); });
  const auto look = [&](const std::function<bool(const std::string&)>& is_shown) {
    return StageOf(simulation_, stage_posts_.edges(), is_shown, is_paused);
  };
  const auto is_at_relay = [this](const std::string& file) { return traffic_.IsAtRelay(file); };
  context_.Send(
      stage_posts_.DueRequest(context_.now_ms, look, is_at_relay), Until::kSeatEnds,
      [this](const Response& response) { stage_posts_.HandleResponse(response, context_.now_ms); });
}

void Peeking::HandleStages(const Batch& batch) {
  follows_stage_ = false;
  for (const StageEvent& event : batch.stages) {
    if (event.edge != peek_.wanted()) {
      continue;
    }
    follows_stage_ = true;
    if (event.from && guests_.IsMuted(*event.from)) {
      silhouettes_.Clear();
      continue;
    }
    silhouettes_.Receive(event, context_.now_ms);
    if (!event.from) {
      peek_.AskSoon(context_.now_ms);
    }
  }
  if (batch.watched) {
    stage_posts_.Watch(*batch.watched);
  }
}

void Peeking::HandlePeeked(const Response& response) {
  const auto refusal = peek_.HandleResponse(response, context_.now_ms);
  if (!refusal) {
    return;
  }
  if (silhouettes_.edge() == refusal->edge) {
    silhouettes_.Clear();
  }
  // A pointer may rest at an edge for another reason, so a refusal is shown only after a choice.
  if (gesture_.chosen() == refusal->edge) {
    gesture_.Choose(std::nullopt);
    const Neighbour* neighbour = context_.relay.NeighbourBeyond(refusal->edge);
    const std::string name = neighbour == nullptr ? "" : neighbour->DisplayName();
    context_.ShowNotice(Text::kToastPeekNothing,
                        refusal->problem.code == codes::kStageHidden
                            ? context_.Said(Text::kToastPeekHidden, {name})
                            : SayProblem(context_.language(), refusal->problem));
  }
}

void Peeking::Forget(const Neighbour& neighbour) {
  if (silhouettes_.from() && Mutes(neighbour, *silhouettes_.from())) {
    silhouettes_.Clear();
  }
}

// The seat has ended, so this desktop watches nobody, and nobody watches it.
void Peeking::ForgetSeat() {
  peek_.Restart();
  silhouettes_.Clear();
  stage_posts_.Restart();
  stage_switch_.Restart();
  follows_stage_ = false;
}

void Peeking::DrawBeyond(Scene* scene) {
  scene->beyond.clear();
  const std::optional<Edge> edge = peek_.wanted();
  const Screen& screen = simulation_.screen();
  const auto silhouettes = silhouettes_.At(
      context_.now_ms,
      {static_cast<double>(screen.DipWidth()), static_cast<double>(screen.DipHeight())});
  if (!edge || silhouettes_.edge() != edge) {
    panes_.clear();
    return;
  }
  std::vector<Pane> panes = PanesAlong(*edge, screen);
  std::erase_if(panes, [this](const Pane& pane) {
    return context_.settings.hide_in_full_screen && context_.IsCovered(pane.monitor);
  });
  if (!IsSamePlace(panes, panes_)) {
    panes_ = std::move(panes);
  }
  for (size_t i = 0; i < panes_.size(); i++) {
    scene->beyond.push_back(Draw(panes_[i], kFirstPane + static_cast<SpriteId>(i)));
  }
  for (const Silhouette& silhouette : silhouettes) {
    if (auto drawn = DrawSilhouette(silhouette, *edge)) {
      scene->beyond.push_back(std::move(*drawn));
    }
  }
}

// Nothing when it is outside of the panes.
std::optional<DrawnSprite> Peeking::DrawSilhouette(const Silhouette& silhouette, Edge edge) {
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
  const double side = pane->rect.*SideAt(Opposite(edge));  // of the line
  if (IsSide(edge)) {
    sprite.x = side + (IsFar(edge) ? place.x - width : place.x) * scale;
    // A sprite on the neighbour's floor stands on the floor here, above the task bar.
    sprite.y = std::min(door.point.y + outside, monitor.work.bottom);
  } else {
    sprite.x = door.point.x + outside;
    sprite.y = side + (IsFar(edge) ? place.y - height : place.y) * scale;
  }
  DrawnSprite drawn = Draw(sprite, look_.SheetOf(silhouette.file), monitor, context_.settings.scale,
                           context_.settings.whole_pixels, static_cast<double>(context_.now_ms));
  drawn.is_silhouette = true;
  return InPane(std::move(drawn), *pane);
}

int64_t Peeking::NextDueMs() const {
  const bool is_connected = context_.relay.ConnectedSeat() != nullptr;
  return is_connected ? std::min({gesture_.NextMs(), peek_.NextDueMs(), stage_posts_.NextDueMs()})
                      : gesture_.NextMs();
}

}  // namespace sprites
