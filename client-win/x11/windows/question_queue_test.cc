#include "x11/windows/question_queue.h"

#include <doctest/doctest.h>

#include <string>

namespace sprites {
namespace {

bool Add(QuestionQueue* queue, const std::string& heading) {
  return queue->Add({{.heading = heading}, [](const Answer&) { return ""; }, {}});
}

TEST_CASE("question queue › asks in order, and the same question once") {
  QuestionQueue queue;
  CHECK(queue.First() == nullptr);
  CHECK(Add(&queue, "Go to one?"));
  CHECK(Add(&queue, "Go to two?"));
  CHECK(!Add(&queue, "Go to one?"));
  CHECK(queue.First()->question.heading == "Go to one?");
  queue.Pop();
  CHECK(queue.First()->question.heading == "Go to two?");
  CHECK(Add(&queue, "Go to one?"));
}

TEST_CASE("question queue › has room for so many, and for one more after an answer") {
  QuestionQueue queue;
  for (size_t i = 0; i < kQuestionsMax; i++) {
    CHECK(Add(&queue, std::to_string(i)));
  }
  CHECK(!Add(&queue, "one more"));
  queue.Pop();
  CHECK(Add(&queue, "one more"));
  CHECK(!Add(&queue, "another one"));
}

}  // namespace
}  // namespace sprites
