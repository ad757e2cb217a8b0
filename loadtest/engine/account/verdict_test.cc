#include "account/verdict.h"

#include <doctest/doctest.h>

#include "net/problem.h"

namespace swarm {
namespace {

HttpResponse Response(int status, std::string_view body) {
  HttpResponse response;
  response.status = status;
  response.body = body;
  return response;
}

}  // namespace

TEST_CASE("verdict: a 202 names the receiver, or nobody") {
  const Verdict named = ReadVerdict(Response(202, R"({"to":{"desktop":"1a-3f","name":"Carol"}})"));
  CHECK(named.kind == Verdict::Kind::kAccepted);
  CHECK(named.valid);
  CHECK_EQ(named.receiver, FingerprintOf("1a-3f"));
  const Verdict unnamed = ReadVerdict(Response(202, R"({"to":null})"));
  CHECK(unnamed.valid);
  CHECK_EQ(unnamed.receiver, kNoFingerprint);
  CHECK(!ReadVerdict(Response(202, "lorem")).valid);
}

TEST_CASE("verdict: a problem has its code, and any other status is unexpected") {
  const Verdict refused = ReadVerdict(Response(503, R"({"code":"mailbox-full","status":503})"));
  CHECK(refused.kind == Verdict::Kind::kRefused);
  CHECK_EQ(kProblemCodes[refused.problem], "mailbox-full");
  CHECK(ReadVerdict(Response(200, "{}")).kind == Verdict::Kind::kUnexpected);
}

TEST_CASE("verdict: a message has the number of its throw, in any order of members") {
  for (const char* const text : {R"({"crossing":17,"to":{"desktop":"1a-3f","name":"Carol"}})",
                                 R"({"to":{"name":"Carol","desktop":"1a-3f"},"crossing":17})"}) {
    const Verdict verdict = ReadVerdictMessage(text);
    CHECK(verdict.valid);
    CHECK(verdict.kind == Verdict::Kind::kAccepted);
    CHECK_EQ(verdict.number, 17U);
    CHECK_EQ(verdict.receiver, FingerprintOf("1a-3f"));
  }
  const Verdict refused =
      ReadVerdictMessage(R"({"crossing":18,"problem":{"status":429,"code":"too-fast"}})");
  CHECK(refused.valid);
  CHECK(refused.kind == Verdict::Kind::kRefused);
  CHECK_EQ(refused.number, 18U);
  CHECK_EQ(kProblemCodes[refused.problem], "too-fast");
}

TEST_CASE("verdict: of a saying it says how many others hear it, if the relay still knows") {
  CHECK_EQ(ReadVerdict(Response(202, R"({"heard":4})")).hearers, 4U);
  CHECK_FALSE(ReadVerdict(Response(202, R"({"heard":null})")).hearers.has_value());
  const Verdict message = ReadVerdictMessage(R"({"saying":3,"heard":0})");
  CHECK(message.valid);
  CHECK(message.kind == Verdict::Kind::kAccepted);
  CHECK_EQ(message.number, 3U);
  CHECK_EQ(message.hearers, 0U);
  const Verdict refused = ReadVerdictMessage(R"({"saying":4,"problem":{"code":"too-fast"}})");
  CHECK(refused.valid);
  CHECK(refused.kind == Verdict::Kind::kRefused);
  CHECK_EQ(refused.number, 4U);
}

TEST_CASE("verdict: a message without a number or a decision is not valid") {
  for (const char* const text :
       {R"({"crossing":null,"problem":{"code":"malformed"}})", R"({"crossing":17})",
        R"({"to":null})", R"({"crossing":-1,"to":null})", R"({"crossing":17,"to":)", "", "[]",
        R"("crossing")"}) {
    CAPTURE(text);
    CHECK(!ReadVerdictMessage(text).valid);
  }
}

}  // namespace swarm
