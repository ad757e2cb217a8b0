// What the program does once no menu and no dialog is open, such as opening a link.
//
// A stranger can send links, so there is a limit. Tasks are run in the order in which they came.
#ifndef CLIENT_WIN_CORE_DESKTOP_LATER_QUEUE_H_
#define CLIENT_WIN_CORE_DESKTOP_LATER_QUEUE_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

namespace sprites {

constexpr size_t kLaterMax = 8;  // links and questions: more than a person answers

class LaterQueue {
 public:
  using Task = std::function<void()>;

  // Returns false, and drops the task, when there is no room.
  bool Push(Task task) {
    const bool has_room = tasks_.size() < kLaterMax;
    if (has_room) {
      tasks_.push_back(std::move(task));
    }
    return has_room;
  }
  bool IsEmpty() const { return tasks_.empty(); }
  // REQUIRES: !IsEmpty().
  Task Pop() {
    Task first = std::move(tasks_.front());
    tasks_.pop_front();
    return first;
  }

 private:
  std::deque<Task> tasks_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_LATER_QUEUE_H_
