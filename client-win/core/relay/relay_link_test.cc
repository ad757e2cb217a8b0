#include "core/relay/relay_link.h"

#include <doctest/doctest.h>

#include <string>

#include "core/picture/sheet.h"
#include "core/relay/seat.h"

namespace sprites {
namespace {

constexpr char kInvitation[] = "1a2b.00112233445566778899aabbccddeeff";

struct Case {
  std::string text;
  RelayLink link;
};

TEST_CASE("relay link › is read from what people paste and pages open") {
  const std::string near = kInvitation;
  for (const Case& one : {
           // The relay's page, and the link that it copies.
           Case{"https://relay.example", {"https://relay.example", "", ""}},
           Case{"https://relay.example/", {"https://relay.example", "", ""}},
           Case{"HTTPS://Relay.Example:8443/", {"https://relay.example:8443", "", ""}},
           Case{"https://relay.example/#near=" + near, {"https://relay.example", "", near}},
           Case{"https://relay.example/#near=" + near + "&world=garden",
                {"https://relay.example", "garden", near}},
           Case{"https://relay.example/#world=garden", {"https://relay.example", "garden", ""}},
           Case{"http://relay.example:8080/?world=garden",
                {"http://relay.example:8080", "garden", ""}},
           Case{"http://relay.example:8080/?join=" + near + "&world=garden",
                {"http://relay.example:8080", "garden", near}},
           Case{"http://relay.example:8080/?transport=poll&world=garden#near=" + near,
                {"http://relay.example:8080", "garden", near}},
           Case{"https://relay.example/some/page?x=1&y#z", {"https://relay.example", "", ""}},
           Case{"https://relay.example?world=a+b%26c", {"https://relay.example", "a b&c", ""}},
           Case{"https://relay.example/#world=K%C3%A4se", {"https://relay.example", "Käse", ""}},
           Case{"https://relay.example/#world=Käse", {"https://relay.example", "Käse", ""}},
           // An id of an earlier version: the relay refuses it, and the world remains.
           Case{"https://relay.example/?near=1a2b-3f", {"https://relay.example", "", "1a2b-3f"}},
           // What surrounds it.
           Case{"  https://relay.example\r\n", {"https://relay.example", "", ""}},
           Case{"<https://relay.example>", {"https://relay.example", "", ""}},
           Case{"\"https://relay.example\"", {"https://relay.example", "", ""}},
           // The program's own scheme.
           Case{"sprites:https://relay.example/#near=" + near, {"https://relay.example", "", near}},
           Case{"SPRITES:http://localhost:9100/", {"http://localhost:9100", "", ""}},
           Case{"sprites://relay.example/#near=" + near, {"https://relay.example", "", near}},
           Case{"sprites://localhost:9100/", {"http://localhost:9100", "", ""}},
           Case{"sprites:" + near, {"", "", near}},
           Case{"sprites://" + near + "/", {"", "", near}},
           // Without a scheme.
           Case{"relay.example", {"https://relay.example", "", ""}},
           Case{"relay.example:443", {"https://relay.example", "", ""}},
           Case{"relay.example:8080", {"http://relay.example:8080", "", ""}},
           Case{"relay.example/#near=" + near, {"https://relay.example", "", near}},
           Case{"localhost:9100", {"http://localhost:9100", "", ""}},
           Case{"localhost", {"http://localhost", "", ""}},
           Case{"127.0.0.1:8080", {"http://127.0.0.1:8080", "", ""}},
           Case{"192.168.1.5", {"http://192.168.1.5", "", ""}},
           Case{"10.0.0.5", {"http://10.0.0.5", "", ""}},
           Case{"172.16.0.1", {"http://172.16.0.1", "", ""}},
           Case{"172.31.0.1", {"http://172.31.0.1", "", ""}},
           Case{"172.15.0.1", {"https://172.15.0.1", "", ""}},
           Case{"172.32.0.1", {"https://172.32.0.1", "", ""}},
           Case{"raspberry.local:8080", {"http://raspberry.local:8080", "", ""}},
           Case{"[::1]:8080", {"http://[::1]:8080", "", ""}},
           Case{"http://[2001:db8::1]:8080/", {"http://[2001:db8::1]:8080", "", ""}},
           // The port of the scheme is the same relay as no port.
           Case{"http://relay.example:80", {"http://relay.example", "", ""}},
           Case{"https://relay.example:443", {"https://relay.example", "", ""}},
           Case{"https://relay.example:80", {"https://relay.example:80", "", ""}},
           Case{"http://relay.example:65535", {"http://relay.example:65535", "", ""}},
           // A bare invitation.
           Case{near, {"", "", near}},
           Case{" " + near + " ", {"", "", near}},
       }) {
    CAPTURE(one.text);
    const auto link = ReadRelayLink(one.text);
    REQUIRE(link);
    CHECK(link->relay == one.link.relay);
    CHECK(link->world == one.link.world);
    CHECK(link->invitation == one.link.invitation);
  }
}

TEST_CASE("relay link › is nothing for text that is no link, or a hostile one") {
  const std::string near = kInvitation;
  for (const std::string& text : {
           std::string(""),
           std::string("   "),
           std::string("hello"),
           std::string("hello world"),
           std::string("ftp://relay.example"),
           std::string("file:///C:/secret"),
           std::string("javascript:alert(1)"),
           std::string("javascript:1"),
           std::string("mailto:ann@relay.example"),
           std::string("data:text/html,x"),
           std::string("sprites:"),
           std::string("sprites://"),
           std::string("sprites:sprites:a.b"),
           std::string("sprites:file:///C:/x"),
           std::string("http://"),
           std::string("https:///x"),
           std::string("http:relay.example"),
           std::string("//relay.example"),
           // Another host than it seems.
           std::string("https://relay.example@evil.example/"),
           std::string("https://relay.example:80@evil.example"),
           std::string("https://relay.example\\@evil.example"),
           std::string("https://relay.example%2eevil.example"),
           std::string("https://relay.example%00.evil.example"),
           std::string("https://r\u0435lay.example"),  // a Cyrillic letter
           std::string("https://relay\u200b.example"),
           std::string("https://relay..example"),
           std::string("https://.relay.example"),
           std::string("https://relay.example."),
           std::string("https://-relay.example"),
           std::string("https://relay_.example"),
           std::string("https://[::1"),
           std::string("https://[]"),
           std::string("https://[::g]"),
           std::string("https://[::1]x"),
           std::string("\\\\evil.example\\share"),
           std::string("C:\\secret.txt"),
           std::string("C:/secret.txt"),
           // Ports.
           std::string("relay.example:"),
           std::string("relay.example:0"),
           std::string("relay.example:65536"),
           std::string("relay.example:-1"),
           std::string("relay.example:+80"),
           std::string("relay.example:80a"),
           std::string("relay.example:99999999999999999999"),
           // More than one argument of a command line.
           std::string("https://relay.example/\" --other"),
           std::string("https://relay.example/ x"),
           std::string("https://relay.example/\nx"),
           std::string("https://relay.example/\tx"),
           std::string("https://relay.example/`x`"),
           std::string("https://relay.example/<x>"),
           std::string("https://relay.example/\xff"),
           // Members.
           std::string("https://relay.example/#near=%"),
           std::string("https://relay.example/#near=%4"),
           std::string("https://relay.example/#near=%zz"),
           std::string("https://relay.example/#near=a%20b"),
           std::string("https://relay.example/#near=a%0d%0ab"),
           std::string("https://relay.example/#near=a&near=b"),
           std::string("https://relay.example/?near=a#near=b"),
           std::string("https://relay.example/#near=a&join=b"),
           std::string("https://relay.example/#world=a&world=b"),
           std::string("https://relay.example/#world=a%00b"),
           std::string("https://relay.example/#world=%E2%80%AEb"),
           std::string("https://relay.example/#world=%ff"),
           // Invitations that are cut off or mangled.
           near.substr(0, near.size() - 1),
           near + "0",
           near + "/x",
           near + "?world=a",
           "." + near.substr(5),
           "12345678901234567" + near.substr(4),
           "x" + near.substr(4, 20),
           near.substr(0, 5) + "ff1f",
       }) {
    CAPTURE(text);
    CHECK(!ReadRelayLink(text));
  }
}

TEST_CASE("relay link › has limits for the link, the host, the invitation and the world") {
  const std::string start = "https://relay.example/?x=";
  CHECK(ReadRelayLink(start + std::string(kLinkBytesMax - start.size() - 1, 'x')));
  CHECK(ReadRelayLink(start + std::string(kLinkBytesMax - start.size(), 'x')));
  CHECK(!ReadRelayLink(start + std::string(kLinkBytesMax - start.size() + 1, 'x')));
  CHECK(ReadRelayLink("https://" + std::string(63, 'a') + ".example"));
  CHECK(!ReadRelayLink("https://" + std::string(64, 'a') + ".example"));
  std::string host = "a";  // 253 bytes: the longest name
  while (host.size() < 253) {
    host += ".a";
  }
  CHECK(ReadRelayLink("https://" + host));
  CHECK(!ReadRelayLink("https://" + host + ".a"));
  const std::string page = "https://relay.example/#";
  CHECK(ReadRelayLink(page + "near=" + std::string(kIdBytesMax, 'a')));
  CHECK(!ReadRelayLink(page + "near=" + std::string(kIdBytesMax + 1, 'a')));
  CHECK(ReadRelayLink(page + "world=" + std::string(kNameBytesMax, 'a')));
  CHECK(!ReadRelayLink(page + "world=" + std::string(kNameBytesMax + 1, 'a')));
}

TEST_CASE(
    "relay link › to a picture of a gallery names its hash, its name and perhaps its author") {
  const std::string file(64, 'a');
  const std::string start = "sprites:https://relay.example:8443/#take=" + file;
  const auto read = [&](const std::string& members) { return ReadRelayLink(start + members); };
  const auto entry_of = [&](const std::string& name, const std::string& author) {
    return RelayLink{"https://relay.example:8443", "", "", GalleryEntry{file, name, author}};
  };
  CHECK(read("&name=Biscuit&author=Anna") == entry_of("Biscuit", "Anna"));
  CHECK(read("&name=Biscuit") == entry_of("Biscuit", ""));
  CHECK(read("&name=K%C3%A4se%20%26%20more&author=") == entry_of("K\u00e4se & more", ""));
  CHECK(ReadRelayLink("https://relay.example:8443/?name=Biscuit#take=" + file) ==
        entry_of("Biscuit", ""));
  // The other members alone do not make it such a link.
  CHECK(ReadRelayLink("https://relay.example/#name=Biscuit&author=Anna") ==
        RelayLink{"https://relay.example", "", ""});
  for (const char* members :
       {"", "&name=", "&author=Anna", "&name=a&name=b", "&name=a&author=b&author=c",
        "&name=a&take=1", "&name=a%00b", "&name=%E2%80%AEb", "&name=a&author=%ff",
        "&name=a&world=garden", "&name=a&near=1a2b.00112233445566778899aabbccddeeff"}) {
    CAPTURE(members);
    CHECK(!read(members));
  }
  for (const std::string& hash : {std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A'),
                                  std::string(64, 'g'), std::string("../") + std::string(61, 'a'),
                                  std::string("%2e%2e%2f") + std::string(61, 'a')}) {
    CAPTURE(hash);
    CHECK(!ReadRelayLink("https://relay.example/#take=" + hash + "&name=Biscuit"));
  }
  // The longest name, and one more byte.
  CHECK(read("&name=" + std::string(kNameBytesMax, 'a')));
  CHECK(!read("&name=" + std::string(kNameBytesMax + 1, 'a')));
  CHECK(read("&name=a&author=" + std::string(kNameBytesMax, 'a')));
  CHECK(!read("&name=a&author=" + std::string(kNameBytesMax + 1, 'a')));
}

TEST_CASE(
    "relay link › an invitation is read as it was made, with the world unless it is commons") {
  const std::string relay = "https://relay.example:8443";
  for (const char* world : {"garden", "K\u00e4se & more", "private-aB_-9"}) {
    const std::string text = InvitationLink(relay, world, kInvitation, "Ada & J\u00f6");
    CAPTURE(text);
    CHECK(text.starts_with(relay + "/#near=" + kInvitation + "&from=Ada%20%26%20J%C3%B6&world="));
    CHECK(ReadRelayLink(text) == RelayLink{relay, world, kInvitation});
    CHECK(ReadRelayLink("sprites:" + text) == RelayLink{relay, world, kInvitation});
  }
  for (const char* world : {"", "commons"}) {
    CHECK(InvitationLink(relay, world, kInvitation) == relay + "/#near=" + kInvitation);
  }
  const std::string link = InvitationLink(relay, "garden", kInvitation);
  CHECK(link.find('?') == std::string::npos);  // servers log a query, and no fragment
}

TEST_CASE("relay link › an installer's file name tells its relay") {
  struct Name {
    const char* file;
    const char* relay;
  };
  for (const Name& one :
       {Name{"Sprites-Setup_https_443_relay.example.exe", "https://relay.example"},
        Name{"Sprites-Setup_http_8080_127.0.0.1.exe", "http://127.0.0.1:8080"},
        Name{"Sprites-Setup_http_8080_localhost.exe", "http://localhost:8080"},
        Name{"sprites-setup_HTTPS_8443_Relay.Example.EXE", "https://relay.example:8443"},
        Name{"Sprites-Setup_https_443_relay.example (1).exe", "https://relay.example"},
        Name{"Sprites-Setup_https_443_relay.example(2).exe", "https://relay.example"},
        Name{"Sprites-Setup_https_443_relay.example_2.exe", "https://relay.example"}}) {
    CAPTURE(one.file);
    CHECK(RelayOfInstaller(one.file) == one.relay);
  }
  for (const char* file :
       {"", "Sprites-Setup.exe", "Sprites-Setup (1).exe", "Sprites-Setup_.exe",
        "Sprites-Setup_ftp_21_relay.example.exe", "Sprites-Setup_https__relay.example.exe",
        "Sprites-Setup_https_0_relay.example.exe", "Sprites-Setup_https_65536_relay.example.exe",
        "Sprites-Setup_https_443_.exe", "Sprites-Setup_https_443_a@b.exe",
        "Sprites-Setup_https_443_relay..example.exe", "Sprites-Setup_https_443",
        "Sprites-Setup_https", "Other_https_443_relay.example.exe"}) {
    CAPTURE(file);
    CHECK(!RelayOfInstaller(file));
  }
}

TEST_CASE("relay link › a link to this machine is known, and gets another host") {
  for (const char* local : {"http://localhost:8080/#near=a.b", "http://127.0.0.1/#near=a.b",
                            "http://[::1]:8471/#near=a.b"}) {
    CHECK(IsLocal(local));
  }
  for (const char* other : {"http://relay.example:8080/#near=a.b", "http://localhost.example/",
                            "https://10.0.0.127/", ""}) {
    CHECK(!IsLocal(other));
  }
  CHECK(WithHost("http://localhost:8471/#near=a.b", "192.168.1.5") ==
        "http://192.168.1.5:8471/#near=a.b");
  CHECK(WithHost("http://[::1]/#near=a.b", "192.168.1.5") == "http://192.168.1.5/#near=a.b");
}

}  // namespace
}  // namespace sprites
