// A desktop for tests, and a relay that the test plays.
#ifndef CLIENT_WIN_TEST_CORE_TEST_DESKTOP_H_
#define CLIENT_WIN_TEST_CORE_TEST_DESKTOP_H_

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/text/json.h"
#include "test/core/test_relay.h"
#include "test/core/test_spr.h"

namespace sprites {

inline const Json kBob = {{"desktop", "9-3e"}, {"name", "Bob"}};
inline const Json kMe = {{"desktop", "1-1"}, {"name", "Ann"}};

// A sprite that comes in over the left edge.
inline Json Arriving(int seq, const std::string& file, const Json& from = kBob) {
  return {{"type", "sprite"}, {"seq", seq},
          {"from", from},     {"edge", "left"},
          {"at", 0.5},        {"vx", 300},
          {"vy", 0},          {"sprite", {{"file", file}, {"name", "Guest"}, {"scale", 2}}}};
}

// A desktop of 800 × 600 whose floor is at 560, with one picture on its shelf. Bob is at its left
// and its right.
struct TestDesktop {
  explicit TestDesktop(const Settings& settings = Given(), const std::string& saved = "",
                       bool may_reuse_seat = true)
      : desktop(settings, kHalf), sheet(ReadSheet(TestSpr(0))), saved(saved) {
    const Rect all{0, 0, 800, 600};
    desktop.look().SetMonitors(std::vector<Monitor>{{all, {0, 0, 800, 560}, 1, true}});
    desktop.look().AddToShelf(sheet);
    desktop.Restore(saved, may_reuse_seat);
  }

  static Settings Given() {
    Settings settings = Lively();
    settings.calm = true;
    return settings;
  }
  // Likewise, with sprites that do something by themselves.
  static Settings Lively() {
    Settings settings;
    settings.relay = kRelay;
    return settings;
  }

  SpriteId DropInOwn() { return desktop.sprites().DropIn(sheet->file, Point{400, 560}); }

  // Lets time pass with the pointer where it is, and collects what the outbox holds.
  const Scene& Pass(int64_t ms) {
    const Scene* scene = nullptr;
    for (const int64_t end = now + ms; now < end;) {
      now = std::min(end, now + 10);
      if (pointer) {
        desktop.peeking().SetPointer(*pointer, false, now);
      }
      scene = &desktop.Tick(now);
      Outbox outbox = desktop.PopOutbox();
      if (!outbox.saved_state.empty()) {
        saved = outbox.saved_state;
        saves++;
      }
      settings_saved = settings_saved || outbox.settings_changed;
      toasts.insert(toasts.end(), outbox.toasts.begin(), outbox.toasts.end());
      sounds.insert(sounds.end(), outbox.sounds.begin(), outbox.sounds.end());
      cancelled.insert(cancelled.end(), outbox.cancelled.begin(), outbox.cancelled.end());
      for (Request& request : outbox.requests) {
        saved_before_request = saved;
        requests.push_back(std::move(request));
      }
    }
    return *scene;
  }

  // Whether there is a request to an address that contains this.
  bool Has(const std::string& part, Method method) const {
    return std::ranges::any_of(requests, [&](const Request& request) {
      return request.method == method && request.url.find(part) != std::string::npos;
    });
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

  void Respond(const Request& request, int status, const Json& body = nullptr) {
    desktop.HandleResponse({request.id, status, body.is_null() ? "" : WriteJson(body)});
  }

  // Grants a seat with this id; `more` is added to the response. Returns the body of the join.
  Json Grant(const std::string& id = "1-1", const Json& more = Json::object()) {
    const std::string base = std::string(kRelay) + "/v1/desktops/" + id;
    Json seat = {{"desktop", id},
                 {"token", id + ".00"},
                 {"invitation", "1a2b.0123456789abcdef0123456789abcdef"},
                 {"world", "garden"},
                 {"cursor", Cursor()},
                 {"events", base + "/events"},
                 {"crossings", base + "/crossings"}};
    seat.update(more);
    const Request join = Pop("/v1/desktops", Method::kPost);
    Respond(join, 201, seat);
    return Json::parse(join.body);
  }

  // Likewise, and tells who the neighbours are.
  Json Join(const std::string& id = "1-1", const Json& more = Json::object()) {
    const Json join = Grant(id, more);
    MeetNeighbours(id, more.value("name", ""));
    return join;
  }

  void MeetNeighbours(const std::string& id = "1-1", const std::string& name = "") {
    Respond(Pop("/v1/desktops/" + id, Method::kGet), 200,
            {{"name", name},
             {"neighbours", {{"left", kBob}, {"right", kBob}, {"top", kMe}, {"bottom", kMe}}}});
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
  std::vector<Sound> sounds;
  std::vector<RequestId> cancelled;
  bool settings_saved = false;
  std::string saved;
  std::string saved_before_request;
  int saves = 0;
  int64_t now = 0;
  int seq = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_TEST_CORE_TEST_DESKTOP_H_
