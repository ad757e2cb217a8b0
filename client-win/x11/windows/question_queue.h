// The questions of the program that wait for one another: one dialog is open at a time.
//
// A stranger's links ask questions, so their number has a limit. Invariant: no two have the same
// heading, so the same link asks once.
#ifndef CLIENT_WIN_X11_WINDOWS_QUESTION_QUEUE_H_
#define CLIENT_WIN_X11_WINDOWS_QUESTION_QUEUE_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

#include "core/words/questions.h"

namespace sprites {

constexpr size_t kQuestionsMax = 8;  // with the one that is shown

struct WaitingQuestion {
  Question question;
  Yes yes;
  std::function<void()> no;
};

class QuestionQueue {
 public:
  // Returns false if it waits already, or if there is no room.
  bool Add(WaitingQuestion question) {
    const bool waits = std::ranges::any_of(waiting_, [&](const WaitingQuestion& other) {
      return other.question.heading == question.question.heading;
    });
    if (waits || waiting_.size() >= kQuestionsMax) {
      return false;
    }
    waiting_.push_back(std::move(question));
    return true;
  }
  // The question to show. Null if there is none.
  const WaitingQuestion* First() const { return waiting_.empty() ? nullptr : &waiting_.front(); }
  // The first one has been answered.
  void Pop() { waiting_.pop_front(); }

 private:
  std::deque<WaitingQuestion> waiting_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_QUESTION_QUEUE_H_
