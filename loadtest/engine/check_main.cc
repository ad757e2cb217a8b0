#include "check.h"

namespace swarm {
namespace {

TestCase* first_case = nullptr;
TestCase** last_next = &first_case;
int failures = 0;

}  // namespace

TestCase::TestCase(const char* sentence, void (*body)())
    : sentence(sentence), body(body), next(nullptr) {
  *last_next = this;
  last_next = &next;
}

void ReportFailure(const char* file, int line, const char* what) {
  ++failures;
  std::cerr << file << ":" << line << ": not so: " << what << "\n";
}

}  // namespace swarm

int main() {
  int count = 0;
  for (const swarm::TestCase* test = swarm::first_case; test != nullptr; test = test->next) {
    const int before = swarm::failures;
    test->body();
    ++count;
    std::cout << (swarm::failures == before ? "ok      " : "NOT OK  ") << test->sentence << "\n";
  }
  std::cout << count << " cases, " << swarm::failures << " failed checks\n";
  return swarm::failures == 0 && count > 0 ? 0 : 1;
}
