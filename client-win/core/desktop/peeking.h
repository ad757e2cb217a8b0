// Peeking, both ways: what is seen beyond the edge that the person looks over, and the stage of
// this desktop for neighbours who look.
#ifndef CLIENT_WIN_CORE_DESKTOP_PEEKING_H_
#define CLIENT_WIN_CORE_DESKTOP_PEEKING_H_

#include <optional>
#include <vector>

#include "core/desktop/context.h"
#include "core/desktop/guests.h"
#include "core/desktop/silhouettes.h"
#include "core/desktop/sprite_look.h"
#include "core/desktop/traffic.h"
#include "core/relay/stages/peek.h"
#include "core/relay/stages/stage_posts.h"
#include "core/relay/stages/stage_switch.h"
#include "core/scene/pane.h"
#include "core/screen/peek_gesture.h"

namespace sprites {

class Peeking {
 public:
  Peeking(Context* context, Simulation* simulation, SpriteLook* look, const Guests* guests,
          const Traffic* traffic)
      : context_(*context),
        simulation_(*simulation),
        look_(*look),
        guests_(*guests),
        traffic_(*traffic) {}

  // The pointer is here at `now_ms`, before the next tick; call it several times a second.
  // `is_busy`: one of its buttons is down.
  void SetPointer(Point point, bool is_busy, int64_t now_ms);
  // Looks over this edge until the next choice; without an edge, stops looking.
  void PeekOver(std::optional<Edge> edge) { gesture_.Choose(edge); }
  // Allows or forbids neighbours who peek to see the sprites here.
  void ShowStageToNeighbours(bool is_shown);
  // Whether the relay knows peeks, as far as is known.
  bool CanPeek() const;
  // The edge that was chosen with PeekOver.
  std::optional<Edge> chosen() const { return gesture_.chosen(); }
  // The edge that the person looks over now.
  std::optional<Edge> edge() const { return peek_.wanted(); }
  // Whether neighbours who peek see the sprites here.
  bool IsStageShown() const;
  // The edges through which somebody watches this desktop.
  const std::vector<Edge>& watched() const { return stage_posts_.edges(); }

  // -- For the other parts of the desktop.
  std::optional<bool> ChosenStage() const;
  // Looks over the edge of the gesture, if somebody is there.
  void Update();
  void Send(bool is_paused);  // REQUIRES: connected
  void HandleStages(const Batch& batch);
  // The neighbours have changed.
  void AskSoon() { peek_.AskSoon(context_.now_ms); }
  // Another relay may know peeks.
  void ForgetRelay() { peek_ = Peek(); }
  // The seat has ended, so this desktop watches nobody, and nobody watches it.
  void ForgetSeat();
  // Shows nothing of this neighbour.
  void Forget(const Neighbour& neighbour);
  void DrawBeyond(Scene* scene);
  // Whether a silhouette is in the scene: it moves.
  bool IsMoving(const Scene& scene) const { return scene.beyond.size() > panes_.size(); }
  int64_t NextDueMs() const;
  // Whether the last batch had a stage that this desktop asked for.
  bool follows_stage() const { return follows_stage_; }
  void HandlePolled() { follows_stage_ = false; }

 private:
  void HandlePeeked(const Response& response);
  std::optional<DrawnSprite> DrawSilhouette(const Silhouette& silhouette, Edge edge);

  Context& context_;
  Simulation& simulation_;
  SpriteLook& look_;
  const Guests& guests_;
  const Traffic& traffic_;
  PeekGesture gesture_;
  Peek peek_;
  Silhouettes silhouettes_;
  StagePosts stage_posts_;
  StageSwitch stage_switch_;
  std::vector<Pane> panes_;  // along the edge that was last looked over
  bool follows_stage_ = false;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_PEEKING_H_
