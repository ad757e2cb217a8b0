#include "problem.h"

#include <algorithm>

#include "json_reader.h"

namespace swarm {

Problem ReadProblem(const HttpResponse& response) {
  Problem problem;
  problem.code = "other";
  if (response.retry_after_seconds > 0) {
    problem.retry_after_ms = static_cast<uint64_t>(response.retry_after_seconds) * 1000;
  }
  JsonReader json(response.body);
  std::string_view key;
  if (!json.EnterObject()) {
    return problem;
  }
  while (json.NextMember(&key)) {
    if (key == "code" && json.Peek() == '"') {
      json.String(&problem.code);
    } else if (key == "cursor" && json.Peek() == '"') {
      json.String(&problem.cursor);
    } else {
      json.Skip();
    }
  }
  return problem;
}

size_t ProblemIndex(std::string_view code) {
  const auto* found = std::find(kProblemCodes.begin(), kProblemCodes.end() - 1, code);
  return static_cast<size_t>(found - kProblemCodes.begin());
}

}  // namespace swarm
