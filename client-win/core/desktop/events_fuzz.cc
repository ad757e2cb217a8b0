// libFuzzer target: whatever a relay responds, a desktop keeps running within its limits. The input
// is split at line breaks. Each line is the response to the oldest request; its first byte gives
// the status. A line that begins with > is what the person says; one with < looks over an edge.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <string_view>

#include "core/desktop/desktop.h"
#include "core/picture/picture.h"
#include "core/text/json.h"

namespace {

void Require(bool condition) {
  if (!condition) {
    abort();
  }
}

constexpr int kStatuses[] = {200, 201, 202, 204, 400, 401, 404, 409, 410, 429, 500, 503, 0};

// How many sprites were restored: the person's own file may hold more than the limits.
struct Restored {
  size_t sprites;
  size_t leaving;
};

void CheckLimits(const sprites::Desktop& desktop, const Restored& restored) {
  const size_t most =
      std::max(restored.sprites, static_cast<size_t>(desktop.settings().sprite_limit));
  Require(desktop.simulation().sprites().size() <= most + restored.leaving);
  Require(desktop.traffic().waiting() <= sprites::kWaitingMax);
  Require(desktop.traffic().on_the_way() <= sprites::kDeparturesMax + restored.leaving);
  for (const sprites::Sprite& sprite : desktop.simulation().sprites()) {
    Require(std::isfinite(sprite.x) && std::isfinite(sprite.y));
    Require(sprite.name.size() <= sprites::kNameBytesMax);
  }
  const sprites::Conversation& conversation = desktop.talk().conversation();
  Require(conversation.bubbles().size() <= sprites::kBubblesMax);
  Require(conversation.history().size() <= sprites::kHistoryMax);
  for (const sprites::HeardLine& line : conversation.history()) {
    Require(line.saying.text.size() <= sprites::kSayingBytesMax);
    Require((line.missed > 0) == line.saying.text.empty());
  }
  Require(desktop.talk().speech().note.size() <= 400 &&
          desktop.talk().speech().unsaid.size() <= 8192);
}

// What is seen beyond an edge is within its limits.
void CheckBeyond(const sprites::Desktop& desktop, const sprites::Scene& scene) {
  Require(scene.beyond.size() <= sprites::kStageSpritesMax + sprites::kMonitorsMax);
  Require(scene.beyond.empty() || desktop.peeking().edge());
  for (const sprites::DrawnSprite& drawn : scene.beyond) {
    const sprites::Crop shown = drawn.Shown();
    Require(drawn.id != sprites::kNobody && drawn.sheet != nullptr);
    Require(shown.x >= 0 && shown.y >= 0 && shown.width > 0 && shown.height > 0);
    Require(shown.x + shown.width <= drawn.width && shown.y + shown.height <= drawn.height);
  }
}

// Each bubble that has a place is inside its room, as large as the room lets it.
void CheckPlaces(const sprites::Scene& scene) {
  std::vector<sprites::PlacedBubble> bubbles;
  for (const sprites::DrawnBubble& drawn : scene.bubbles) {
    Require(drawn.id != 0 && !drawn.text.empty());
    bubbles.push_back({drawn.post, {200, 20.0 + static_cast<double>(drawn.text.size())}});
  }
  for (const auto& place : sprites::PlaceBubbles(bubbles, scene.obstacles)) {
    Require(!place || (std::isfinite(place->box.left) && std::isfinite(place->box.top)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  sprites::ReadSettings(text);
  sprites::ReadSeat(text, "http://relay.example");
  sprites::Settings settings;
  settings.sprite_limit = 8;
  settings.muted = {{"", "M"}};
  sprites::Desktop desktop(settings, [] { return 0.5; });
  desktop.Restore(text, true);
  const Restored restored{desktop.simulation().sprites().size(), desktop.traffic().on_the_way()};
  std::deque<sprites::RequestId> asked;
  int64_t now = 0;
  for (int turn = 0; turn < 64 && !text.empty(); turn++) {
    now += 5000;
    const sprites::Scene& scene = desktop.Tick(now);
    for (const sprites::DrawnSprite& drawn : scene.sprites) {
      Require(drawn.sheet != nullptr && drawn.width > 0 && drawn.height > 0);
    }
    CheckPlaces(scene);
    CheckBeyond(desktop, scene);
    const sprites::Outbox outbox = desktop.PopOutbox();
    Require(outbox.saved_state.size() <= sprites::kSavedBytesMax);
    for (const sprites::Request& request : outbox.requests) {
      Require(request.id != 0 && request.url.starts_with("http://localhost:"));
      Require(request.url.find('\n') == std::string::npos && request.url.size() < 2048);
      Require(request.token.find('\n') == std::string::npos);
      const bool is_stage =
          request.method == sprites::Method::kPost && request.url.ends_with("/stage");
      Require(!is_stage || request.body.size() <= sprites::kStageBytesMax);
      asked.push_back(request.id);
    }
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('>')) {
      desktop.talk().Speak(std::string(line.substr(1)));
      continue;
    }
    if (line.starts_with('<')) {
      desktop.peeking().PeekOver(static_cast<sprites::Edge>(line.size() % 4));
      continue;
    }
    if (asked.empty() || line.empty()) {
      continue;
    }
    const int status = kStatuses[static_cast<uint8_t>(line[0]) % std::size(kStatuses)];
    desktop.HandleResponse({asked.front(), status, std::string(line.substr(1))});
    asked.pop_front();
    CheckLimits(desktop, restored);
  }
  desktop.Leave();
  return 0;
}
