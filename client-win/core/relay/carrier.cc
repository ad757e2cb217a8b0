#include "core/relay/carrier.h"

#include <utility>

namespace sprites {

namespace {

// Threads of each lane, in the order of Lane. The second thread for polls is for the time in which
// a cancelled poll ends.
constexpr std::array<int, 3> kThreads = {2, 3, 2};

}  // namespace

Carrier::Carrier(Transport* transport, FileCache* cache, std::function<void()> wake)
    : transport_(transport), cache_(cache), wake_(std::move(wake)) {
  for (size_t lane = 0; lane < kLanes; lane++) {
    for (int i = 0; i < kThreads[lane]; i++) {
      threads_.emplace_back([this, lane] { Work(lane); });
    }
  }
}

Carrier::~Carrier() {
  std::set<RequestId> under_way;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    under_way = under_way_;
  }
  changed_.notify_all();
  for (const RequestId id : under_way) {
    transport_->Cancel(id);
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Carrier::Send(Request request) {
  {
    const std::lock_guard lock(mutex_);
    queues_[static_cast<size_t>(request.lane)].push_back(std::move(request));
  }
  changed_.notify_all();
}

void Carrier::Cancel(RequestId id) {
  bool is_under_way = false;
  {
    const std::lock_guard lock(mutex_);
    is_under_way = under_way_.contains(id);
    for (auto& queue : queues_) {
      if (std::erase_if(queue, [id](const Request& request) { return request.id == id; }) > 0) {
        responses_.push_back({id, 0});
      }
    }
  }
  if (is_under_way) {
    transport_->Cancel(id);
  }
}

std::vector<Response> Carrier::PopResponses() {
  const std::lock_guard lock(mutex_);
  return std::exchange(responses_, {});
}

void Carrier::Work(size_t lane) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_ending_ || !queues_[lane].empty(); });
    if (is_ending_) {
      return;
    }
    const Request request = std::move(queues_[lane].front());
    queues_[lane].pop_front();
    under_way_.insert(request.id);
    lock.unlock();
    Response response = Perform(request, *transport_, *cache_);
    lock.lock();
    under_way_.erase(request.id);
    responses_.push_back(std::move(response));
    lock.unlock();
    wake_();
    lock.lock();
  }
}

}  // namespace sprites
