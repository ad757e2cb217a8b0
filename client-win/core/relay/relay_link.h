// Links that lead to a relay: what a person pastes, what a page opens, and what an invitation is
// passed on as.
//
// A link comes from a stranger: a web page can open one, and a mail can hold one. It is read within
// a limit of length, and anything unusual in it makes the whole link invalid. Cost: O(bytes).
#ifndef CLIENT_WIN_CORE_RELAY_RELAY_LINK_H_
#define CLIENT_WIN_CORE_RELAY_RELAY_LINK_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sprites {

constexpr size_t kLinkBytesMax = 2048;  // bytes: an address, an invitation and a world need 900
constexpr size_t kPortMax = 65'535;     // RFC 793
constexpr char kCommons[] = "commons";  // the world that everybody is in

// A picture that the page of a gallery offers. Name and author are what the link says.
struct GalleryEntry {
  std::string file;  // its hash
  std::string name;
  std::string author;  // empty if the link names none

  bool operator==(const GalleryEntry&) const = default;
};

struct RelayLink {
  std::string relay;       // `https://host:port`; empty for a bare invitation
  std::string world;       // empty if the link names none
  std::string invitation;  // empty if the link has none
  // The picture to take from the relay. Such a link leads to no world.
  std::optional<GalleryEntry> entry{};

  bool operator==(const RelayLink&) const = default;
};

// Reads one of these, with or without spaces, quotes or `<…>` around it:
//
//     https://relay.example:8443/#near=INVITATION&world=NAME     the address of a relay's page
//     sprites:https://relay.example/#near=INVITATION             the same, opened by Windows
//     relay.example, localhost:9100, [::1]:8080                  an address without a scheme
//     1a2b.00112233445566778899aabbccddeeff                      a bare invitation
//     sprites:https://relay.example/#take=HASH&name=N&author=A   a picture of the relay's gallery
//
// The query may have the members of the fragment, and `join` is another name for `near`. `take`
// needs a name, may have an author, and goes with no other member that matters. Without a
// scheme, an address with a port other than 443 means http, as do names and addresses of this
// machine or of a home network; any other one means https. Returns nothing for everything else.
std::optional<RelayLink> ReadRelayLink(std::string_view text);

// The link that seats its reader beside the desktop with this invitation. It tells the reader who
// sends it, if there is a name, and the world, unless that is kCommons, which is found when the
// invitation has ended. All of it is in the fragment, which no server logs.
std::string InvitationLink(const std::string& relay, const std::string& world,
                           const std::string& invitation, const std::string& from = "");

// The relay that an installer was downloaded from, by the name that the relay gave the file:
// `Sprites-Setup_https_443_relay.example.exe`. Browsers may append ` (1)`. Nothing for other names.
std::optional<std::string> RelayOfInstaller(std::string_view file_name);

// `relay` as people read it: without the scheme.
std::string HostOf(const std::string& relay);

// Whether a link leads to this machine, so that it is of no use on another one.
bool IsLocal(const std::string& link);
// The link with another host, an IPv4 address or a name; its port stays.
std::string WithHost(const std::string& link, const std::string& host);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_RELAY_LINK_H_
