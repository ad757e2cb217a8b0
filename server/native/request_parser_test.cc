#include "request_parser.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "check.h"

namespace sprites {
namespace {

const std::string kToken = "1a2b-3f.00112233445566778899aabbccddeeff";
const std::string kHost = "Host: relay\r\n";
const std::string kWho = kHost + "Authorization: Bearer " + kToken + "\r\n";

std::string Poll(const std::string& query = "?cursor=6a1f03c2-81",
                 const std::string& headers = kWho) {
  return "GET /v1/desktops/1a2b-3f/events" + query + " HTTP/1.1\r\n" + headers + "\r\n";
}

std::string Bearer(const std::string& token) {
  return kHost + "Authorization: Bearer " + token + "\r\n";
}

std::string Crossing(const std::string& body, const std::string& headers = kWho) {
  return "POST /v1/desktops/1a2b-3f/crossings HTTP/1.1\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Memory that ends at an unreadable page: one byte too far is a fault.
class Cliff {
 public:
  Cliff() {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    memory_ = static_cast<uint8_t*>(
        mmap(nullptr, kPages * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT(memory_ != MAP_FAILED);
    EXPECT(mprotect(memory_ + (kPages - 1) * page_, page_, PROT_NONE) == 0);
  }
  ~Cliff() { munmap(memory_, kPages * page_); }
  Cliff(const Cliff&) = delete;
  Cliff& operator=(const Cliff&) = delete;
  const uint8_t* Lay(const char* bytes, size_t size) {
    uint8_t* at = memory_ + (kPages - 1) * page_ - size;
    memcpy(at, bytes, size);
    return at;
  }

 private:
  static constexpr size_t kPages = 5;
  size_t page_;
  uint8_t* memory_;
};

Cliff& TheCliff() {
  static Cliff cliff;
  return cliff;
}

struct Outcome {
  Parsed parsed;
  Request request;
};

Outcome Whole(const std::string& bytes, Route route) {
  Outcome outcome = {};
  ParserPlace place = {};
  outcome.parsed =
      ParseRequest(TheCliff().Lay(bytes.data(), bytes.size()), static_cast<uint32_t>(bytes.size()),
                   route, &place, &outcome.request);
  return outcome;
}

Parsed Verdict(const std::string& bytes, Route route = Route::kEvents) {
  return Whole(bytes, route).parsed;
}

struct Named {
  const char* what;
  std::string bytes;
  Route route;
  Parsed parsed;
};

const std::vector<Named>& Table() {
  static const std::vector<Named> table = {
      {"a poll", Poll(), Route::kEvents, Parsed::kPoll},
      {"a poll without cursor", Poll(""), Route::kEvents, Parsed::kPoll},
      {"a poll with other parameters", Poll("?a=b&cursor=00000000-0&c"), Route::kEvents,
       Parsed::kPoll},
      {"a poll without token", Poll("", kHost), Route::kEvents, Parsed::kPoll},
      {"a poll of HTTP/1.0 without Host", "GET /v1/desktops/1-1/events HTTP/1.0\r\n\r\n",
       Route::kEvents, Parsed::kPoll},
      {"an empty line before", "\r\n" + Poll(), Route::kEvents, Parsed::kPoll},
      {"a poll with a body",
       "GET /v1/desktops/1-1/events HTTP/1.1\r\nHost:\r\nContent-Length: 2\r\n\r\n{}",
       Route::kEvents, Parsed::kPoll},
      {"a bad cursor", Poll("?cursor=6a1f03c2-01"), Route::kEvents, Parsed::kBadCursor},
      {"an empty cursor", Poll("?cursor="), Route::kEvents, Parsed::kBadCursor},
      {"a crossing", Crossing("{\"crossing\":1}"), Route::kCrossings, Parsed::kCrossing},
      {"an empty crossing", Crossing(""), Route::kCrossings, Parsed::kCrossing},
      {"the largest crossing", Crossing(std::string(1024, 'x')), Route::kCrossings,
       Parsed::kCrossing},
      {"a crossing without length", "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kCrossings, Parsed::kCrossing},
      {"a crossing too large",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n",
       Route::kCrossings, Parsed::kTooLarge},
      {"a length beyond all numbers",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nContent-Length: "
       "99999999999999999999999\r\n\r\n",
       Route::kCrossings, Parsed::kTooLarge},
      {"a chunked crossing",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
       Route::kCrossings, Parsed::kChunked},
      {"a crossing at the events port", Crossing("{}"), Route::kEvents, Parsed::kOther},
      {"another method", "PUT /v1/desktops/1-1/events HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kOther},
      {"another path", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents, Parsed::kOther},
      {"a path too long", "GET /v1/desktops/1-1/events/ HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kEvents, Parsed::kOther},
      {"no id", "GET /v1/desktops//events HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kOther},
      {"no Host", "GET /v1/desktops/1-1/events HTTP/1.1\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"two Hosts", Poll("", kHost + kHost), Route::kEvents, Parsed::kMalformed},
      {"a bare LF", "GET /v1/desktops/1-1/events HTTP/1.1\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"a bare LF at the end", "GET /v1/desktops/1-1/events HTTP/1.1\r\nHost: a\r\n\n",
       Route::kEvents, Parsed::kMalformed},
      {"a bare CR", "GET /v1/desktops/1-1/events HTTP/1.1\r\nHost: a\rb\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"two lengths",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nContent-Length: "
       "2\r\nContent-Length: 2\r\n\r\n{}",
       Route::kCrossings, Parsed::kMalformed},
      {"a list of lengths",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\n\r\n{}",
       Route::kCrossings, Parsed::kMalformed},
      {"a signed length",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}",
       Route::kCrossings, Parsed::kMalformed},
      {"an empty length",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
       Route::kCrossings, Parsed::kMalformed},
      {"length and chunks",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
       "chunked\r\nContent-Length: 2\r\n\r\n",
       Route::kCrossings, Parsed::kMalformed},
      {"a fold", "GET /v1/desktops/1-1/events HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
       Route::kEvents, Parsed::kMalformed},
      {"a space before the colon", "GET /v1/desktops/1-1/events HTTP/1.1\r\nHost : a\r\n\r\n",
       Route::kEvents, Parsed::kMalformed},
      {"a header without colon", "GET /v1/desktops/1-1/events HTTP/1.1\r\nHost\r\n\r\n",
       Route::kEvents, Parsed::kMalformed},
      {"a header without name", "GET /v1/desktops/1-1/events HTTP/1.1\r\n: a\r\n\r\n",
       Route::kEvents, Parsed::kMalformed},
      {"two spaces", "GET  /v1/desktops/1-1/events HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"another version", "GET /v1/desktops/1-1/events HTTP/2.0\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"no version", "GET /v1/desktops/1-1/events\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"a rubout", Poll("", kHost + "X: \x7f\r\n"), Route::kEvents, Parsed::kMalformed},
      {"a head too large", Poll("", kHost + "X: " + std::string(9000, 'x') + "\r\n"),
       Route::kEvents, Parsed::kHeadTooLarge},
  };
  return table;
}

CASE("gives each request of the table its verdict") {
  for (const Named& each : Table()) {
    if (Verdict(each.bytes, each.route) != each.parsed) {
      fprintf(stderr, "%s: %d\n", each.what, static_cast<int>(Verdict(each.bytes, each.route)));
      EXPECT(false);
    }
  }
}

CASE("asks for more at every truncation of a whole request, and never reads past the end") {
  for (const Named& each : Table()) {
    const Outcome whole = Whole(each.bytes, each.route);
    for (size_t size = 0; size < each.bytes.size(); ++size) {
      const Parsed parsed = Verdict(each.bytes.substr(0, size), each.route);
      MayBecomeHot(TheCliff().Lay(each.bytes.data(), size), static_cast<uint32_t>(size),
                   each.route);
      // A refusal may come early, but only the one that the whole gets.
      if (parsed != Parsed::kPartial) {
        EXPECT(parsed == whole.parsed);
      }
      const bool is_hot = whole.parsed == Parsed::kPoll || whole.parsed == Parsed::kCrossing;
      if (is_hot) {
        EXPECT(parsed == Parsed::kPartial);
      }
    }
  }
}

CASE("comes to the same verdict however the bytes are split") {
  for (const Named& each : Table()) {
    const Outcome whole = Whole(each.bytes, each.route);
    for (size_t step : {size_t{1}, size_t{2}, size_t{7}, size_t{100}}) {
      ParserPlace place = {};
      Outcome split = {Parsed::kPartial, {}};
      for (size_t size = 0; split.parsed == Parsed::kPartial && size < each.bytes.size();) {
        size = std::min(size + step, each.bytes.size());
        split.parsed =
            ParseRequest(TheCliff().Lay(each.bytes.data(), size), static_cast<uint32_t>(size),
                         each.route, &place, &split.request);
      }
      EXPECT(split.parsed == whole.parsed);
      if (whole.parsed == Parsed::kPoll || whole.parsed == Parsed::kCrossing) {
        EXPECT(split.request.slot == whole.request.slot);
        EXPECT(split.request.bytes == whole.request.bytes);
        EXPECT(split.request.body_start == whole.request.body_start);
        EXPECT(split.request.body_length == whole.request.body_length);
      }
    }
  }
}

CASE("says never only of what can't become hot") {
  for (const Named& each : Table()) {
    const bool is_hot = each.parsed == Parsed::kPoll || each.parsed == Parsed::kCrossing;
    for (size_t size = 0; is_hot && size <= each.bytes.size(); ++size) {
      EXPECT(MayBecomeHot(TheCliff().Lay(each.bytes.data(), size), static_cast<uint32_t>(size),
                          each.route));
    }
  }
  for (const std::string other :
       {"G", "GE", "GET /v1/desktops/1-1/events", "POST /v1/desktops HTTP/1.1\r\n",
        "POST /v1/desktops/1-1/crossingsX", "POST /v1/desktops/1-1 HTTP/1.1\r\n", "PUT /",
        "POST /v2"}) {
    EXPECT(!MayBecomeHot(TheCliff().Lay(other.data(), other.size()),
                         static_cast<uint32_t>(other.size()), Route::kCrossings));
  }
}

CASE("reads desktop, token and cursor") {
  const Outcome poll = Whole(Poll(), Route::kEvents);
  EXPECT(poll.request.slot == 0x1a2b && poll.request.generation == 0x3f);
  EXPECT(poll.request.token[0] == 0x00112233 && poll.request.token[3] == 0xccddeeff);
  EXPECT(poll.request.has_cursor && poll.request.epoch == 0x6a1f03c2 && poll.request.seq == 81);
  const Outcome last = Whole(Poll("?cursor=ffffffff-4294967295"), Route::kEvents);
  EXPECT(last.request.epoch == 0xffffffff && last.request.seq == 0xffffffff);
  EXPECT(Verdict(Poll("?cursor=ffffffff-4294967296")) == Parsed::kBadCursor);
  EXPECT(Verdict(Poll("?cursor=ffffffff-99999999999")) == Parsed::kBadCursor);
}

CASE("gives no slot unless path and token are of the same desktop and of their form") {
  for (const std::string token : {"1a2b-40.00112233445566778899aabbccddeeff", "1a2b-3f.0011",
                                  "1a2b-3f", "1A2B-3F.00112233445566778899aabbccddeeff", "", "x"}) {
    EXPECT(Whole(Poll("", Bearer(token)), Route::kEvents).request.slot == kNoSlot);
  }
  for (const std::string id :
       {"01-1", "1-01", "1-0", "1000000-1", "1-100000000", "-1", "1-", "1"}) {
    std::string bytes = "GET /v1/desktops/";
    bytes.append(id).append("/events HTTP/1.1\r\n");
    bytes.append(Bearer(id + ".00112233445566778899aabbccddeeff")).append("\r\n");
    const Outcome outcome = Whole(bytes, Route::kEvents);
    EXPECT(outcome.parsed == Parsed::kPoll && outcome.request.slot == kNoSlot);
  }
}

CASE("keeps a connection of HTTP/1.1 unless told, and one of HTTP/1.0 only when told") {
  const auto keeps = [](const std::string& version, const std::string& headers) {
    return Whole(
               "GET /v1/desktops/1-1/events HTTP/" + version + "\r\nHost: a\r\n" + headers + "\r\n",
               Route::kEvents)
        .request.keep_alive;
  };
  EXPECT(keeps("1.1", ""));
  EXPECT(!keeps("1.1", "Connection: close\r\n"));
  EXPECT(!keeps("1.1", "connection: upgrade , CLOSE\r\n"));
  EXPECT(!keeps("1.0", ""));
  EXPECT(keeps("1.0", "Connection: Keep-Alive\r\n"));
}

CASE("tells who waits for 100 Continue before the body has come, and not after") {
  const std::string headers = kWho + "Expect: 100-continue\r\n";
  const std::string bytes = Crossing("{}", headers);
  const Outcome waiting = Whole(bytes.substr(0, bytes.size() - 2), Route::kCrossings);
  EXPECT(waiting.parsed == Parsed::kPartial && waiting.request.expects_continue);
  EXPECT(Verdict(bytes, Route::kCrossings) == Parsed::kCrossing);
}

CASE("takes a head of exactly the limit and none above it") {
  const std::string empty = Poll("", kWho + "X: \r\n");
  const std::string full(kHeadBytesMax - empty.size(), 'x');
  EXPECT(Verdict(Poll("", kWho + "X: " + full + "\r\n")) == Parsed::kPoll);
  EXPECT(Verdict(Poll("", kWho + "X: " + full + "x\r\n")) == Parsed::kHeadTooLarge);
}

CASE("leaves what stands behind a request alone") {
  const std::string first = Crossing("{\"n\":1}");
  const Outcome outcome = Whole(first + "garbage\n\n", Route::kCrossings);
  EXPECT(outcome.parsed == Parsed::kCrossing && outcome.request.bytes == first.size());
}

}  // namespace
}  // namespace sprites

int main() { return sprites::check::RunAll("request_parser"); }
