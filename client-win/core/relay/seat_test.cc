#include "core/relay/seat.h"

#include <doctest/doctest.h>

#include "core/text/json.h"
#include "test/core/test_relay.h"

namespace sprites {
namespace {

TEST_CASE("seat › has URLs on the relay's host or a subdomain, and keeps TLS") {
  struct Case {
    const char* relay;
    const char* address;
    bool taken;
  };
  for (const Case& one : {
           Case{"http://relay.example", "http://relay.example:8081/e", true},
           Case{"http://relay.example", "https://relay.example/e", true},
           Case{"https://relay.example", "https://events.relay.example/e", true},
           Case{"https://relay.example", "http://relay.example/e", false},
           Case{"http://relay.example", "http://192.168.0.1/e", false},
           Case{"http://relay.example", "http://evilrelay.example/e", false},
           Case{"http://relay.example", "http://relay.example@evil.example/e", false},
           Case{"http://relay.example", "http://relay.example.evil.example/e", false},
           Case{"http://relay.example", "http://evil.example\\relay.example/e", false},
           Case{"http://relay.example", "file:///etc/passwd", false},
           Case{"http://relay.example", "http://relay.example/a b", false},
           Case{"http://[::1]:8080", "http://[::1]:8081/e", true},
           Case{"http://Relay.Example", "http://relay.example:8081/e", true},
           Case{"http://relay.example", "HTTP://RELAY.EXAMPLE:8081/e", true},
           Case{"HTTPS://relay.example", "http://relay.example/e", false},
           Case{"http://[::1]:8080", "http://[::2]:8081/e", false},
       }) {
    CAPTURE(one.address);
    CHECK(ReadSeat(SeatText({{"events", one.address}, {"crossings", one.address}}), one.relay)
              .has_value() == one.taken);
  }
}

TEST_CASE("seat › has the origins of its URLs in lower case") {
  const auto seat = ReadSeat(SeatText({{"events", "HTTP://Relay.Example:8081/v1/Events"}}), kRelay);
  REQUIRE(seat);
  CHECK(seat->events == "http://relay.example:8081/v1/Events");
}

TEST_CASE("seat › is rejected when a field is missing, too long, or unsafe in a header") {
  CHECK(ReadSeat(SeatText(), kRelay));
  CHECK(SeatJson(*ReadSeat(SeatJson(*ReadSeat(SeatText(), kRelay)), kRelay)) ==
        SeatJson(*ReadSeat(SeatText(), kRelay)));
  for (const char* part : {"desktop", "token", "cursor", "events", "crossings"}) {
    CAPTURE(part);
    CHECK(!ReadSeat(SeatText({{part, 7}}), kRelay));
    CHECK(!ReadSeat(SeatText({{part, ""}}), kRelay));
    CHECK(!ReadSeat(SeatText({{part, "a\r\nX: y"}}), kRelay));
    CHECK(!ReadSeat(SeatText({{part, std::string(kUrlBytesMax + 1, 'a')}}), kRelay));
  }
}

TEST_CASE("seat › has the times that the relay grants, within the limits of the vectors") {
  for (const Json& one : RelayVectors()["times"]) {
    CAPTURE(one["name"].get<std::string>());
    Json said = Json::parse(SeatText());
    said.erase("pingSeconds");
    said.erase("leaseSeconds");
    said.update(one["said"]);
    const auto seat = ReadSeat(WriteJson(said), kRelay);
    REQUIRE(seat);
    // Without an expected time, it is that of the rules.
    CHECK(SilenceMs(*seat) == one.value("silenceMs", SilenceMs(Seat{})));
    CHECK(PauseMsMax(*seat) == one.value("pauseMsMax", rules::kReconnectMsMax));
  }
}

TEST_CASE("seat › says whether neighbours may peek, if the relay knows peeks") {
  CHECK(!ReadSeat(SeatText(), kRelay)->stage);
  for (const bool stage : {true, false}) {
    const auto seat = ReadSeat(SeatText({{"stage", stage}}), kRelay);
    REQUIRE(seat);
    CHECK(seat->stage == stage);
    CHECK(ReadSeat(SeatJson(*seat), kRelay)->stage == stage);
  }
  CHECK(!ReadSeat(SeatText({{"stage", "yes"}}), kRelay)->stage);
}

}  // namespace
}  // namespace sprites
