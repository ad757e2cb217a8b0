// A desktop for tests, and a relay that the test plays.
#ifndef CLIENT_WIN_CORE_DESKTOP_TEST_DESKTOP_H_
#define CLIENT_WIN_CORE_DESKTOP_TEST_DESKTOP_H_

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/picture/test_spr.h"
#include "core/text/json.h"

namespace sprites {

inline const Json kBob = {{"desktop", "9-3e"}, {"name", "Bob"}};
inline const Json kMe = {{"desktop", "1-1"}, {"name", "Ann"}};

// A desktop of 800 × 600 with one picture on its shelf, and Bob at the left and the right.
struct TestDesktop {
  explicit TestDesktop(const Settings& settings, const std::string& saved = "")
      : desktop(settings, [] { return 0.5; }), sheet(ReadSheet(TestSpr(0))), saved(saved) {
    const Rect all{0, 0, 800, 600};
    desktop.SetMonitors(std::vector<Monitor>{{all, {0, 0, 800, 560}, 1, true}});
    desktop.AddToShelf(sheet);
    desktop.Restore(saved, true);
  }

  static Settings Given() {
    Settings settings;
    settings.relay = "http://relay.example:8080";
    settings.calm = true;
    return settings;
  }

  // Lets time pass with the pointer where it is, and collects what the outbox holds.
  const Scene& Pass(int64_t ms) {
    const Scene* scene = nullptr;
    for (const int64_t end = now + ms; now < end;) {
      now = std::min(end, now + 10);
      if (pointer) {
        desktop.SetPointer(*pointer, false, now);
      }
      scene = &desktop.Tick(now);
      Outbox outbox = desktop.PopOutbox();
      if (!outbox.saved_state.empty()) {
        saved = outbox.saved_state;
        saves++;
      }
      toasts.insert(toasts.end(), outbox.toasts.begin(), outbox.toasts.end());
      for (Request& request : outbox.requests) {
        saved_before_request = saved;
        requests.push_back(std::move(request));
      }
    }
    return *scene;
  }

  // The oldest request to an address that ends with this.
  std::optional<Request> Find(const std::string& part, Method method) {
    const auto found = std::ranges::find_if(requests, [&](const Request& request) {
      return request.method == method && request.url.ends_with(part);
    });
    if (found == requests.end()) {
      return std::nullopt;
    }
    Request request = std::move(*found);
    requests.erase(found);
    return request;
  }

  // Likewise, and waits for it; the test fails when none comes.
  Request Pop(const std::string& part, Method method) {
    for (int i = 0; i < 3000; i++) {
      if (auto request = Find(part, method)) {
        return *request;
      }
      Pass(10);
    }
    FAIL("no request ", part);
    return {};
  }

  void Respond(const Request& request, int status, const Json& body) {
    desktop.HandleResponse({request.id, status, body.is_null() ? "" : WriteJson(body)});
  }

  // Grants a seat. `stage`: what it says about the stage; nothing for a relay without peeks.
  // Returns the body of the join.
  Json Join(std::optional<bool> stage = std::nullopt) {
    const std::string base = TestDesktop::Given().relay + "/v1/desktops/1-1";
    Json seat = {{"desktop", "1-1"},           {"token", "1-1.00"},
                 {"world", "garden"},          {"cursor", Cursor()},
                 {"events", base + "/events"}, {"crossings", base + "/crossings"}};
    if (stage) {
      seat["stage"] = *stage;
    }
    const Request join = Pop("/v1/desktops", Method::kPost);
    Respond(join, 201, seat);
    MeetNeighbours();
    return Json::parse(join.body);
  }

  void MeetNeighbours() {
    Respond(Pop("/v1/desktops/1-1", Method::kGet), 200,
            {{"neighbours", {{"left", kBob}, {"right", kBob}, {"top", kMe}, {"bottom", kMe}}}});
    Pass(10);
  }

  Request PopPoll() { return Pop("events?cursor=" + Cursor(), Method::kGet); }

  // Events that move the cursor on.
  void Receive(const std::vector<Json>& events) {
    const Request poll = PopPoll();
    seq++;
    Respond(poll, 200, {{"cursor", Cursor()}, {"events", events}});
  }

  // Events that leave the cursor where it is.
  void ReceiveMomentary(const std::vector<Json>& events) {
    Respond(PopPoll(), 200, {{"cursor", Cursor()}, {"events", events}});
  }

  void EndSeat() { Respond(PopPoll(), 410, {{"code", "desktop-ended"}}); }

  std::string Cursor() const { return "6a1f03c2-" + std::to_string(seq); }

  Desktop desktop;
  SheetPointer sheet;
  std::optional<Point> pointer;
  std::deque<Request> requests;
  std::vector<Toast> toasts;
  std::string saved;
  std::string saved_before_request;
  int saves = 0;
  int64_t now = 0;
  int seq = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_TEST_DESKTOP_H_
