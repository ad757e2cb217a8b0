#include "core/relay/relay_link.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/picture/file_cache.h"
#include "core/picture/sheet.h"
#include "core/relay/seat.h"
#include "core/text/text.h"

namespace sprites {

namespace {

constexpr std::string_view kScheme = "sprites:";
constexpr std::string_view kInstaller = "sprites-setup_";
constexpr std::string_view kProgram = ".exe";
constexpr size_t kSecretDigits = 32;   // hexadecimal digits of an invitation's secret
constexpr size_t kSeatDigitsMax = 16;  // characters before the dot of an invitation
constexpr size_t kHostBytesMax = 253;  // RFC 1035 §2.3.4
constexpr size_t kLabelBytesMax = 63;  // RFC 1035 §2.3.4
constexpr std::string_view kHex = "0123456789abcdefABCDEF";
constexpr std::string_view kDigits = "0123456789";

bool HasOnly(std::string_view text, std::string_view letters) {
  return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Whether `text` starts with `prefix`, which is in lower case, in any case.
bool StartsWith(std::string_view text, std::string_view prefix) {
  return LowerCase(text.substr(0, prefix.size())) == prefix;
}

// Removes what surrounds a link in a mail or a chat.
std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) {
    return {};
  }
  text = text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
  for (const auto& [open, close] : {std::pair('<', '>'), std::pair('"', '"')}) {
    if (text.size() > 2 && text.front() == open && text.back() == close) {
      text = text.substr(1, text.size() - 2);
    }
  }
  return text;
}

bool IsInvitation(std::string_view text) {
  const size_t dot = text.find('.');
  return dot != std::string_view::npos && dot > 0 && dot <= kSeatDigitsMax &&
         std::ranges::all_of(text.substr(0, dot), IsLetterOrDigit) &&
         text.size() - dot - 1 == kSecretDigits && HasOnly(text.substr(dot + 1), kHex);
}

bool IsAddressOfFour(std::string_view host) {
  return HasOnly(host, "0123456789.") && std::ranges::count(host, '.') == 3;
}

// A DNS name or an IPv4 address; without its port.
bool IsHostName(std::string_view host) {
  if (host.empty() || host.size() > kHostBytesMax) {
    return false;
  }
  while (true) {
    const std::string_view label = host.substr(0, host.find('.'));
    const bool is_valid =
        !label.empty() && label.size() <= kLabelBytesMax && IsLetterOrDigit(label.front()) &&
        IsLetterOrDigit(label.back()) &&
        std::ranges::all_of(label, [](char c) { return IsLetterOrDigit(c) || c == '-'; });
    if (!is_valid) {
      return false;
    }
    if (label.size() == host.size()) {
      return true;
    }
    host.remove_prefix(label.size() + 1);
  }
}

bool IsHost(std::string_view host) {
  if (host.starts_with('[')) {
    return host.size() > 3 && host.ends_with(']') &&
           HasOnly(host.substr(1, host.size() - 2), "0123456789abcdefABCDEF:.");
  }
  return IsHostName(host);
}

std::optional<size_t> ReadPort(std::string_view text) {
  size_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_port = error == std::errc{} && end == text.data() + text.size() && port > 0;
  return is_port && port <= kPortMax ? std::optional(port) : std::nullopt;
}

// Whether `host` is this machine or one of a home network, where a relay has no certificate.
bool IsNearby(std::string_view host) {
  const std::string name = LowerCase(host);
  const bool is_private_172 = [&] {
    if (!name.starts_with("172.") || !IsAddressOfFour(name)) {
      return false;
    }
    const std::string_view second = std::string_view(name).substr(4, name.find('.', 4) - 4);
    return second.size() == 2 && second >= "16" && second <= "31";
  }();
  return name == "localhost" || name.ends_with(".local") || name.starts_with('[') ||
         is_private_172 ||
         (IsAddressOfFour(name) &&
          (name.starts_with("127.") || name.starts_with("10.") || name.starts_with("192.168.")));
}

// Whether `host` ends in a top-level domain, which has no digit. `name:` could as well be the
// scheme of another kind of link, and a damaged invitation has digits behind its dot.
bool HasDomain(std::string_view host) {
  const size_t dot = host.rfind('.');
  if (dot == std::string_view::npos) {
    return false;
  }
  const std::string_view domain = host.substr(dot + 1);
  return IsAddressOfFour(host) || StartsWith(domain, "xn--") ||
         domain.find_first_of(kDigits) == std::string_view::npos;
}

// The origin of an address that starts with `scheme`, if it has one; in lower case, without the
// scheme's own port.
std::optional<std::string> ReadOrigin(std::string_view scheme, std::string_view authority) {
  const size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos) {
    return std::nullopt;
  }
  const size_t colon = authority.find(':', bracket);
  const std::string_view host = authority.substr(0, colon);
  size_t port = 0;  // 0: that of the scheme
  if (colon != std::string_view::npos) {
    const auto read = ReadPort(authority.substr(colon + 1));
    if (!read) {
      return std::nullopt;
    }
    port = *read;
  }
  if (!IsHost(host)) {
    return std::nullopt;
  }
  std::string protocol(scheme);
  if (protocol.empty()) {
    if (!IsNearby(host) && !HasDomain(host)) {
      return std::nullopt;
    }
    const bool is_plain = IsNearby(host) || (port != 0 && port != 443);
    protocol = is_plain && port != 443 ? "http" : "https";
  }
  if (port == (protocol == "https" ? 443 : 80)) {
    port = 0;
  }
  return RelayOrigin(protocol + "://" + std::string(host) +
                     (port == 0 ? "" : ":" + std::to_string(port)));
}

// Decodes one value of a query. Nothing when an escape is broken.
std::optional<std::string> Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    if (digits.size() != 2 || !HasOnly(digits, kHex)) {
      return std::nullopt;
    }
    unsigned byte = 0;
    std::from_chars(digits.data(), digits.data() + 2, byte, 16);
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

// Where the value of a member belongs; null for a member that does not matter.
std::string* FieldOf(std::string_view name, RelayLink* link, GalleryEntry* entry) {
  return name == "near" || name == "join" ? &link->invitation
         : name == "world"                ? &link->world
         : name == "take"                 ? &entry->file
         : name == "name"                 ? &entry->name
         : name == "author"               ? &entry->author
                                          : nullptr;
}

bool IsValidMember(std::string_view name, std::string_view value) {
  if (name == "take") {
    return IsFileHash(value);
  }
  if (name == "near" || name == "join") {
    return IsToken(value) && value.size() <= kIdBytesMax;
  }
  return IsPlainText(value) && value.size() <= kNameBytesMax;
}

// Reads the members of a query or a fragment into `link` and `entry`. False when one that matters
// is invalid, or is there twice.
bool ReadMembers(std::string_view members, RelayLink* link, GalleryEntry* entry) {
  while (!members.empty()) {
    const std::string_view member = members.substr(0, members.find('&'));
    members.remove_prefix(std::min(member.size() + 1, members.size()));
    const size_t equals = member.find('=');
    if (equals == std::string_view::npos) {
      continue;
    }
    const std::string_view name = member.substr(0, equals);
    std::string* field = FieldOf(name, link, entry);
    if (field == nullptr) {
      continue;
    }
    const auto value = Decoded(member.substr(equals + 1));
    if (!value || !field->empty() || !IsValidMember(name, *value)) {
      return false;
    }
    *field = *value;
  }
  return true;
}

// Whether a link that takes a picture is whole, and leads nowhere else.
bool IsTaking(const RelayLink& link, const GalleryEntry& entry) {
  return !entry.name.empty() && link.world.empty() && link.invitation.empty();
}

}  // namespace

std::optional<RelayLink> ReadRelayLink(std::string_view text) {
  if (text.size() > kLinkBytesMax) {
    return std::nullopt;
  }
  text = Trimmed(text);
  if (!IsPlainText(text) || text.find_first_of(" \\\"<>`") != std::string_view::npos) {
    return std::nullopt;
  }
  const bool is_own_scheme = StartsWith(text, kScheme);
  if (is_own_scheme) {
    text.remove_prefix(kScheme.size());
    text.remove_prefix(text.starts_with("//") ? 2 : 0);
  }
  // Windows may append a slash to a link of a scheme that it does not know.
  if (const std::string_view bare = text.substr(0, text.find('/')); IsInvitation(bare)) {
    const bool is_alone = bare.size() == text.size() || text.substr(bare.size()) == "/";
    return is_alone ? std::optional(RelayLink{"", "", std::string(bare)}) : std::nullopt;
  }
  std::string_view scheme;
  for (const std::string_view one : {"https", "http"}) {
    if (StartsWith(text, std::string(one) + "://")) {
      scheme = one;
      text.remove_prefix(one.size() + 3);
      break;
    }
  }
  const size_t end = std::min(text.find_first_of("/?#"), text.size());
  const auto relay = ReadOrigin(scheme, text.substr(0, end));
  if (!relay) {
    return std::nullopt;
  }
  RelayLink link{*relay, "", ""};
  const size_t hash = std::min(text.find('#', end), text.size());
  const size_t question = std::min(text.find('?', end), hash);
  const std::string_view query = text.substr(question, hash - question);
  const std::string_view fragment = text.substr(hash);
  GalleryEntry entry;
  const bool is_valid =
      ReadMembers(query.empty() ? query : query.substr(1), &link, &entry) &&
      ReadMembers(fragment.empty() ? fragment : fragment.substr(1), &link, &entry);
  if (!is_valid || (!entry.file.empty() && !IsTaking(link, entry))) {
    return std::nullopt;
  }
  if (!entry.file.empty()) {
    link.entry = std::move(entry);
  }
  return link;
}

std::string InvitationLink(const std::string& relay, const std::string& world,
                           const std::string& invitation, const std::string& from) {
  std::string link = relay + "/#near=" + PercentEncoded(invitation);
  if (!from.empty()) {
    link += "&from=" + PercentEncoded(from);
  }
  if (!world.empty() && world != kCommons) {
    link += "&world=" + PercentEncoded(world);
  }
  return link;
}

std::optional<std::string> RelayOfInstaller(std::string_view file_name) {
  if (file_name.size() > kLinkBytesMax || !StartsWith(file_name, kInstaller)) {
    return std::nullopt;
  }
  std::string_view rest = file_name.substr(kInstaller.size());
  const std::string scheme = LowerCase(rest.substr(0, rest.find('_')));
  if (scheme != "http" && scheme != "https") {
    return std::nullopt;
  }
  rest.remove_prefix(std::min(scheme.size() + 1, rest.size()));
  const std::string_view port = rest.substr(0, rest.find('_'));
  rest.remove_prefix(std::min(port.size() + 1, rest.size()));
  if (!HasOnly(port, kDigits)) {
    return std::nullopt;
  }
  std::string_view host = rest.substr(0, rest.find_first_of(" (_"));
  if (LowerCase(host).ends_with(kProgram)) {
    host.remove_suffix(kProgram.size());
  }
  return IsHostName(host) ? ReadOrigin(scheme, std::string(host) + ":" + std::string(port))
                          : std::nullopt;
}

std::string HostOf(const std::string& relay) {
  const size_t slashes = relay.find("://");
  return slashes == std::string::npos ? relay : relay.substr(slashes + 3);
}

namespace {

// Where the host of a link begins, and where it ends: before the port.
std::pair<size_t, size_t> HostIn(const std::string& link) {
  const size_t scheme = link.find("://");
  const size_t first = scheme == std::string::npos ? link.size() : scheme + 3;
  const size_t end = std::min(link.find_first_of("/?#", first), link.size());
  const bool is_bracketed = first < link.size() && link[first] == '[';
  const size_t from = is_bracketed ? std::min(link.find(']', first), end) : first;
  return {first, std::min(link.find(':', from), end)};
}

}  // namespace

bool IsLocal(const std::string& link) {
  const auto [first, end] = HostIn(link);
  const std::string_view host = std::string_view(link).substr(first, end - first);
  return host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") ||
         host == "[::1]";
}

std::string WithHost(const std::string& link, const std::string& host) {
  const auto [first, end] = HostIn(link);
  return link.substr(0, first) + host + link.substr(end);
}

}  // namespace sprites
