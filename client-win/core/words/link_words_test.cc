#include "core/words/link_words.h"

#include <doctest/doctest.h>

#include "test/core/test_desktop.h"

namespace sprites {
namespace {

constexpr char kInvitation[] = "7a.00112233445566778899aabbccddeeff";  // of a friend

TEST_CASE("link words › say what a link in a field means, or that it is none") {
  const auto meaning = [](const char* text) { return MeaningOf(Language::kEnglish, text); };
  CHECK(meaning("").text.empty());
  CHECK(meaning("no link").is_error);
  CHECK(meaning("relay.example").text == "Relay: relay.example");
  CHECK(meaning("relay.example/#world=garden").text == "Relay: relay.example, world: garden");
  CHECK(meaning(kInvitation).text == "An invitation to the relay you are at");
  CHECK(!meaning(kInvitation).is_error);
}

TEST_CASE("link words › a copied link is offered unless it leads where the desktop is") {
  TestDesktop test;
  const std::string relay = kRelay;
  const auto offers = [&](const std::string& copied) {
    return LeadsElsewhere(copied, test.desktop);
  };
  CHECK(!offers("Dear Grace,"));
  CHECK(!offers(relay));  // not joined yet, but on the way there
  CHECK(offers(relay + "/#near=" + kInvitation));
  test.Join();  // in the world "garden"
  const std::string own = test.desktop.relay().InvitationLink();
  REQUIRE(own.find("near=") != std::string::npos);
  CHECK(!offers(own));
  CHECK(!offers(WithHost(own, "192.168.1.5")));  // as an invitation is copied for the network
  CHECK(!offers(relay + "/#world=garden"));
  CHECK(!offers(relay + "/#world=garden&near=" + kInvitation));
  CHECK(offers(relay));  // the commons
  CHECK(offers(relay + "/#world=attic"));
  CHECK(offers(relay + "/#near=" + kInvitation));
  CHECK(offers(kInvitation));
  CHECK(offers("https://other.example/#world=garden"));
  CHECK(offers(relay + "/#take=" + std::string(64, 'a') + "&name=Biscuit"));
}

}  // namespace
}  // namespace sprites
