// The HTTP head of every answer of the front: status line and headers.
#ifndef SERVER_NATIVE_HTTP_ANSWER_H_
#define SERVER_NATIVE_HTTP_ANSWER_H_

#include <cstdint>
#include <string>

namespace sprites {

// What an answer says about its connection: nothing (HTTP/1.1 keeps it), that it is kept
// (HTTP/1.0), or that it closes.
enum class Persistence : uint8_t { kImplied, kKeepAlive, kClose };

struct AnswerHead {
  uint32_t status;
  uint32_t length;
  uint32_t retry_after_seconds = 0;  // 0: no Retry-After header
  Persistence persistence = Persistence::kImplied;
  const char* allow = nullptr;  // 405: the methods of this path
};

// Writes the head so that it ends right before `body`; returns its size, ≤ kAnswerHeadBytesMax.
// REQUIRES: kAnswerHeadBytesMax writable bytes before `body`.
uint32_t WriteHeadBefore(uint8_t* body, const AnswerHead& head);

// The whole answer to OPTIONS: every origin is allowed.
std::string PreflightAnswer(Persistence persistence);

// The problems that the front reports itself, before JavaScript sees the request. JavaScript gives
// their bodies at set-up.
enum class Problem : uint8_t {
  kMalformed,
  kCursor,
  kTooLarge,
  kHeadTooLarge,
  kNotFound,
  kMethodNotAllowed,
  kRequestTimeout,
  kRelayFull,
  kTooManyConnections,
  kCount,
};

struct ProblemBody {
  uint32_t status = 500;
  uint32_t retry_after_seconds = 0;
  std::string body;
};

// The whole answer: the head, and the body unless the request was HEAD.
std::string ProblemAnswer(const ProblemBody& problem, Persistence persistence, bool is_head,
                          const char* allow);

}  // namespace sprites

#endif  // SERVER_NATIVE_HTTP_ANSWER_H_
