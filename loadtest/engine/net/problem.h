// A problem document of the relay (RFC 9457): its code, and what the client needs to go on.
#ifndef LOADTEST_ENGINE_NET_PROBLEM_H_
#define LOADTEST_ENGINE_NET_PROBLEM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/http_response.h"
#include "net/json_reader.h"

namespace swarm {

// The codes of the relay's problem documents. The last one stands for any other code.
constexpr std::array<std::string_view, 40> kProblemCodes = {"malformed",
                                                            "admin-token",
                                                            "banned",
                                                            "picture-refused",
                                                            "list-full",
                                                            "already-running",
                                                            "heap-too-large",
                                                            "range-not-satisfiable",
                                                            "cursor-ahead",
                                                            "sprite-invalid",
                                                            "unknown-desktop",
                                                            "not-found",
                                                            "method-not-allowed",
                                                            "request-timeout",
                                                            "near-gone",
                                                            "crossing-stale",
                                                            "crossing-ahead",
                                                            "sayings-off",
                                                            "saying-stale",
                                                            "stage-hidden",
                                                            "no-neighbour",
                                                            "desktop-ended",
                                                            "cursor-lost",
                                                            "too-large",
                                                            "too-fast",
                                                            "too-many-joins",
                                                            "too-many-places",
                                                            "too-many-worlds",
                                                            "too-many-connections",
                                                            "too-many-uploads",
                                                            "head-too-large",
                                                            "internal",
                                                            "mailbox-full",
                                                            "relay-full",
                                                            "relay-busy",
                                                            "draining",
                                                            "store-full",
                                                            "journal-full",
                                                            "unauthorized",
                                                            "other"};

// Views of the response.
struct Problem {
  int status = 0;  // 0: unknown
  std::string_view code = "other";
  std::string_view cursor;
  uint64_t retry_after_ms = 0;
};

Problem ReadProblem(const HttpResponse& response);
// Reads a document within another one.
Problem ReadProblem(JsonReader* json);
// The index of `code` in kProblemCodes.
size_t ProblemIndex(std::string_view code);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_NET_PROBLEM_H_
