#include "account/flight.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "net/json_reader.h"

namespace swarm {
namespace {

SpriteTag TagOf(uint64_t number, Edge edge) {
  SpriteTag tag;
  tag.number = number;
  tag.edge = edge;
  return tag;
}

std::string Written(const Flight& flight) {
  std::string text = "{";
  flight.AppendMotion(text);
  text += ",";
  flight.AppendPicture(text);
  return text + "}";
}

ReceivedFlight Read(const std::string& text) {
  ReceivedFlight flight;
  JsonReader json(text);
  std::string_view key;
  REQUIRE(json.EnterObject());
  while (json.NextMember(&key)) {
    if (key == "at") {
      json.Number(&flight.at);
    } else if (key == "vx") {
      json.Number(&flight.vx);
    } else if (key == "vy") {
      json.Number(&flight.vy);
    } else if (key == "scale") {
      json.Number(&flight.scale);
    } else if (key == "file") {
      json.String(&flight.file);
    } else if (key == "animation") {
      json.String(&flight.animation);
    } else if (key == "facing") {
      json.String(&flight.facing);
    } else {
      FAIL("unknown member ", key);
    }
  }
  REQUIRE(json.ok());
  return flight;
}

}  // namespace

TEST_CASE("flight: with pictures, every sprite shows one of them, and each is shown") {
  const std::vector<std::string> pictures = {std::string(kPictureDigits, 'a'),
                                             std::string(kPictureDigits, 'b')};
  std::set<std::string> shown;
  for (uint64_t number = 0; number < 100; ++number) {
    const Flight flight(TagOf(number, Edge::kLeft), pictures);
    const std::string text = Written(flight);
    const ReceivedFlight received = Read(text);
    CHECK(received == flight);
    CHECK_EQ(received.scale, 2.0);
    shown.emplace(received.file);
  }
  CHECK_EQ(shown, std::set<std::string>(pictures.begin(), pictures.end()));
}

TEST_CASE("flight: what is written is what is expected, for every edge and many numbers") {
  std::set<std::string> different;
  for (uint64_t number = 0; number < 5000; ++number) {
    const Flight flight(TagOf(number, static_cast<Edge>(number % kEdges)));
    const std::string text = Written(flight);
    CHECK(Read(text) == flight);
    different.insert(text);
  }
  CHECK_EQ(different.size(), 5000U);
}

TEST_CASE("flight: a sprite flies out by its edge, with numbers that the protocol allows") {
  for (uint64_t number = 0; number < 2000; ++number) {
    const std::string left = Written(Flight(TagOf(number, Edge::kLeft)));
    const std::string bottom = Written(Flight(TagOf(number, Edge::kBottom)));
    CHECK(Read(left).vx < 0);
    CHECK(Read(bottom).vy > 0);
    CHECK(Read(left).at >= 0);
    CHECK(Read(left).at <= 1);
    CHECK(Read(left).scale >= 1);
    CHECK(Read(left).scale <= 4);
  }
}

TEST_CASE("flight: a change of any member is found, and so is a member that is missing") {
  const Flight flight(TagOf(7, Edge::kTop));
  const std::string text = Written(flight);
  const ReceivedFlight received = Read(text);
  CHECK(received == flight);
  for (double ReceivedFlight::*const member :
       {&ReceivedFlight::at, &ReceivedFlight::vx, &ReceivedFlight::vy, &ReceivedFlight::scale}) {
    ReceivedFlight changed = received;
    changed.*member += 0.001;
    CHECK(!(changed == flight));
    changed.*member = ReceivedFlight().*member;
    CHECK(!(changed == flight));
  }
  for (std::string_view ReceivedFlight::*const member :
       {&ReceivedFlight::file, &ReceivedFlight::animation, &ReceivedFlight::facing}) {
    ReceivedFlight changed = received;
    (changed.*member).remove_suffix(1);
    CHECK(!(changed == flight));
    changed.*member = {};
    CHECK(!(changed == flight));
  }
  CHECK(!(received == Flight(TagOf(8, Edge::kTop))));
}

}  // namespace swarm
