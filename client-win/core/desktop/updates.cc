#include "core/desktop/updates.h"

#include <utility>

#include "core/desktop/version.h"

namespace sprites {

void Updates::Check() {
  is_asked_ = true;
  due_ms_ = 0;
}

void Updates::Fetch() {
  installer_request_ = context_.next_request++;
  context_.Send(InstallerRequest(context_.settings.relay, *newest_, installer_request_));
}

bool Updates::HandleResponse(const Response& response) {
  if (response.id != 0 && response.id == installer_request_) {
    installer_request_ = 0;
    const bool is_right =
        response.status == 200 && newest_ && IsInstallerOf(*newest_, response.body);
    context_.outbox.installer = is_right ? response.body : "";
    return true;
  }
  if (response.id == 0 || response.id != release_request_) {
    return false;
  }
  release_request_ = 0;
  const auto release = response.status == 200 ? ReadRelease(response.body) : std::nullopt;
  newest_ = release && IsLater(release->version, SPRITES_VERSION) ? release : std::nullopt;
  context_.outbox.update =
      UpdateNews{std::exchange(is_asked_, false), release.has_value(), newest_.has_value()};
  return true;
}

void Updates::AskIfDue() {
  const bool is_due = (asks_ || is_asked_) && release_request_ == 0 && context_.now_ms >= due_ms_;
  if (is_due && context_.relay.ConnectedSeat() != nullptr) {
    release_request_ = context_.next_request++;
    due_ms_ = context_.now_ms + kUpdateMs;
    context_.Send(ReleaseRequest(context_.settings.relay, release_request_));
  }
}

void Updates::Forget() {
  newest_.reset();
  due_ms_ = context_.now_ms + kUpdateFirstMs;
}

}  // namespace sprites
