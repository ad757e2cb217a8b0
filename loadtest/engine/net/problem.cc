#include "net/problem.h"

#include <algorithm>

namespace swarm {

Problem ReadProblem(const HttpResponse& response) {
  JsonReader json(response.body);
  Problem problem = ReadProblem(&json);
  problem.status = response.status;
  if (response.retry_after_seconds > 0) {
    problem.retry_after_ms = static_cast<uint64_t>(response.retry_after_seconds) * 1000;
  }
  return problem;
}

Problem ReadProblem(JsonReader* json) {
  Problem problem;
  std::string_view key;
  uint64_t status = 0;
  if (!json->EnterObject()) {
    return problem;
  }
  while (json->NextMember(&key)) {
    if (key == "code" && json->Peek() == '"') {
      json->String(&problem.code);
    } else if (key == "cursor" && json->Peek() == '"') {
      json->String(&problem.cursor);
    } else if (key == "status" && json->Unsigned(&status)) {
      problem.status = status < 600 ? static_cast<int>(status) : 0;
    } else {
      json->Skip();
    }
  }
  return problem;
}

size_t ProblemIndex(std::string_view code) {
  const auto* found = std::find(kProblemCodes.begin(), kProblemCodes.end() - 1, code);
  return static_cast<size_t>(found - kProblemCodes.begin());
}

}  // namespace swarm
