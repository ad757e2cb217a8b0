#include "io/native_front.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sprites {
namespace {

// Of all inboxes together; each gets an equal share, within bounds.
constexpr uint32_t kInboxesBytes = 4 << 20;
constexpr uint32_t kInboxBytesMin = 64 << 10;
static_assert(kInboxBytesMin >= 2 * IoLoop::kRecordBytesMax);

// The records of one inbox must fit into the inbound buffer, or they could never be received.
uint32_t InboxBytes(uint32_t threads, uint32_t inbound_bytes) {
  return std::clamp(kInboxesBytes / std::max(threads, 1u), kInboxBytesMin, inbound_bytes) & ~4095u;
}

}  // namespace

NativeFront::NativeFront(FrontOptions options, std::unique_ptr<SharedState> shared,
                         uint8_t* inbound, uint32_t inbound_bytes,
                         std::function<void(uint32_t)> deliver)
    : options_(std::move(options)),
      shared_(std::move(shared)),
      inbound_(inbound, inbound_bytes),
      deliver_(std::move(deliver)),
      loop_(std::make_unique<IoLoop>(0, shared_.get(), &inbound_)),
      has_staged_(options_.threads),
      staged_shared_(options_.threads) {}

NativeFront::~NativeFront() {
  Stop();
  threads_.clear();
  loop_.reset();
  if (signal_ >= 0) {
    close(signal_);
  }
}

int NativeFront::Listen(std::vector<uint16_t>* ports) {
  if (const int error = loop_->Open(); error != 0) {
    return error;
  }
  std::vector<IoThread::Listening> threaded;
  std::vector<int> probes;  // reserve the ports of the threads' listeners until all are known
  int error = 0;
  for (size_t i = 0; i < options_.listeners.size() && error == 0; ++i) {
    ListenerOptions listener = options_.listeners[i];
    const uint8_t number = static_cast<uint8_t>(i);
    const bool is_threaded = options_.threads > 0 && !listener.hands_over;
    const int descriptor = listener.descriptor >= 0 ? listener.descriptor
                                                    : OpenListener(listener, listener.shared);
    if (descriptor < 0) {
      error = -descriptor;
      break;
    }
    listener.port = PortOf(descriptor);
    ports->push_back(listener.port);
    if (is_threaded) {
      threaded.push_back({listener, number});
      probes.push_back(descriptor);
    } else {
      error = loop_->AddListener(descriptor, listener, number);
      if (error != 0) {
        close(descriptor);
      }
    }
  }
  for (const int probe : probes) {
    close(probe);
  }
  if (error != 0 || options_.threads == 0) {
    return error;
  }
  signal_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (signal_ < 0) {
    return errno;
  }
  // Edge-triggered and never read: each write is a new edge.
  if (error = loop_->AddExternal(signal_, kSignal, EPOLLET); error != 0) {
    return error;
  }
  const uint32_t inbox_bytes = InboxBytes(options_.threads, inbound_.capacity());
  for (uint32_t number = 1; number <= options_.threads; ++number) {
    threads_.push_back(std::make_unique<IoThread>(number, shared_.get(), signal_, inbox_bytes));
    if (error = threads_.back()->Start(threaded); error != 0) {
      return error;
    }
  }
  return 0;
}

bool NativeFront::Pass(int timeout_ms) {
  const uint32_t externals = loop_->Wait(has_full_inboxes_ ? 0 : timeout_ms);
  const bool is_signalled = has_full_inboxes_ || (externals & 1u << kSignal) != 0;
  // All events must be handled before the next wait. The records in the inboxes can stay there.
  while (loop_->Handle() && Deliver()) {
  }
  has_full_inboxes_ = is_signalled && ReceiveInboxes();
  Deliver();
  if (!stopped_) {
    loop_->EndPass();
  }
  return (externals & 1u << kExternal) != 0;
}

bool NativeFront::Deliver() {
  if (inbound_.empty()) {
    return !stopped_;
  }
  deliver_(inbound_.size());
  inbound_.Clear();
  return !stopped_;
}

// Returns true when records stayed in an inbox for lack of room: the next pass starts with it.
bool NativeFront::ReceiveInboxes() {
  for (size_t received = 0; received < threads_.size(); ++received) {
    IoThread& thread = *threads_[next_inbox_];
    switch (thread.inbox().Receive(&inbound_)) {
      case Inbox::Received::kNoRoom:
        return true;
      case Inbox::Received::kWakeThread:
        thread.Wake();
        break;
      case Inbox::Received::kNothing:
      case Inbox::Received::kRecords:
        break;
    }
    next_inbox_ = (next_inbox_ + 1) % threads_.size();
  }
  return false;
}

void NativeFront::Send(uint8_t* memory, uint32_t bytes) {
  if (stopped_) {
    return;
  }
  SharedBody shared;
  uint32_t shared_record = 0;  // its record is memory[shared_record, shared_end)
  uint32_t shared_end = 0;
  for (uint32_t at = 0; at + sizeof(OutboundRecord) <= bytes;) {
    OutboundRecord head;
    memcpy(&head, memory + at, sizeof head);
    if (head.bytes == 0) {
      break;
    }
    if (ReadSharedBody(memory + at, &shared)) {
      shared_record = at;
      shared_end = at + head.bytes;
      at = shared_end;
      continue;
    }
    const uint32_t thread =
        Ticket::Unpack(static_cast<uint64_t>(head.ticket_high) << 32 | head.ticket_low).thread;
    if (thread == 0) {
      loop_->Answer(memory + at, shared);
    } else if (thread <= threads_.size()) {
      Outbox& outbox = threads_[thread - 1]->outbox();
      if (head.shares != 0 && staged_shared_[thread - 1] != shared_end) {
        staged_shared_[thread - 1] = shared_end;
        outbox.Stage(memory + shared_record, shared_end - shared_record);
      }
      outbox.Stage(memory + at, head.bytes);
      has_staged_[thread - 1] = 1;
    }
    at += head.bytes;
  }
  for (size_t i = 0; i < threads_.size(); ++i) {
    if (has_staged_[i] == 0) {
      continue;
    }
    has_staged_[i] = 0;
    staged_shared_[i] = 0;
    if (threads_[i]->outbox().Send()) {
      threads_[i]->Wake();
    }
  }
}

FrontGauges NativeFront::Gauges() const {
  FrontGauges gauges = {shared_->connections.load(std::memory_order_relaxed), loop_->waiting(),
                        shared_->refused.load(std::memory_order_relaxed), 0};
  for (const auto& thread : threads_) {
    gauges.waiting += thread->waiting();
    if (thread->inbox().stalled()) {
      gauges.stalled = 1;
    }
  }
  return gauges;
}

void NativeFront::Drain() {
  loop_->Drain();
  if (stopped_) {
    return;
  }
  for (const auto& thread : threads_) {
    thread->Drain();
  }
  for (const auto& thread : threads_) {
    thread->AwaitListenersClosed();
  }
}

void NativeFront::Stop() {
  if (stopped_) {
    return;
  }
  stopped_ = true;
  loop_->CloseAll();
  for (const auto& thread : threads_) {
    thread->Stop();
  }
}

void NativeFront::Join() {
  for (const auto& thread : threads_) {
    thread->Join();
  }
}

bool NativeFront::IsOver() const {
  return stopped_ && std::all_of(threads_.begin(), threads_.end(),
                                 [](const auto& thread) { return thread->IsOver(); });
}

}  // namespace sprites
