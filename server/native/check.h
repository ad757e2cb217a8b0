// The least a test needs: named checks that are registered by themselves, and a way to fail that
// says where and what.
#ifndef SERVER_NATIVE_CHECK_H_
#define SERVER_NATIVE_CHECK_H_

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace sprites::check {

struct Case {
  const char* sentence;
  void (*run)();
};

inline std::vector<Case>& Cases() {
  static std::vector<Case> cases;
  return cases;
}

struct Registered {
  Registered(const char* sentence, void (*run)()) { Cases().push_back({sentence, run}); }
};

[[noreturn]] inline void Fail(const char* file, int line, const char* condition) {
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
  abort();
}

// Runs every case; the name of the one that is under way is told first, so that an abort has a
// name.
inline int RunAll(const char* subject) {
  for (const Case& each : Cases()) {
    printf("%s › %s\n", subject, each.sentence);
    fflush(stdout);
    each.run();
  }
  return 0;
}

}  // namespace sprites::check

#define CHECK_JOIN_(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN_(a, b)
#define CHECK_CASE_(sentence, name)                                              \
  static void name();                                                            \
  static const sprites::check::Registered CHECK_JOIN(name, _at)(sentence, name); \
  static void name()
// CASE("a sentence about behaviour") { … }
#define CASE(sentence) CHECK_CASE_(sentence, CHECK_JOIN(Case, __LINE__))
#define EXPECT(condition) \
  ((condition) ? static_cast<void>(0) : sprites::check::Fail(__FILE__, __LINE__, #condition))

#endif  // SERVER_NATIVE_CHECK_H_
