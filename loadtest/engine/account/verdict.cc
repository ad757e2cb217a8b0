#include "account/verdict.h"

#include "net/json_reader.h"
#include "net/problem.h"

namespace swarm {
namespace {

Fingerprint ReadDesktop(JsonReader& json) {
  std::string_view id;
  return json.ObjectWith("desktop", &id) ? FingerprintOf(id) : kNoFingerprint;
}

void ReadHearers(JsonReader& json, Verdict* verdict) {
  uint64_t hearers = 0;
  if (json.Peek() == 'n') {
    json.Skip();
  } else if (json.Unsigned(&hearers)) {
    verdict->hearers = hearers;
  }
}

}  // namespace

Verdict ReadVerdict(const HttpResponse& response) {
  Verdict verdict;
  if (response.status >= 400) {
    verdict.kind = Verdict::Kind::kRefused;
    verdict.problem = ProblemIndex(ReadProblem(response).code);
    return verdict;
  }
  if (response.status != 202) {
    return verdict;
  }
  verdict.kind = Verdict::Kind::kAccepted;
  JsonReader json(response.body);
  std::string_view key;
  verdict.valid = json.EnterObject();
  while (json.NextMember(&key)) {
    if (key == "to" && json.Peek() == '{') {
      verdict.receiver = ReadDesktop(json);
    } else if (key == "heard") {
      ReadHearers(json, &verdict);
    } else {
      json.Skip();
    }
  }
  verdict.valid = verdict.valid && json.ok();
  return verdict;
}

Verdict ReadVerdictMessage(std::string_view message) {
  Verdict verdict;
  bool has_number = false;
  JsonReader json(message);
  std::string_view key;
  json.EnterObject();
  while (json.NextMember(&key)) {
    if ((key == "crossing" || key == "saying") && json.Peek() != 'n') {
      has_number = json.Unsigned(&verdict.number);
    } else if (key == "heard") {
      verdict.kind = Verdict::Kind::kAccepted;
      ReadHearers(json, &verdict);
    } else if (key == "to") {
      verdict.kind = Verdict::Kind::kAccepted;
      if (json.Peek() == '{') {
        verdict.receiver = ReadDesktop(json);
      } else {
        json.Skip();
      }
    } else if (key == "problem") {
      verdict.kind = Verdict::Kind::kRefused;
      verdict.problem = ProblemIndex(ReadProblem(&json).code);
    } else {
      json.Skip();
    }
  }
  verdict.valid = json.ok() && has_number && verdict.kind != Verdict::Kind::kUnexpected;
  return verdict;
}

}  // namespace swarm
