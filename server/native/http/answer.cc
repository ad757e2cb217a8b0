#include "http/answer.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "io/record.h"
#include "wire/rules.h"

namespace sprites {
namespace {

constexpr std::string_view StatusLine(uint32_t status) {
  switch (status) {
    case 200:
      return "HTTP/1.1 200 OK\r\n";
    case 202:
      return "HTTP/1.1 202 Accepted\r\n";
    case 204:
      return "HTTP/1.1 204 No Content\r\n";
    case 400:
      return "HTTP/1.1 400 Bad Request\r\n";
    case 401:
      return "HTTP/1.1 401 Unauthorized\r\n";
    case 403:
      return "HTTP/1.1 403 Forbidden\r\n";
    case 404:
      return "HTTP/1.1 404 Not Found\r\n";
    case 405:
      return "HTTP/1.1 405 Method Not Allowed\r\n";
    case 408:
      return "HTTP/1.1 408 Request Timeout\r\n";
    case 409:
      return "HTTP/1.1 409 Conflict\r\n";
    case 410:
      return "HTTP/1.1 410 Gone\r\n";
    case 413:
      return "HTTP/1.1 413 Payload Too Large\r\n";
    case 416:
      return "HTTP/1.1 416 Range Not Satisfiable\r\n";
    case 429:
      return "HTTP/1.1 429 Too Many Requests\r\n";
    case 431:
      return "HTTP/1.1 431 Request Header Fields Too Large\r\n";
    case 503:
      return "HTTP/1.1 503 Service Unavailable\r\n";
    default:
      return "HTTP/1.1 500 Internal Server Error\r\n";
  }
}

constexpr uint32_t kInternal = 500;
static_assert(std::ranges::all_of(rules::kProblems, [](const rules::Problem& problem) {
  const auto status = static_cast<uint32_t>(problem.status);
  return status == kInternal || StatusLine(status) != StatusLine(kInternal);
}));

char* PutText(char* at, std::string_view text) {
  memcpy(at, text.data(), text.size());
  return at + text.size();
}

char* PutNumber(char* at, uint32_t number) {
  char digits[10];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (count > 0) {
    *at++ = digits[--count];
  }
  return at;
}

constexpr std::string_view kJson = "Content-Type: application/json\r\nContent-Length: ";
constexpr std::string_view kProblem = "Content-Type: application/problem+json\r\nContent-Length: ";
constexpr std::string_view kRest =
    "\r\nCache-Control: no-store\r\nAccess-Control-Allow-Origin: *\r\n";
// Pages of other origins may read when to try again.
constexpr std::string_view kRetryAfter =
    "Access-Control-Expose-Headers: Retry-After\r\nRetry-After: ";
constexpr std::string_view kAuthenticate = "WWW-Authenticate: Bearer\r\n";
constexpr std::string_view kAllow = "Allow: ";
constexpr std::string_view kKeepAlive = "Connection: keep-alive\r\n";
constexpr std::string_view kClose = "Connection: close\r\n";
constexpr size_t kStatusLineBytesMax = 46;
constexpr size_t kDigitsMax = 10;
// The sum covers Allow too: only a 405 has it, and a 405 has neither Retry-After nor
// WWW-Authenticate, which are longer.
static_assert(kStatusLineBytesMax + kProblem.size() + kDigitsMax + kRest.size() +
                  kRetryAfter.size() + kDigitsMax + 2 + kAuthenticate.size() + kKeepAlive.size() +
                  2 <=
              kAnswerHeadBytesMax);

}  // namespace

uint32_t WriteHeadBefore(uint8_t* body, const AnswerHead& head) {
  char bytes[kAnswerHeadBytesMax];
  char* at = PutText(bytes, StatusLine(head.status));
  at = PutText(at, head.status < 300 ? kJson : kProblem);
  at = PutNumber(at, head.length);
  at = PutText(at, kRest);
  if (head.retry_after_seconds != 0) {
    at = PutText(PutNumber(PutText(at, kRetryAfter), head.retry_after_seconds), "\r\n");
  }
  if (head.status == 401) {
    at = PutText(at, kAuthenticate);
  }
  if (head.allow != nullptr) {
    at = PutText(PutText(PutText(at, kAllow), head.allow), "\r\n");
  }
  if (head.persistence == Persistence::kKeepAlive) {
    at = PutText(at, kKeepAlive);
  }
  if (head.persistence == Persistence::kClose) {
    at = PutText(at, kClose);
  }
  at = PutText(at, "\r\n");
  const uint32_t size = static_cast<uint32_t>(at - bytes);
  memcpy(body - size, bytes, size);
  return size;
}

std::string PreflightAnswer(Persistence persistence) {
  std::string answer =
      "HTTP/1.1 204 No Content\r\n"
      "Access-Control-Allow-Origin: *\r\n"
      "Access-Control-Allow-Methods: GET, POST, PUT, DELETE, OPTIONS\r\n"
      "Access-Control-Allow-Headers: authorization, content-type\r\n"
      "Access-Control-Max-Age: 86400\r\n";
  if (persistence == Persistence::kKeepAlive) {
    answer += kKeepAlive;
  }
  if (persistence == Persistence::kClose) {
    answer += kClose;
  }
  return answer + "\r\n";
}

std::string ProblemAnswer(const ProblemBody& problem, Persistence persistence, bool is_head,
                          const char* allow) {
  uint8_t room[kAnswerHeadBytesMax];
  uint8_t* const end = room + sizeof room;
  const uint32_t size =
      WriteHeadBefore(end, {problem.status, static_cast<uint32_t>(problem.body.size()),
                            problem.retry_after_seconds, persistence, allow});
  std::string answer(reinterpret_cast<const char*>(end - size), size);
  if (!is_head) {
    answer += problem.body;
  }
  return answer;
}

}  // namespace sprites
