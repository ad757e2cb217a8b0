#include "core/relay/stages/stage_posts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/relay/crossings/edges.h"
#include "core/text/json.h"

namespace sprites {

namespace {

void Remember(std::unordered_set<std::string>* files, const std::string& file) {
  if (files->size() >= kStageFilesKnownMax) {
    files->clear();
  }
  files->insert(file);
}

}  // namespace

void StagePosts::Watch(std::vector<Edge> edges) {
  edges_ = std::move(edges);
  posted_.reset();
  is_event_newer_ = true;
}

bool StagePosts::IsDue(int64_t now_ms) const {
  return !edges_.empty() && !is_asking_ && now_ms >= not_before_ms_;
}

std::optional<SeatRequest> StagePosts::DueRequest(
    int64_t now_ms, const Look& look, const std::function<bool(const std::string&)>& is_at_relay) {
  if (!IsDue(now_ms)) {
    return std::nullopt;
  }
  std::string unknown;
  const auto is_shown = [&](const std::string& file) {
    if (carried_.contains(file) || is_at_relay(file)) {
      return true;
    }
    if (refused_.contains(file) || (!unknown.empty() && file != unknown)) {
      return false;
    }
    unknown = file;
    return true;
  };
  Stage stage = look(is_shown);
  if (posted_) {
    const int64_t passed_ms = now_ms - posted_->ms;
    if (passed_ms < kStageAliveMs &&
        !IsNews(posted_->stage, static_cast<double>(passed_ms), stage)) {
      return std::nullopt;
    }
  }
  is_event_newer_ = false;
  not_before_ms_ = now_ms + kStagePostMs;
  files_ = stage.files;
  is_asking_ = true;
  posted_ = {std::move(stage), now_ms};
  return SeatRequest{Method::kPost, "/stage", StageJson(posted_->stage)};
}

void StagePosts::HandleResponse(const Response& response, int64_t now_ms) {
  is_asking_ = false;
  const std::vector<std::string> files = std::exchange(files_, {});
  if (const auto edges = EdgesNamed(MemberOf(AcceptedBody(response), "edges"))) {
    for (const std::string& file : files) {
      Remember(&carried_, file);
    }
    // An event that came before this answer may be newer than the answer.
    if (edges->empty() && !is_event_newer_) {
      edges_.clear();
    }
    return;
  }
  posted_.reset();
  not_before_ms_ = now_ms + kStageRetryMs;
  if (!HandleRefusal(ReadProblem(response), files)) {
    edges_.clear();
  }
}

// Returns whether to go on posting.
bool StagePosts::HandleRefusal(const Problem& problem, const std::vector<std::string>& files) {
  if (problem.code == codes::kPictureRefused) {
    // If all pictures were known, the relay has lost one of them, so each is tried again.
    const bool has_unknown = std::ranges::any_of(
        files, [this](const std::string& file) { return !carried_.contains(file); });
    for (const std::string& file : files) {
      if (has_unknown && !carried_.contains(file)) {
        Remember(&refused_, file);
      } else if (!has_unknown) {
        carried_.erase(file);
      }
    }
    return true;
  }
  return problem.code == codes::kTooFast || problem.code == codes::kRelayBusy ||
         !IsDecision(problem);
}

int64_t StagePosts::NextDueMs() const {
  if (edges_.empty() || is_asking_) {
    return std::numeric_limits<int64_t>::max();
  }
  return posted_ ? std::max(not_before_ms_, posted_->ms + kStageAliveMs) : not_before_ms_;
}

}  // namespace sprites
