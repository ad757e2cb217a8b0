#include "core/relay/seat.h"

#include <algorithm>

#include "core/picture/sheet.h"
#include "core/relay/request.h"
#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

constexpr int kSeatDepthMax = 4;

struct Address {
  bool is_secure;
  std::string_view host;  // without port
  size_t origin_length;   // of `https://host:port`
};

// Parses an absolute http or https address that names no user.
std::optional<Address> ReadAddress(std::string_view url) {
  if (url.size() > kUrlBytesMax || !IsToken(url)) {
    return std::nullopt;
  }
  const std::string scheme = LowerCase(url.substr(0, 8));
  const bool is_secure = scheme == "https://";
  if (!is_secure && !scheme.starts_with("http://")) {
    return std::nullopt;
  }
  const size_t start = is_secure ? 8 : 7;
  const size_t end = std::min(url.find_first_of("/?#", start), url.size());
  const std::string_view authority = url.substr(start, end - start);
  const size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos ||
      authority.find_first_of("@\\") != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view host = authority.substr(0, authority.find(':', bracket));
  const std::string_view port = authority.substr(host.size());
  const bool has_port = port.size() > 1 && port.size() <= 6 &&
                        port.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (host.empty() || !(port.empty() || has_port)) {
    return std::nullopt;
  }
  return Address{is_secure, host, end};
}

// Whether a seat at `relay` may send requests to `url`: to the relay's own host or a subdomain of
// it, and never from TLS to plain HTTP. A relay therefore can't make this program send the token,
// or any request of a seat, to another host. Only a join can go to one: see moves.h.
bool MaySendTo(std::string_view relay, std::string_view url) {
  const auto from = ReadAddress(relay);
  const auto to = ReadAddress(url);
  if (!from || !to || (from->is_secure && !to->is_secure)) {
    return false;
  }
  const std::string host = LowerCase(from->host);
  const std::string there = LowerCase(to->host);
  return there == host || there.ends_with("." + host);
}

}  // namespace

std::optional<std::string> RelayOrigin(std::string_view url) {
  const auto address = ReadAddress(url);
  return address ? std::optional(LowerCase(url.substr(0, address->origin_length))) : std::nullopt;
}

std::optional<Seat> ReadSeat(std::string_view json, std::string_view relay_url) {
  if (json.size() > kResponseBytesMax) {
    return std::nullopt;
  }
  const Json root = ParseJson(json, kSeatDepthMax);
  Seat seat;
  seat.desktop = TextAt(root, "desktop", kIdBytesMax);
  seat.token = TextAt(root, "token", kIdBytesMax);
  seat.cursor = TextAt(root, "cursor", kIdBytesMax);
  seat.invitation = TextAt(root, "invitation", kIdBytesMax);
  if (!IsToken(seat.invitation)) {
    seat.invitation.clear();
  }
  seat.world = PlainText(TextAt(root, "world", kIdBytesMax), kNameBytesMax);
  if (MemberOf(root, "stage").is_boolean()) {
    seat.stage = BoolAt(root, "stage", false);
  }
  seat.events = TextAt(root, "events", kUrlBytesMax);
  seat.crossings = TextAt(root, "crossings", kUrlBytesMax);
  seat.ping_seconds =
      static_cast<int>(NumberAt(root, "pingSeconds", 1, kPingSecondsMax, kPingSeconds));
  seat.lease_seconds = static_cast<int>(
      NumberAt(root, "leaseSeconds", kLeaseSecondsMin, kLeaseSecondsMax, kLeaseSeconds));
  for (const std::string* part : {&seat.desktop, &seat.token, &seat.cursor}) {
    if (part->empty() || !IsToken(*part)) {
      return std::nullopt;
    }
  }
  for (std::string* url : {&seat.events, &seat.crossings}) {
    if (!MaySendTo(relay_url, *url)) {
      return std::nullopt;
    }
    const size_t origin_length = ReadAddress(*url)->origin_length;
    *url = LowerCase(url->substr(0, origin_length)) + url->substr(origin_length);
  }
  return seat;
}

bool IsValid(const SeatKey& key) {
  return ReadAddress(key.crossings).has_value() && !key.token.empty() && IsToken(key.token) &&
         key.token.size() <= kIdBytesMax;
}

std::string SeatJson(const Seat& seat) {
  Json body = {{"desktop", seat.desktop},
               {"token", seat.token},
               {"invitation", seat.invitation},
               {"world", seat.world},
               {"cursor", seat.cursor},
               {"events", seat.events},
               {"crossings", seat.crossings},
               {"pingSeconds", seat.ping_seconds},
               {"leaseSeconds", seat.lease_seconds}};
  if (seat.stage) {
    body["stage"] = *seat.stage;
  }
  return WriteJson(body);
}

}  // namespace sprites
