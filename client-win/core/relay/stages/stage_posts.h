// Posts the stage of this desktop while neighbours watch it, and not otherwise.
//
// Invariant: at most one post is unanswered, and at most one is sent in kStagePostMs, whatever the
// relay says; the request budget does not count them. A stage has at most one picture that the
// relay is not known to carry, so that a refusal names the picture. Cost: O(sprites) a post.
#ifndef CLIENT_WIN_CORE_RELAY_STAGES_STAGE_POSTS_H_
#define CLIENT_WIN_CORE_RELAY_STAGES_STAGE_POSTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/relay/batch.h"
#include "core/relay/seat_request.h"
#include "core/relay/stages/stage.h"
#include "wire/rules.h"

namespace sprites {

constexpr int64_t kStagePostMs = 1000 / rules::kStagesPerSecondMax;  // between two posts
constexpr int64_t kStageAliveMs =
    rules::kStageRefreshMs;               // until an unchanged stage is posted: the sign of life
constexpr int64_t kStageRetryMs = 1'000;  // until the next post after a refused or lost one
constexpr size_t kStageFilesKnownMax = 1'024;  // files remembered of each kind, then all forgotten

class StagePosts {
 public:
  // Handles a `watched` event: the stage is posted at once, and then whenever it changes.
  void Watch(std::vector<Edge> edges);
  // There is another seat, or none. Nobody watches it yet.
  void Restart() { *this = StagePosts(); }

  // Whether DueRequest may return something now.
  bool IsDue(int64_t now_ms) const;
  // The request to send now, if the stage that `look` returns differs from what a watcher predicts.
  // `look` receives a predicate: whether a file may be shown.
  using Look = std::function<Stage(const std::function<bool(const std::string&)>& is_shown)>;
  // `is_at_relay`: whether the relay is known to carry a file.
  std::optional<SeatRequest> DueRequest(int64_t now_ms, const Look& look,
                                        const std::function<bool(const std::string&)>& is_at_relay);
  // Handles the response to the request under way.
  void HandleResponse(const Response& response, int64_t now_ms);

  // The edges through which somebody watches.
  const std::vector<Edge>& edges() const { return edges_; }
  // When DueRequest next returns something if no sprite moves; the largest value for never.
  int64_t NextDueMs() const;

 private:
  struct Posted {
    Stage stage;
    int64_t ms = 0;
  };
  bool HandleRefusal(const Problem& problem, const std::vector<std::string>& files);

  std::vector<Edge> edges_;
  std::optional<Posted> posted_;    // what the watchers have; nothing when that is not known
  std::vector<std::string> files_;  // of the request under way
  bool is_asking_ = false;          // a request is under way
  int64_t not_before_ms_ = 0;
  bool is_event_newer_ = false;  // a `watched` event came after the request was sent
  std::unordered_set<std::string> carried_;
  std::unordered_set<std::string> refused_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_STAGES_STAGE_POSTS_H_
