#include "core/desktop/updates.h"

#include <utility>

#include "core/desktop/version.h"

namespace sprites {

void Updates::Check() {
  is_asked_ = true;
  due_ms_ = 0;
}

void Updates::Fetch() {
  if (std::exchange(is_fetching_, true)) {
    return;
  }
  const auto handle = [this, release = *newest_](const Response& response) {
    is_fetching_ = false;
    const bool is_right = response.status == 200 && IsInstallerOf(release, response.body);
    context_.outbox.installer = is_right ? response.body : "";
  };
  context_.Send(InstallerRequest(context_.settings.relay, *newest_), Until::kRelayChanges, handle);
}

void Updates::HandleRelease(const Response& response) {
  is_asking_ = false;
  const auto release = response.status == 200 ? ReadRelease(response.body) : std::nullopt;
  newest_ = release && IsLater(release->version, SPRITES_VERSION) ? release : std::nullopt;
  context_.outbox.update =
      UpdateNews{std::exchange(is_asked_, false), release.has_value(), newest_.has_value()};
}

void Updates::AskIfDue() {
  const bool is_due = (asks_ || is_asked_) && !is_asking_ && context_.now_ms >= due_ms_;
  if (is_due && context_.relay.ConnectedSeat() != nullptr) {
    is_asking_ = true;
    due_ms_ = context_.now_ms + kUpdateMs;
    context_.Send(ReleaseRequest(context_.settings.relay), Until::kRelayChanges,
                  [this](const Response& response) { HandleRelease(response); });
  }
}

void Updates::ForgetRelay() {
  context_.open_requests.End(Until::kRelayChanges);
  newest_.reset();
  is_asking_ = false;
  if (std::exchange(is_fetching_, false)) {
    context_.outbox.installer = "";
  }
  due_ms_ = is_asked_ ? 0 : context_.now_ms + kUpdateFirstMs;
}

}  // namespace sprites
