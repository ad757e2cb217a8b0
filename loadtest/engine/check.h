// As much of a test runner as these tests need: cases named by a sentence, checks that say what
// they found.
//
//   TEST("ledger: counts a sprite that comes twice once as duplicated") {
//   CHECK_EQ(fates.duplicated, 1); }
//
// A failed check lets its case go on, and makes the program exit 1. Link with check_main.cc.
#ifndef LOADTEST_ENGINE_CHECK_H_
#define LOADTEST_ENGINE_CHECK_H_

#include <iostream>
#include <string_view>

namespace swarm {

struct TestCase {
  TestCase(const char* sentence, void (*body)());

  const char* sentence;
  void (*body)();
  TestCase* next;
};

void ReportFailure(const char* file, int line, const char* what);

template <typename A, typename B>
void CheckEqual(const A& a, const B& b, const char* file, int line, const char* what) {
  if (a == b) {
    return;
  }
  ReportFailure(file, line, what);
  std::cerr << "    " << a << " against " << b << "\n";
}

}  // namespace swarm

#define SWARM_JOIN2(a, b) a##b
#define SWARM_JOIN(a, b) SWARM_JOIN2(a, b)
#define TEST(sentence)                                                                             \
  static void SWARM_JOIN(TestBody, __LINE__)();                                                    \
  static const ::swarm::TestCase SWARM_JOIN(test_case_, __LINE__)(sentence,                        \
                                                                  SWARM_JOIN(TestBody, __LINE__)); \
  static void SWARM_JOIN(TestBody, __LINE__)()
#define CHECK(condition) \
  ((condition) ? (void)0 : ::swarm::ReportFailure(__FILE__, __LINE__, #condition))
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define CHECK_EQ(a, b) ::swarm::CheckEqual(a, b, __FILE__, __LINE__, #a " == " #b)

#endif  // LOADTEST_ENGINE_CHECK_H_
