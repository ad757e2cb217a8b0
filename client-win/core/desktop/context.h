// What the parts of a desktop share: the settings, the seat, the time, and what the shell is asked.
//
// Only core/desktop uses it. A part reads what it needs, and adds to `outbox` what is to be done.
#ifndef CLIENT_WIN_CORE_DESKTOP_CONTEXT_H_
#define CLIENT_WIN_CORE_DESKTOP_CONTEXT_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/desktop/files/settings.h"
#include "core/desktop/outbox.h"
#include "core/desktop/remarks.h"
#include "core/desktop/toasts.h"
#include "core/motion/simulation.h"
#include "core/relay/open_requests.h"
#include "core/relay/poller.h"
#include "core/relay/request_budget.h"
#include "core/relay/seat_request.h"
#include "core/text/texts.h"

namespace sprites {

constexpr int kUnreachableFailures = 2;  // after so many failures in a row, a bubble says so

// What the person is doing, as the system tells it.
enum class Presence : uint8_t {
  kFree,
  kBusy,        // a full-screen program runs, or the screen is locked: no sounds, no toasts
  kPresenting,  // others look at the screen: the sprites are hidden too
};

// The time of day, in s since 1970; 0 while the shell has not told it. `local_s` is what a clock on
// the wall shows, as if that were the time in Greenwich.
struct WallClock {
  int64_t unix_s = 0;
  int64_t local_s = 0;
};

// The seat at the relay, and who is next door.
struct RelayState {
  Poller poller;
  std::optional<Neighbours> neighbours;
  std::string name;     // that others see; empty until the relay has told it
  std::string refusal;  // the problem code of the last refused join; empty once one was granted
  int unanswered = 0;   // requests of the poller in a row
  CertificateFault certificate = CertificateFault::kNone;  // of the last of them

  Link link() const { return poller.link(); }
  const std::optional<Seat>& seat() const { return poller.seat(); }
  // The seat that sprites are thrown from now; null while it is not connected.
  const Seat* ConnectedSeat() const {
    return poller.seat() && poller.link() == Link::kConnected ? &*poller.seat() : nullptr;
  }
  // The other desktop beyond an edge; null when there is none, or the relay is not connected.
  const Neighbour* NeighbourBeyond(Edge edge) const;
  // Whether this is the desktop itself.
  bool IsSelf(const std::string& desktop) const {
    return poller.seat() && poller.seat()->desktop == desktop;
  }
  // Whether the only neighbour is this desktop itself.
  bool IsAlone() const;
  // Whether the relay has not answered for some time.
  bool IsUnreachable() const { return unanswered >= kUnreachableFailures; }
  // The link that seats a friend beside this desktop; empty while there is none.
  std::string InvitationLink() const;
};

struct Context {
  Settings settings;
  Random random;
  RelayState relay;
  Outbox outbox;
  Toasts toasts;
  Remarks remarks;
  RequestBudget budget;
  RequestId next_request = 1;
  OpenRequests open_requests;
  bool saves_now = false;  // the state to save has changed
  int64_t now_ms = 0;      // the time of the last tick
  WallClock clock;
  Presence presence = Presence::kFree;
  bool is_hidden = false;     // the person wants to see none of it for now
  bool is_paused = false;     // the sprites stand still
  std::vector<bool> covered;  // by index of monitor: a full-screen program covers it
  Language system_language = Language::kEnglish;

  Language language() const;
  std::string Said(Text text, std::initializer_list<std::string_view> values = {}) const {
    return Say(language(), text, values);
  }
  // A text for the person, below a title with these values.
  void ShowNotice(Text title, const std::string& text,
                  std::initializer_list<std::string_view> values = {}) {
    toasts.Add(ToastKind::kNotice, Said(title, values), text, now_ms);
  }
  // Likewise. Title and text have the same values.
  void ShowNotice(Text title, Text text, std::initializer_list<std::string_view> values = {}) {
    ShowNotice(title, Said(text, values), values);
  }
  // Whether nothing is shown on any monitor now: the person wants that, or presents.
  bool HidesAll() const {
    return is_hidden || (settings.quiet && presence == Presence::kPresenting);
  }
  // Whether toasts and sounds are off now, and bubbles: then too, and while the person is busy or a
  // program covers a monitor.
  bool IsQuiet() const;
  bool IsCovered(size_t monitor) const { return monitor < covered.size() && covered[monitor]; }
  // Sends a request whose response means nothing, if there is one.
  void Send(std::optional<Request> request) {
    if (request) {
      request->id = request->id == 0 ? next_request++ : request->id;
      outbox.requests.push_back(std::move(*request));
    }
  }
  // Likewise, but `handle` gets the response, unless what `until` names comes first.
  void Send(std::optional<Request> request, Until until, OpenRequests::Handler handle) {
    if (request) {
      Send(std::move(request));
      open_requests.Add(outbox.requests.back().id, until, std::move(handle));
    }
  }
  // Likewise, with the token of the seat. REQUIRES: there is one.
  void Send(const std::optional<SeatRequest>& asked, Until until, OpenRequests::Handler handle) {
    if (asked) {
      Send(RequestOf(*asked, relay.poller.relay(), *relay.seat()), until, std::move(handle));
    }
  }
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_CONTEXT_H_
