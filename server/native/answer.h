// The bytes before a body: status line and headers of every answer the front gives.
#ifndef SERVER_NATIVE_ANSWER_H_
#define SERVER_NATIVE_ANSWER_H_

#include <cstdint>
#include <string>

namespace sprites {

// What an answer says about the connection: nothing (HTTP/1.1, it stays), that it stays (HTTP/1.0),
// that it closes.
enum class Persistence : uint8_t { kImplied, kKeepAlive, kClose };

struct AnswerHead {
  uint32_t status;
  uint32_t length;
  uint32_t retry_after_seconds = 0;  // 0: no such header
  Persistence persistence = Persistence::kImplied;
  const char* allow = nullptr;  // 405: the methods this path has
};

// Writes the head so that it ends right before `body`; returns its size, ≤ kAnswerHeadBytesMax.
// REQUIRES: kAnswerHeadBytesMax writable bytes before `body`.
uint32_t WriteHeadBefore(uint8_t* body, const AnswerHead& head);

// A whole answer to OPTIONS: whoever asks may ask.
std::string PreflightAnswer(Persistence persistence);

// What the front answers by itself, before JavaScript sees the request. Bodies come from JavaScript
// at set-up.
enum class Problem : uint8_t {
  kMalformed,
  kCursor,
  kTooLarge,
  kHeadTooLarge,
  kNotFound,
  kMethodNotAllowed,
  kRequestTimeout,
  kRelayFull,
  kCount,
};

struct ProblemBody {
  uint32_t status = 500;
  uint32_t retry_after_seconds = 0;
  std::string body;
};

// The whole answer: head, and the body unless the request was HEAD.
std::string ProblemAnswer(const ProblemBody& problem, Persistence persistence, bool is_head,
                          const char* allow);

}  // namespace sprites

#endif  // SERVER_NATIVE_ANSWER_H_
