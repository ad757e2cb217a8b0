// Newer versions of this program, which the relay may offer.
#ifndef CLIENT_WIN_CORE_DESKTOP_UPDATES_H_
#define CLIENT_WIN_CORE_DESKTOP_UPDATES_H_

#include <optional>

#include "core/desktop/context.h"
#include "core/relay/release.h"

namespace sprites {

constexpr int64_t kUpdateFirstMs = 60'000;  // from a join to the first question for a newer version
constexpr int64_t kUpdateMs = 86'400'000;   // between two questions for a newer version: a day

class Updates {
 public:
  explicit Updates(Context* context) : context_(*context) {}

  // Whether to ask the relay once a day for a newer version of this program; it does at first.
  void SetAsks(bool asks) { asks_ = asks; }
  // Asks the relay now, because the person wants to know.
  void Check();
  // Downloads newest(). REQUIRES: newest().
  void Fetch();
  // The newest version that the relay offers, if it is later than this one.
  const std::optional<ProgramRelease>& newest() const { return newest_; }

  // -- For the other parts of the desktop.
  void AskIfDue();
  // There is another relay. What the person wants to know is asked of it; a download has failed.
  void ForgetRelay();

 private:
  void HandleRelease(const Response& response);

  Context& context_;
  std::optional<ProgramRelease> newest_;
  bool is_asking_ = false;           // a request is under way
  bool is_fetching_ = false;         // likewise, for the installer
  int64_t due_ms_ = kUpdateFirstMs;  // when the next question is
  bool asks_ = true;
  bool is_asked_ = false;  // by the person
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_UPDATES_H_
