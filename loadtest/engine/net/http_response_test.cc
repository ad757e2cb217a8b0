#include "net/http_response.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "plan/random.h"

namespace swarm {
namespace {

ParseResult Parse(std::string text, HttpResponse* response, std::string* body,
                  bool at_end = false) {
  const ParseResult result = ParseHttpResponse(text, at_end, response);
  *body = result == ParseResult::kDone ? std::string(response->body) : "";
  return result;
}

const std::vector<std::string>& WholeResponses() {
  static const std::vector<std::string> kResponses = {
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\nCONTENT-LENGTH:2\r\n\r\n{}",
      "HTTP/1.1 204 No Content\r\n\r\n",
      "HTTP/1.1 204\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: 1\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
  };
  return kResponses;
}

}  // namespace

TEST_CASE(
    "http response: parses status, length, Retry-After and whether the connection stays open") {
  HttpResponse response;
  std::string body;
  CHECK(
      Parse(
          "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nConnection: Close\r\nContent-Length: 2\r\n\r\n{}",
          &response, &body) == ParseResult::kDone);
  CHECK_EQ(response.status, 503);
  CHECK_EQ(response.retry_after_seconds, 7);
  CHECK(!response.keep_alive);
  CHECK_EQ(body, "{}");
  CHECK(Parse("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", &response, &body) ==
        ParseResult::kDone);
  CHECK(!response.keep_alive);
}

TEST_CASE("http response: joins chunks, and skips interim responses and trailers") {
  HttpResponse response;
  std::string body;
  for (const size_t i : {0U, 4U, 5U, 6U}) {
    CHECK(Parse(WholeResponses()[i], &response, &body) == ParseResult::kDone);
    CHECK_EQ(body, "hello");
    CHECK_EQ(response.consumed, WholeResponses()[i].size());
  }
}

TEST_CASE(
    "http response: every prefix of a response needs more, and each response is consumed once") {
  for (const std::string& whole : WholeResponses()) {
    for (size_t size = 0; size < whole.size(); ++size) {
      // A vector of exactly this size, so that a sanitizer finds reads after its end.
      std::vector<char> bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
      HttpResponse response;
      CHECK(ParseHttpResponse(bytes, false, &response) == ParseResult::kNeedMore);
    }
    HttpResponse response;
    std::string two = whole + whole;
    CHECK(ParseHttpResponse(two, false, &response) == ParseResult::kDone);
    CHECK_EQ(response.consumed, whole.size());
  }
}

TEST_CASE("http response: a body without a length ends where the connection ends") {
  HttpResponse response;
  std::string body;
  CHECK(Parse("HTTP/1.1 200 OK\r\n\r\nhel", &response, &body) == ParseResult::kNeedMore);
  CHECK(Parse("HTTP/1.1 200 OK\r\n\r\nhello", &response, &body, true) == ParseResult::kDone);
  CHECK_EQ(body, "hello");
  CHECK(!response.keep_alive);
}

TEST_CASE("http response: bytes that are not a response are bad") {
  for (const std::string_view text : {
           "hello\r\n\r\n",
           "HTTP/2.0 200 OK\r\n\r\n",
           "HTTP/1.1 20 OK\r\n\r\n",
           "HTTP/1.1 2000 OK\r\n\r\n",
           "HTTP/1.1 200 OK\n\n",
           "HTTP/1.1 101 Switching\r\n\r\n",
           "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
       }) {
    HttpResponse response;
    std::string body;
    CAPTURE(text);
    CHECK(Parse(std::string(text), &response, &body) == ParseResult::kBad);
  }
}

TEST_CASE("http response: a head or a body beyond its maximum is bad") {
  HttpResponse response;
  std::string body;
  CHECK(Parse("HTTP/1.1 200 OK\r\nX: " + std::string(kHeadBytesMax, 'x'), &response, &body) ==
        ParseResult::kBad);
  CHECK(Parse("HTTP/1.1 200 OK\r\n\r\n" + std::string(kBodyBytesMax + 1, 'x'), &response, &body) ==
        ParseResult::kBad);
}

TEST_CASE("http response: never reads outside the bytes, however they are damaged") {
  const uint64_t seed = 4711;
  Random random(seed);
  for (int i = 0; i < 200'000; ++i) {
    const std::string& whole = WholeResponses()[random.Next() % WholeResponses().size()];
    std::vector<char> bytes(whole.begin(), whole.end());
    for (uint64_t damage = random.Next() % 4; damage > 0; --damage) {
      bytes[random.Next() % bytes.size()] = static_cast<char>(random.Next());
    }
    bytes.resize(random.Next() % (bytes.size() + 1));
    HttpResponse response;
    if (ParseHttpResponse(bytes, random.Next() % 2 == 0, &response) == ParseResult::kDone) {
      CHECK(response.consumed <= bytes.size());
      CHECK(response.consumed > 0);
    }
  }
}

}  // namespace swarm
