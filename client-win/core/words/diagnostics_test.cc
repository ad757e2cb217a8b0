#include "core/words/diagnostics.h"

#include <doctest/doctest.h>

#include "core/desktop/version.h"
#include "core/text/json.h"

namespace sprites {
namespace {

TEST_CASE("diagnostics › hold no token, invitation, cursor, id, name or world of anybody") {
  Settings settings;
  settings.relay = "http://relay.example:8080";
  settings.name = "Ada-the-user";
  settings.world = "secret-garden";
  settings.beside = "9z8y.ffeeddccbbaa99887766554433221100";
  settings.muted = {{"", "Mallory-the-muted"}};
  settings.hidden = {std::string(64, 'e')};
  Desktop desktop(settings, [] { return 0.5; });
  const Rect all{0, 0, 800, 600};
  desktop.look().SetMonitors(std::vector<Monitor>{{all, all, 1.25, true}});
  const std::string id = "1a2b-3f";
  const std::string base = "http://relay.example:8080/v1/desktops/" + id;
  const Json seat = {{"desktop", id},
                     {"token", id + ".00112233445566778899aabbccddeeff"},
                     {"invitation", "1a2b.0123456789abcdef0123456789abcdef"},
                     {"world", "secret-garden"},
                     {"cursor", "6a1f03c2-0"},
                     {"events", base + "/events"},
                     {"crossings", base + "/crossings"}};
  const Json bob = {{"desktop", "9-3e"}, {"name", "Bob-the-neighbour"}};
  desktop.Tick(0);
  desktop.HandleResponse({desktop.PopOutbox().requests.at(0).id, 201, WriteJson(seat)});
  desktop.Tick(1000);
  const Json neighbours = {{"left", bob}, {"right", bob}, {"top", bob}, {"bottom", bob}};
  desktop.HandleResponse(
      {desktop.PopOutbox().requests.at(0).id, 200, WriteJson({{"neighbours", neighbours}})});
  REQUIRE(desktop.relay().link() == Link::kConnected);
  REQUIRE(!desktop.relay().InvitationLink().empty());

  const std::string text =
      Diagnostics(desktop, {"Windows 10.0.22631", 80 << 20, 120, 61'000, true, true, "7 moves"});
  CAPTURE(text);
  for (const std::string secret :
       {"00112233445566778899aabbccddeeff", "0123456789abcdef", "ffeeddccbbaa", "1a2b", "9z8y",
        "9-3e", "6a1f03c2", "Ada", "secret-garden", "Mallory", "Bob", "eeeeeeee"}) {
    CAPTURE(secret);
    CHECK(text.find(secret) == std::string::npos);
  }
  for (const std::string fact :
       {"Sprites " SPRITES_VERSION_WORDS "\n", "System: Windows 10.0.22631", "Running: 61 s",
        "Memory: 80 MiB", "GDI handles: 120", "Calls: 7 moves", "Portable: yes",
        "Monitor: 800 x 600 at 0,0, 125 %, primary", "Relay: http://relay.example:8080",
        "Link: connected", "World: another one", "Hidden pictures: 1"}) {
    CAPTURE(fact);
    CHECK(text.find(fact) != std::string::npos);
  }
}

}  // namespace
}  // namespace sprites
