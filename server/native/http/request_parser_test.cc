#include "http/request_parser.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace sprites {
namespace {

const std::string kToken = "1a2b-3f.00112233445566778899aabbccddeeff";
const std::string kHost = "Host: relay\r\n";
const std::string kAuthorized = kHost + "Authorization: Bearer " + kToken + "\r\n";

std::string Poll(const std::string& query = "?cursor=6a1f03c2-81",
                 const std::string& headers = kAuthorized) {
  return "GET /v1/desktops/1a2b-3f/events" + query + " HTTP/1.1\r\n" + headers + "\r\n";
}

std::string Bearer(const std::string& token) {
  return kHost + "Authorization: Bearer " + token + "\r\n";
}

std::string Crossing(const std::string& body, const std::string& headers = kAuthorized) {
  return "POST /v1/desktops/1a2b-3f/crossings HTTP/1.1\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string PostTo(const std::string& leaf, const std::string& body) {
  return "POST /v1/desktops/1a2b-3f/" + leaf + " HTTP/1.1\r\n" + kAuthorized +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
std::string Saying(const std::string& body) { return PostTo("sayings", body); }
std::string Stage(const std::string& body) { return PostTo("stage", body); }

// Memory that ends at an unreadable page: reading one byte past the end crashes.
class GuardedMemory {
 public:
  GuardedMemory() {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    memory_ = static_cast<uint8_t*>(
        mmap(nullptr, kPages * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory_ != MAP_FAILED);
    REQUIRE(mprotect(memory_ + (kPages - 1) * page_, page_, PROT_NONE) == 0);
  }
  ~GuardedMemory() { munmap(memory_, kPages * page_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  // Copies the bytes to the end of the memory.
  const uint8_t* Place(const char* bytes, size_t size) {
    uint8_t* at = memory_ + (kPages - 1) * page_ - size;
    memcpy(at, bytes, size);
    return at;
  }

 private:
  static constexpr size_t kPages = 5;
  size_t page_;
  uint8_t* memory_;
};

GuardedMemory& Guarded() {
  static GuardedMemory memory;
  return memory;
}

struct Outcome {
  Parsed parsed;
  Request request;
};

Outcome Whole(const std::string& bytes, Route route) {
  Outcome outcome = {};
  ParserPlace place = {};
  outcome.parsed =
      ParseRequest(Guarded().Place(bytes.data(), bytes.size()), static_cast<uint32_t>(bytes.size()),
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

const std::vector<Named>& Requests() {
  static const std::vector<Named> requests = {
      {"a poll", Poll(), Route::kEvents, Parsed::kPoll},
      {"a poll without cursor", Poll(""), Route::kEvents, Parsed::kPoll},
      {"a poll with other parameters", Poll("?a=b&cursor=00000000-0&c"), Route::kEvents,
       Parsed::kPoll},
      {"a poll without token", Poll("", kHost), Route::kEvents, Parsed::kPoll},
      {"a poll of HTTP/1.0 without Host", "GET /v1/desktops/1-1/events HTTP/1.0\r\n\r\n",
       Route::kEvents, Parsed::kPoll},
      {"a poll after an empty line", "\r\n" + Poll(), Route::kEvents, Parsed::kPoll},
      {"a poll with a body",
       "GET /v1/desktops/1-1/events HTTP/1.1\r\nHost:\r\nContent-Length: 2\r\n\r\n{}",
       Route::kEvents, Parsed::kPoll},
      {"a bad cursor", Poll("?cursor=6a1f03c2-01"), Route::kEvents, Parsed::kBadCursor},
      {"an empty cursor", Poll("?cursor="), Route::kEvents, Parsed::kBadCursor},
      {"a crossing", Crossing("{\"crossing\":1}"), Route::kCrossings, Parsed::kCrossing},
      {"a saying", Saying("{\"saying\":1}"), Route::kCrossings, Parsed::kCrossing},
      {"a saying on the events port", Saying(""), Route::kEvents, Parsed::kOther},
      {"a path that only begins like a saying's",
       "POST /v1/desktops/1-1/sayingsX HTTP/1.1\r\nHost: a\r\n\r\n", Route::kCrossings,
       Parsed::kOther},
      {"a stage", Stage("{}"), Route::kCrossings, Parsed::kCrossing},
      {"the largest stage", Stage(std::string(2048, 'x')), Route::kCrossings, Parsed::kCrossing},
      {"a stage that is too large",
       "POST /v1/desktops/1-1/stage HTTP/1.1\r\nHost: a\r\nContent-Length: 2049\r\n\r\n",
       Route::kCrossings, Parsed::kTooLarge},
      {"a saying that is too large",
       "POST /v1/desktops/1-1/sayings HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n",
       Route::kCrossings, Parsed::kTooLarge},
      {"a stage on the events port", Stage("{}"), Route::kEvents, Parsed::kOther},
      {"the switch of the stage", "PUT /v1/desktops/1-1/stage HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kCrossings, Parsed::kOther},
      {"an empty leaf", "POST /v1/desktops/1-1/ HTTP/1.1\r\nHost: a\r\n\r\n", Route::kCrossings,
       Parsed::kOther},
      {"an empty crossing", Crossing(""), Route::kCrossings, Parsed::kCrossing},
      {"the largest crossing", Crossing(std::string(1024, 'x')), Route::kCrossings,
       Parsed::kCrossing},
      {"a crossing without length", "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kCrossings, Parsed::kCrossing},
      {"a crossing that is too large",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n",
       Route::kCrossings, Parsed::kTooLarge},
      {"the largest length that 64 bits hold",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nContent-Length: "
       "18446744073709551615\r\n\r\n",
       Route::kCrossings, Parsed::kTooLarge},
      {"a chunked crossing",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
       Route::kCrossings, Parsed::kChunked},
      {"a crossing at the events port", Crossing("{}"), Route::kEvents, Parsed::kOther},
      {"another method", "PUT /v1/desktops/1-1/events HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kOther},
      {"another path", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents, Parsed::kOther},
      {"a path that is too long", "GET /v1/desktops/1-1/events/ HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kEvents, Parsed::kOther},
      {"no id", "GET /v1/desktops//events HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kOther},
      {"no Host", "GET /v1/desktops/1-1/events HTTP/1.1\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"an absolute target", "GET http://relay/v1/desktops/1-1/events HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kEvents, Parsed::kPoll},
      {"an absolute target with port, in capitals",
       "POST HTTPS://[::1]:8080/v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kCrossings, Parsed::kCrossing},
      {"an absolute target without a path", "GET http://relay HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kEvents, Parsed::kOther},
      {"an absolute target with a query only", "GET http://relay?x HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kEvents, Parsed::kOther},
      {"the target *", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents, Parsed::kOther},
      {"an absolute target without a host", "GET http:// HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kEvents, Parsed::kMalformed},
      {"an absolute target with a user", "GET http://a@relay/ HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kEvents, Parsed::kMalformed},
      {"another scheme", "GET ftp://relay/ HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"a target that is only a name", "GET relay HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"a tunnel", "CONNECT relay:443 HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"a tunnel with a path", "CONNECT /v1/desktops/1-1/events HTTP/1.1\r\nHost: a\r\n\r\n",
       Route::kEvents, Parsed::kMalformed},
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
      {"a length that 64 bits can't hold",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nContent-Length: "
       "18446744073709551616\r\n\r\n",
       Route::kCrossings, Parsed::kMalformed},
      {"two tokens",
       "POST /v1/desktops/1-1/crossings HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "
       "a\r\nAuthorization: Bearer b\r\nContent-Length: 2\r\n\r\n{}",
       Route::kCrossings, Parsed::kMalformed},
      {"the same token twice, on another route",
       "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nauthorization: Bearer a\r\n\r\n",
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
      {"two spaces between the parts of the request line",
       "GET  /v1/desktops/1-1/events HTTP/1.1\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"another version", "GET /v1/desktops/1-1/events HTTP/2.0\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"no version", "GET /v1/desktops/1-1/events\r\nHost: a\r\n\r\n", Route::kEvents,
       Parsed::kMalformed},
      {"a DEL character", Poll("", kHost + "X: \x7f\r\n"), Route::kEvents, Parsed::kMalformed},
      {"a head that is too large", Poll("", kHost + "X: " + std::string(9000, 'x') + "\r\n"),
       Route::kEvents, Parsed::kHeadTooLarge},
  };
  return requests;
}

TEST_CASE("request parser › tells every kind of request apart") {
  for (const Named& each : Requests()) {
    CAPTURE(each.what);
    REQUIRE(Verdict(each.bytes, each.route) == each.parsed);
  }
}

TEST_CASE("request parser › asks for more at every truncation, and never reads past the end") {
  for (const Named& each : Requests()) {
    const Outcome whole = Whole(each.bytes, each.route);
    for (size_t size = 0; size < each.bytes.size(); ++size) {
      const Parsed parsed = Verdict(each.bytes.substr(0, size), each.route);
      MayBecomeHot(Guarded().Place(each.bytes.data(), size), static_cast<uint32_t>(size),
                   each.route);
      // A request may be refused early, but only as the whole request is.
      if (parsed != Parsed::kPartial) {
        REQUIRE(parsed == whole.parsed);
      }
      const bool is_hot = whole.parsed == Parsed::kPoll || whole.parsed == Parsed::kCrossing;
      if (is_hot) {
        REQUIRE(parsed == Parsed::kPartial);
      }
    }
  }
}

TEST_CASE("request parser › decides the same however the bytes are split") {
  for (const Named& each : Requests()) {
    const Outcome whole = Whole(each.bytes, each.route);
    for (size_t step : {size_t{1}, size_t{2}, size_t{7}, size_t{100}}) {
      ParserPlace place = {};
      Outcome split = {Parsed::kPartial, {}};
      for (size_t size = 0; split.parsed == Parsed::kPartial && size < each.bytes.size();) {
        size = std::min(size + step, each.bytes.size());
        split.parsed =
            ParseRequest(Guarded().Place(each.bytes.data(), size), static_cast<uint32_t>(size),
                         each.route, &place, &split.request);
      }
      REQUIRE(split.parsed == whole.parsed);
      if (whole.parsed == Parsed::kPoll || whole.parsed == Parsed::kCrossing) {
        REQUIRE(split.request.slot == whole.request.slot);
        REQUIRE((each.route == Route::kEvents ||
                 split.request.post ==
                     (each.bytes.find("/sayings ") != std::string::npos ? Post::kSaying
                      : each.bytes.find("/stage ") != std::string::npos ? Post::kStage
                                                                        : Post::kCrossing)));
        REQUIRE(split.request.bytes == whole.request.bytes);
        REQUIRE(split.request.body_start == whole.request.body_start);
        REQUIRE(split.request.body_length == whole.request.body_length);
      }
    }
  }
}

TEST_CASE("request parser › rules out only requests that can't become hot") {
  for (const Named& each : Requests()) {
    const bool is_hot = each.parsed == Parsed::kPoll || each.parsed == Parsed::kCrossing;
    for (size_t size = 0; is_hot && size <= each.bytes.size(); ++size) {
      REQUIRE(MayBecomeHot(Guarded().Place(each.bytes.data(), size), static_cast<uint32_t>(size),
                           each.route));
    }
  }
  for (const std::string other :
       {"G", "GE", "GET /v1/desktops/1-1/events", "POST /v1/desktops HTTP/1.1\r\n",
        "POST /v1/desktops/1-1/crossingsX", "POST /v1/desktops/1-1 HTTP/1.1\r\n", "PUT /",
        "POST /v2"}) {
    REQUIRE(!MayBecomeHot(Guarded().Place(other.data(), other.size()),
                          static_cast<uint32_t>(other.size()), Route::kCrossings));
  }
}

TEST_CASE("request parser › reads desktop, token and cursor") {
  const Outcome poll = Whole(Poll(), Route::kEvents);
  REQUIRE(poll.request.slot == 0x1a2b);
  REQUIRE(poll.request.generation == 0x3f);
  REQUIRE(poll.request.token[0] == 0x00112233);
  REQUIRE(poll.request.token[3] == 0xccddeeff);
  REQUIRE(poll.request.has_cursor);
  REQUIRE(poll.request.epoch == 0x6a1f03c2);
  REQUIRE(poll.request.seq == 81);
  const Outcome last = Whole(Poll("?cursor=ffffffff-4294967295"), Route::kEvents);
  REQUIRE(last.request.epoch == 0xffffffff);
  REQUIRE(last.request.seq == 0xffffffff);
  REQUIRE(Verdict(Poll("?cursor=ffffffff-4294967296")) == Parsed::kBadCursor);
  REQUIRE(Verdict(Poll("?cursor=ffffffff-99999999999")) == Parsed::kBadCursor);
}

TEST_CASE("request parser › finds a slot only if path and token are valid and name one desktop") {
  for (const std::string token : {"1a2b-40.00112233445566778899aabbccddeeff", "1a2b-3f.0011",
                                  "1a2b-3f", "1A2B-3F.00112233445566778899aabbccddeeff", "", "x"}) {
    REQUIRE(Whole(Poll("", Bearer(token)), Route::kEvents).request.slot == kNoSlot);
  }
  for (const std::string id :
       {"01-1", "1-01", "1-0", "1000000-1", "1-100000000", "-1", "1-", "1"}) {
    std::string bytes = "GET /v1/desktops/";
    bytes.append(id).append("/events HTTP/1.1\r\n");
    bytes.append(Bearer(id + ".00112233445566778899aabbccddeeff")).append("\r\n");
    const Outcome outcome = Whole(bytes, Route::kEvents);
    REQUIRE(outcome.parsed == Parsed::kPoll);
    REQUIRE(outcome.request.slot == kNoSlot);
  }
}

TEST_CASE("request parser › keeps HTTP/1.1 connections by default, and HTTP/1.0 ones on request") {
  const auto keeps = [](const std::string& version, const std::string& headers) {
    return Whole(
               "GET /v1/desktops/1-1/events HTTP/" + version + "\r\nHost: a\r\n" + headers + "\r\n",
               Route::kEvents)
        .request.keep_alive;
  };
  REQUIRE(keeps("1.1", ""));
  REQUIRE(!keeps("1.1", "Connection: close\r\n"));
  REQUIRE(!keeps("1.1", "connection: upgrade , CLOSE\r\n"));
  REQUIRE(!keeps("1.0", ""));
  REQUIRE(keeps("1.0", "Connection: Keep-Alive\r\n"));
}

TEST_CASE("request parser › reports Expect: 100-continue until the body has come") {
  const std::string headers = kAuthorized + "Expect: 100-continue\r\n";
  const std::string bytes = Crossing("{}", headers);
  const Outcome waiting = Whole(bytes.substr(0, bytes.size() - 2), Route::kCrossings);
  REQUIRE(waiting.parsed == Parsed::kPartial);
  REQUIRE(waiting.request.expects_continue);
  REQUIRE(Verdict(bytes, Route::kCrossings) == Parsed::kCrossing);
}

TEST_CASE("request parser › accepts a head of exactly the limit, and not one byte more") {
  const std::string empty = Poll("", kAuthorized + "X: \r\n");
  const std::string full(kHeadBytesMax - empty.size(), 'x');
  REQUIRE(Verdict(Poll("", kAuthorized + "X: " + full + "\r\n")) == Parsed::kPoll);
  REQUIRE(Verdict(Poll("", kAuthorized + "X: " + full + "x\r\n")) == Parsed::kHeadTooLarge);
}

TEST_CASE("request parser › accepts as many headers as the limit, and not one more") {
  const auto with_headers = [](uint32_t count) {
    std::string headers = kHost;
    for (uint32_t i = 1; i < count; ++i) {
      headers += "a:\r\n";
    }
    return Verdict(Poll("", headers));
  };
  REQUIRE(with_headers(kHeadersMax - 1) == Parsed::kPoll);
  REQUIRE(with_headers(kHeadersMax) == Parsed::kPoll);
  REQUIRE(with_headers(kHeadersMax + 1) == Parsed::kHeadTooLarge);
}

TEST_CASE("request parser › does not touch the bytes behind a request") {
  const std::string first = Crossing("{\"n\":1}");
  const Outcome outcome = Whole(first + "garbage\n\n", Route::kCrossings);
  REQUIRE(outcome.parsed == Parsed::kCrossing);
  REQUIRE(outcome.request.bytes == first.size());
}

}  // namespace
}  // namespace sprites
