#include "http/request_parser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace sprites {
namespace {

constexpr std::string_view kPathPrefix = "/v1/desktops/";
// Before the request line. RFC 9112 §2.2 requires to accept at least one.
constexpr uint32_t kEmptyLinesBytesMax = 4;

constexpr std::array<uint8_t, 256> MakeTokenTable() {
  std::array<uint8_t, 256> table{};
  for (int c = '0'; c <= '9'; ++c) {
    table[c] = 1;
  }
  for (int c = 'a'; c <= 'z'; ++c) {
    table[c] = 1;
  }
  for (int c = 'A'; c <= 'Z'; ++c) {
    table[c] = 1;
  }
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) {
    table[static_cast<uint8_t>(c)] = 1;
  }
  return table;
}
constexpr std::array<uint8_t, 256> kToken = MakeTokenTable();

constexpr std::string_view Method(Route route) {
  return route == Route::kEvents ? "GET " : "POST ";
}

// The last parts of the paths that a listener serves; those of posts by Post.
constexpr std::array<std::string_view, 1> kPollLeaves = {"events"};
constexpr std::array<std::string_view, 3> kPostLeaves = {"crossings", "sayings", "stage"};

constexpr std::span<const std::string_view> Leaves(Route route) {
  if (route == Route::kEvents) {
    return kPollLeaves;
  }
  return kPostLeaves;
}

// REQUIRES: `lower` has only lowercase letters, dashes and spaces, and `text` has no control
// character: this ignores the one bit between a letter and its capital, which is also the bit
// between a dash and a carriage return.
bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) {
    return false;
  }
  uint8_t differing = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    differing |= static_cast<uint8_t>((text[i] | 0x20) ^ lower[i]);
  }
  return differing == 0;
}

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

// Counts the bytes at the beginning of `text` that are ASCII, at least `min`, and not DEL. It takes
// eight bytes a step, so up to seven such bytes may be left out.
size_t CountPlainBytes(std::string_view text, uint8_t min) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x8080808080808080;
  size_t at = 0;
  for (; text.size() - at >= 8; at += 8) {
    uint64_t word;
    memcpy(&word, text.data() + at, 8);
    const uint64_t below = (word - kOnes * min) & ~word & kHighs;
    const uint64_t del = word ^ (kOnes * 0x7f);
    if (below | ((del - kOnes) & ~del & kHighs) | (word & kHighs)) {
      break;
    }
  }
  return at;
}

// True when `text` has a control character other than tab.
bool HasControls(std::string_view text) {
  for (size_t at = CountPlainBytes(text, 0x20); at < text.size(); ++at) {
    const uint8_t c = static_cast<uint8_t>(text[at]);
    if ((c < 0x20 && c != '\t') || c == 0x7f) {
      return true;
    }
  }
  return false;
}

constexpr uint8_t kNoDigit = 0x80;

constexpr std::array<uint8_t, 256> MakeHexTable() {
  std::array<uint8_t, 256> table{};
  table.fill(kNoDigit);
  for (uint8_t digit = 0; digit < 10; ++digit) {
    table[static_cast<size_t>('0' + digit)] = digit;
  }
  for (uint8_t digit = 10; digit < 16; ++digit) {
    table[static_cast<size_t>('a' + digit - 10)] = digit;
  }
  return table;
}
constexpr std::array<uint8_t, 256> kHex = MakeHexTable();

// Reads `count` hex digits, without a branch a digit. Returns false when one is not a digit.
bool ReadHexDigits(const char* text, size_t count, uint32_t* value) {
  uint32_t sum = 0;
  uint8_t seen = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t digit = kHex[static_cast<uint8_t>(text[i])];
    seen |= digit;
    sum = sum << 4 | (digit & 0xf);
  }
  *value = sum;
  return (seen & kNoDigit) == 0;
}

// Reads a number in lowercase hex without leading zeros, of at most `digits_max` digits.
bool ReadHex(std::string_view text, size_t digits_max, uint32_t* value) {
  if (text.empty() || text.size() > digits_max || (text.size() > 1 && text[0] == '0')) {
    return false;
  }
  return ReadHexDigits(text.data(), text.size(), value);
}

// Reads exactly eight digits, with leading zeros.
bool ReadHexWord(const char* text, uint32_t* value) { return ReadHexDigits(text, 8, value); }

bool ReadId(std::string_view text, uint32_t* slot, uint32_t* generation) {
  const size_t dash = text.find('-');
  return dash != std::string_view::npos && ReadHex(text.substr(0, dash), 6, slot) &&
         ReadHex(text.substr(dash + 1), 8, generation) && *generation != 0;
}

bool ReadCursor(std::string_view text, uint32_t* epoch, uint32_t* seq) {
  if (text.size() < 10 || text.size() > 19 || text[8] != '-') {
    return false;
  }
  if (!ReadHexWord(text.data(), epoch)) {
    return false;
  }
  const std::string_view digits = text.substr(9);
  if (digits.size() > 1 && digits[0] == '0') {
    return false;
  }
  uint64_t sum = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') {
      return false;
    }
    sum = sum * 10 + static_cast<uint64_t>(c - '0');
  }
  if (sum > 0xffffffff) {
    return false;
  }
  *seq = static_cast<uint32_t>(sum);
  return true;
}

// The headers that matter here.
struct Headers {
  std::string_view token;  // of the Authorization header, if it is Bearer
  uint64_t content_length = 0;
  int hosts = 0;
  int authorizations = 0;
  bool has_length = false;
  bool has_transfer_encoding = false;
  bool says_close = false;
  bool says_keep_alive = false;
  bool expects_continue = false;
};

void ReadConnection(std::string_view value, Headers* headers) {
  while (!value.empty()) {
    const size_t comma = value.find(',');
    const std::string_view option = TrimBlanks(value.substr(0, comma));
    if (EqualsIgnoringCase(option, "close")) {
      headers->says_close = true;
    }
    if (EqualsIgnoringCase(option, "keep-alive")) {
      headers->says_keep_alive = true;
    }
    if (comma == std::string_view::npos) {
      break;
    }
    value.remove_prefix(comma + 1);
  }
}

bool ReadContentLength(std::string_view value, Headers* headers) {
  if (headers->has_length || value.empty()) {
    return false;
  }
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  uint64_t length = 0;
  for (const char c : value) {
    if (c < '0' || c > '9') {
      return false;
    }
    const uint64_t digit = static_cast<uint64_t>(c - '0');
    // Node's parser, which the other front uses, refuses longer ones, too.
    if (length > (kMax - digit) / 10) {
      return false;
    }
    length = length * 10 + digit;
  }
  headers->has_length = true;
  headers->content_length = length;
  return true;
}

void ReadAuthorization(std::string_view value, Headers* headers) {
  ++headers->authorizations;
  constexpr size_t kSchemeSize = 7;
  if (value.size() > kSchemeSize && EqualsIgnoringCase(value.substr(0, kSchemeSize), "bearer ")) {
    headers->token = TrimBlanks(value.substr(kSchemeSize));
  }
}

bool IsToken(std::string_view text) {
  uint8_t good = 1;
  for (const char c : text) {
    good &= kToken[static_cast<uint8_t>(c)];
  }
  return good != 0 && !text.empty();
}

// Reads one header line without its CRLF. Returns false when it is malformed.
bool ReadHeader(std::string_view line, Headers* headers) {
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  // This rejects a fold, a space before the colon, an empty name and a line without a colon.
  if (colon == std::string_view::npos || !IsToken(name)) {
    return false;
  }
  const std::string_view value = TrimBlanks(line.substr(colon + 1));
  if (HasControls(value)) {
    return false;
  }
  switch (name.size()) {
    case 4:
      if (EqualsIgnoringCase(name, "host")) {
        ++headers->hosts;
      }
      break;
    case 6:
      if (EqualsIgnoringCase(name, "expect") && EqualsIgnoringCase(value, "100-continue")) {
        headers->expects_continue = true;
      }
      break;
    case 10:
      if (EqualsIgnoringCase(name, "connection")) {
        ReadConnection(value, headers);
      }
      break;
    case 13:
      if (EqualsIgnoringCase(name, "authorization")) {
        ReadAuthorization(value, headers);
      }
      break;
    case 14:
      if (EqualsIgnoringCase(name, "content-length")) {
        return ReadContentLength(value, headers);
      }
      break;
    case 17:
      if (EqualsIgnoringCase(name, "transfer-encoding")) {
        headers->has_transfer_encoding = true;
      }
      break;
    default:
      break;
  }
  return true;
}

// The parts of `METHOD SP target SP HTTP/1.x`.
struct RequestLine {
  std::string_view method;  // with the space after it
  std::string_view target;
  bool is_http10;
};

bool ReadRequestLine(std::string_view line, RequestLine* out) {
  size_t space = 0;
  while (space < line.size() && kToken[static_cast<uint8_t>(line[space])]) {
    ++space;
  }
  if (space == 0 || space == line.size() || line[space] != ' ') {
    return false;
  }
  out->method = line.substr(0, space + 1);
  line.remove_prefix(space + 1);
  size_t end = CountPlainBytes(line, 0x21);
  while (end < line.size() && line[end] > 0x20 && line[end] != 0x7f) {
    ++end;
  }
  if (end == 0) {
    return false;
  }
  out->target = line.substr(0, end);
  line.remove_prefix(end);
  if (line == " HTTP/1.1") {
    out->is_http10 = false;
  } else if (line == " HTTP/1.0") {
    out->is_http10 = true;
  } else {
    return false;
  }
  return true;
}

struct Target {
  std::string_view id;
  uint8_t leaf;  // its number in Leaves(route)
  std::string_view query;
};

bool ReadTarget(std::string_view target, Route route, Target* out) {
  if (target.substr(0, kPathPrefix.size()) != kPathPrefix) {
    return false;
  }
  target.remove_prefix(kPathPrefix.size());
  const size_t question = target.find('?');
  const std::string_view path = target.substr(0, question);
  const size_t slash = path.find('/');
  if (slash == 0 || slash == std::string_view::npos) {
    return false;
  }
  const std::span<const std::string_view> leaves = Leaves(route);
  const auto leaf = std::find(leaves.begin(), leaves.end(), path.substr(slash + 1));
  if (leaf == leaves.end()) {
    return false;
  }
  out->leaf = static_cast<uint8_t>(leaf - leaves.begin());
  out->id = path.substr(0, slash);
  out->query =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  return true;
}

// The characters of a host and a port in a target: those that Node's parser accepts, except `@`,
// since user information is not allowed here (RFC 9110 §4.2.4).
constexpr std::array<uint8_t, 256> MakeAuthorityTable() {
  std::array<uint8_t, 256> table = MakeTokenTable();
  for (const char c : std::string_view("#^`|")) {
    table[static_cast<uint8_t>(c)] = 0;
  }
  for (const char c : std::string_view("()[]:;=,")) {
    table[static_cast<uint8_t>(c)] = 1;
  }
  return table;
}
constexpr std::array<uint8_t, 256> kAuthority = MakeAuthorityTable();

// Removes scheme and authority from a target in absolute form (RFC 9112 §3.2.2), so that it begins
// with its path, if it has one. Returns false when the target is in none of the forms that name a
// resource here.
bool ToOriginForm(std::string_view* target) {
  if ((*target)[0] == '*') {
    return true;
  }
  const size_t colon = target->find("://");
  const std::string_view scheme = target->substr(0, colon);
  if (colon == std::string_view::npos ||
      !(EqualsIgnoringCase(scheme, "http") || EqualsIgnoringCase(scheme, "https"))) {
    return false;
  }
  target->remove_prefix(colon + 3);
  size_t authority = 0;
  while (authority < target->size() && kAuthority[static_cast<uint8_t>((*target)[authority])]) {
    ++authority;
  }
  target->remove_prefix(authority);
  return authority > 0 && (target->empty() || target->front() == '/' || target->front() == '?');
}

// Finds the first parameter named cursor.
bool FindCursor(std::string_view query, std::string_view* cursor) {
  constexpr std::string_view kName = "cursor=";
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view parameter = query.substr(0, end);
    if (parameter.substr(0, kName.size()) == kName) {
      *cursor = parameter.substr(kName.size());
      return true;
    }
    if (end == std::string_view::npos) {
      break;
    }
    query.remove_prefix(end + 1);
  }
  return false;
}

// Fills slot, generation and token. The slot is kNoSlot unless path and token name one desktop.
void ReadIdentity(std::string_view id, std::string_view token, Request* request) {
  constexpr size_t kTokenDigits = 32;
  request->slot = kNoSlot;
  request->generation = 0;
  memset(request->token, 0, sizeof request->token);
  if (token.size() != id.size() + 1 + kTokenDigits || token[id.size()] != '.') {
    return;
  }
  if (token.substr(0, id.size()) != id) {
    return;
  }
  uint32_t slot;
  uint32_t generation;
  if (!ReadId(id, &slot, &generation)) {
    return;
  }
  uint32_t words[4];
  for (size_t i = 0; i < 4; ++i) {
    if (!ReadHexWord(token.data() + id.size() + 1 + i * 8, &words[i])) {
      return;
    }
  }
  request->slot = slot;
  request->generation = generation;
  memcpy(request->token, words, sizeof words);
}

// A request begins with a letter of its method, or with an empty line.
bool MayBeginRequest(uint8_t first) {
  return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z') || first == '\r';
}

enum class HeadEnd : uint8_t { kFound, kNotYet, kBad };

// Looks for the empty line that ends the head, from `place` on.
HeadEnd FindHeadEnd(const uint8_t* bytes, uint32_t size, ParserPlace* place, uint32_t* head_bytes) {
  while (place->line < size) {
    const void* found = memchr(bytes + place->line, '\n', size - place->line);
    if (found == nullptr) {
      break;
    }
    const uint32_t newline = static_cast<uint32_t>(static_cast<const uint8_t*>(found) - bytes);
    if (newline == place->line || bytes[newline - 1] != '\r') {
      return HeadEnd::kBad;
    }
    const bool is_empty = newline == place->line + 1;
    const bool is_before_request = place->line == place->start;
    place->line = newline + 1;
    if (!is_empty) {
      continue;
    }
    if (!is_before_request) {
      *head_bytes = newline + 1;
      return HeadEnd::kFound;
    }
    place->start = newline + 1;
    if (place->start > kEmptyLinesBytesMax) {
      return HeadEnd::kBad;
    }
  }
  return HeadEnd::kNotYet;
}

// Returns whether the rest of a request line, from its leaf on, may become one for this leaf.
bool MayBecomeLeaf(std::string_view text, std::string_view leaf) {
  if (text.size() <= leaf.size()) {
    return leaf.substr(0, text.size()) == text;
  }
  return text.substr(0, leaf.size()) == leaf &&
         (text[leaf.size()] == ' ' || text[leaf.size()] == '?');
}

// Finds the head. Returns what the request is instead while there is none.
std::optional<Parsed> FindHead(const uint8_t* bytes, uint32_t size, ParserPlace* place,
                               uint32_t* head_bytes) {
  switch (FindHeadEnd(bytes, size, place, head_bytes)) {
    case HeadEnd::kBad:
      return Parsed::kMalformed;
    case HeadEnd::kNotYet:
      if (size > kHeadBytesMax) {
        return Parsed::kHeadTooLarge;
      }
      // Bytes that can't begin a method are not HTTP. Refuse them now: a TLS client would
      // otherwise wait until its deadline.
      return size > place->start && !MayBeginRequest(bytes[place->start]) ? Parsed::kMalformed
                                                                          : Parsed::kPartial;
    case HeadEnd::kFound:
      break;
  }
  if (*head_bytes > kHeadBytesMax) {
    return Parsed::kHeadTooLarge;
  }
  return std::nullopt;
}

// Reads the request line and the headers, each with its end. Returns what the request is instead
// when they are not valid.
std::optional<Parsed> ReadHead(std::string_view lines, RequestLine* line, Headers* headers) {
  size_t line_end = lines.find("\r\n");
  if (!ReadRequestLine(lines.substr(0, line_end), line)) {
    return Parsed::kMalformed;
  }
  lines.remove_prefix(line_end + 2);
  uint32_t headers_count = 0;
  while (!lines.empty()) {
    ++headers_count;
    line_end =
        static_cast<size_t>(static_cast<const char*>(memchr(lines.data(), '\n', lines.size())) -
                            lines.data()) -
        1;
    if (!ReadHeader(lines.substr(0, line_end), headers)) {
      return Parsed::kMalformed;
    }
    lines.remove_prefix(line_end + 2);
  }
  if (headers_count > kHeadersMax) {
    return Parsed::kHeadTooLarge;
  }
  if (headers->hosts > 1 || (headers->hosts == 0 && !line->is_http10)) {
    return Parsed::kMalformed;
  }
  // A proxy on the way may have looked at the other one (RFC 9110 §5.3: it is not a list).
  if (headers->authorizations > 1) {
    return Parsed::kMalformed;
  }
  if (headers->has_transfer_encoding && (headers->has_length || line->is_http10)) {
    return Parsed::kMalformed;
  }
  return std::nullopt;
}

// Reads what is in the target and the headers of a whole poll, crossing, saying or stage.
Parsed ReadHot(const Target& target, const Headers& headers, Route route, Request* request) {
  ReadIdentity(target.id, headers.token, request);
  if (route == Route::kCrossings) {
    return Parsed::kCrossing;
  }
  std::string_view cursor;
  if (FindCursor(target.query, &cursor)) {
    if (!ReadCursor(cursor, &request->epoch, &request->seq)) {
      return Parsed::kBadCursor;
    }
    request->has_cursor = true;
  }
  return Parsed::kPoll;
}

}  // namespace

Parsed ParseRequest(const uint8_t* bytes, uint32_t size, Route route, ParserPlace* place,
                    Request* request) {
  request->expects_continue = false;
  if (size < place->needed) {
    return Parsed::kPartial;
  }
  if (place->needed != 0) {
    place->line = place->start;  // the request is whole now: parse it from its beginning
  }
  uint32_t head_bytes = 0;
  if (const auto instead = FindHead(bytes, size, place, &head_bytes)) {
    return *instead;
  }
  const std::string_view lines(reinterpret_cast<const char*>(bytes) + place->start,
                               head_bytes - 2 - place->start);
  RequestLine line;
  Headers headers;
  if (const auto instead = ReadHead(lines, &line, &headers)) {
    return *instead;
  }

  request->is_http10 = line.is_http10;
  request->keep_alive = !headers.says_close && (!line.is_http10 || headers.says_keep_alive);
  request->has_cursor = false;
  request->is_head = line.method == "HEAD ";
  request->is_options = line.method == "OPTIONS ";
  request->has_body = headers.has_transfer_encoding || headers.content_length > 0;
  request->bytes = head_bytes;
  Target target;
  if (line.target[0] != '/' && !ToOriginForm(&line.target)) {
    return Parsed::kMalformed;
  }
  request->is_known_path = ReadTarget(line.target, route, &target);
  if (!request->is_known_path || line.method != Method(route)) {
    // A tunnel is not for an origin server, whatever its target.
    return line.method == "CONNECT " ? Parsed::kMalformed : Parsed::kOther;
  }

  // It is a hot request. Without Content-Length it has no body (RFC 9112 §6.3).
  if (headers.has_transfer_encoding) {
    return Parsed::kChunked;
  }
  request->post = route == Route::kEvents ? Post::kCrossing : static_cast<Post>(target.leaf);
  if (headers.content_length > (request->post == Post::kStage ? kStageBytesMax : kBodyBytesMax)) {
    return Parsed::kTooLarge;
  }
  request->body_start = head_bytes;
  request->body_length = static_cast<uint32_t>(headers.content_length);
  request->bytes = head_bytes + request->body_length;
  if (size < request->bytes) {
    place->needed = request->bytes;
    request->expects_continue = headers.expects_continue && !line.is_http10;
    return Parsed::kPartial;
  }
  return ReadHot(target, headers, route, request);
}

bool MayBecomeHot(const uint8_t* bytes, uint32_t size, Route route) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  while (!text.empty() && (text[0] == '\r' || text[0] == '\n')) {
    text.remove_prefix(1);
  }
  const std::string_view method = Method(route);
  if (text.size() <= method.size()) {
    return method.substr(0, text.size()) == text;
  }
  if (text.substr(0, method.size()) != method) {
    return false;
  }
  text.remove_prefix(method.size());
  if ((text[0] | 0x20) == 'h') {
    return true;  // a target in absolute form, as far as it is known
  }
  if (text.size() <= kPathPrefix.size()) {
    return kPathPrefix.substr(0, text.size()) == text;
  }
  if (text.substr(0, kPathPrefix.size()) != kPathPrefix) {
    return false;
  }
  text.remove_prefix(kPathPrefix.size());
  const size_t slash = text.find_first_of("/ ?\r\n");
  if (slash == std::string_view::npos) {
    return true;
  }
  if (text[slash] != '/') {
    return false;
  }
  text.remove_prefix(slash + 1);
  const std::span<const std::string_view> leaves = Leaves(route);
  return std::any_of(leaves.begin(), leaves.end(),
                     [text](std::string_view leaf) { return MayBecomeLeaf(text, leaf); });
}

}  // namespace sprites
