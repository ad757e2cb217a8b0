#include "core/relay/sayings.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/relay/backoff.h"
#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

// How many others hear it, in an answer that accepts a saying; nothing for any other answer.
struct Acceptance {
  std::optional<uint64_t> heard;
};
std::optional<Acceptance> AcceptanceIn(const Response& response) {
  const Json root = AcceptedBody(response);
  if (!root.is_object() || !root.contains("heard")) {
    return std::nullopt;
  }
  const double heard = NumberAt(root, "heard", 0, kWholeNumberMax, -1);
  return Acceptance{heard < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(heard))};
}

}  // namespace

std::string SayingText(std::string_view text) {
  std::string plain = PlainText(text, text.size());
  const size_t first = plain.find_first_not_of(' ');
  if (first == std::string::npos) {
    return "";
  }
  return plain.substr(first, plain.find_last_not_of(' ') + 1 - first);
}

std::string SayingJson(uint64_t number, const std::string& text) {
  return WriteJson({{"saying", number}, {"text", text}});
}

std::string SayingLength(size_t bytes) {
  return bytes + kBytesLeftShown < kSayingBytesMax
             ? ""
             : std::to_string(bytes) + " / " + std::to_string(kSayingBytesMax);
}

void Sayings::Add(std::string text) { Restore({next_number_, std::move(text)}); }

void Sayings::Restore(PendingSaying pending) {
  next_number_ = std::max(next_number_, pending.number + 1);
  pending_ = std::move(pending);
  is_asking_ = false;
  was_sent_ = false;
  failures_ = 0;
  due_ms_ = 0;
}

std::optional<SeatRequest> Sayings::DueRequest(int64_t now_ms, RequestBudget* budget) {
  if (!pending_ || is_asking_ || now_ms < due_ms_ || (was_sent_ && !budget->Allows(now_ms))) {
    return std::nullopt;
  }
  if (was_sent_) {
    budget->Spend(now_ms);
  }
  is_repeat_ = std::exchange(was_sent_, true);
  is_asking_ = true;
  return SeatRequest{Method::kPost, "/sayings", SayingJson(pending_->number, pending_->text)};
}

std::optional<SayingVerdict> Sayings::HandleResponse(const Response& response, int64_t now_ms,
                                                     const Random& random) {
  is_asking_ = false;
  SayingVerdict verdict;
  if (const auto acceptance = AcceptanceIn(response)) {
    verdict.accepted = true;
    verdict.heard = acceptance->heard;
  } else {
    verdict.problem = ReadProblem(response);
    if (!IsVerdict(verdict.problem, is_repeat_)) {
      due_ms_ = now_ms + BackoffMs(failures_++, random);
      return std::nullopt;
    }
  }
  verdict.text = std::move(pending_->text);
  pending_.reset();
  return verdict;
}

std::optional<PendingSaying> Sayings::GiveUp() {
  is_asking_ = false;
  return std::exchange(pending_, std::nullopt);
}

int64_t Sayings::NextDueMs() const {
  return pending_ && !is_asking_ ? due_ms_ : std::numeric_limits<int64_t>::max();
}

}  // namespace sprites
