// A problem document of the relay (RFC 9457): its code, and what the client needs to go on.
#ifndef LOADTEST_ENGINE_NET_PROBLEM_H_
#define LOADTEST_ENGINE_NET_PROBLEM_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/http_response.h"
#include "net/json_reader.h"
#include "wire/rules.h"

namespace swarm {

// The codes of the relay's problem documents. The last one stands for any other code.
constexpr auto kProblemCodes = [] {
  std::array<std::string_view, rules::kProblems.size() + 1> codes;
  std::ranges::transform(rules::kProblems, codes.begin(), &rules::Problem::code);
  codes.back() = "other";
  return codes;
}();

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
