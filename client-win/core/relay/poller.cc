#include "core/relay/poller.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "core/relay/seat_request.h"
#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

// The number of the last event that `cursor` covers. A relay with another epoch than that of `own`
// was started without what it knew, so it has passed on nothing of it: that covers every event.
std::optional<uint64_t> EventOf(std::string_view cursor, std::string_view own) {
  const size_t dash = cursor.rfind('-');
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  uint64_t event = 0;
  const auto [end, error] =
      std::from_chars(cursor.data() + dash + 1, cursor.data() + cursor.size(), event);
  const bool is_number = error == std::errc{} && end == cursor.data() + cursor.size();
  if (!is_number) {
    return std::nullopt;
  }
  const bool is_of_own_epoch = cursor.substr(0, dash) == own.substr(0, own.rfind('-'));
  return is_of_own_epoch ? event : std::numeric_limits<uint64_t>::max();
}

}  // namespace

Poller::Poller(const std::string& relay_url, JoinOptions options, Random random)
    : relay_(RelayOrigin(relay_url).value_or("")),
      moves_(relay_),
      options_(std::move(options)),
      random_(std::move(random)) {}

void Poller::UseSeat(Seat seat, std::string joined_at) {
  seat_ = std::move(seat);
  joined_at_ = std::move(joined_at);
  has_neighbours_ = false;
  polls_with_cursor_ = 1;  // a poll with this cursor may have been sent before
  is_acknowledged_ = false;
}

std::optional<Request> Poller::DueRequest(int64_t now_ms, RequestId* next_id) {
  if (under_way_ != 0 || is_held_back_ || now_ms < due_ms_ || relay_.empty()) {
    return std::nullopt;
  }
  if (std::exchange(is_moving_, false)) {
    seat_.reset();
    link_ = Link::kJoining;
    joins_other_ = true;
  }
  answered_ms_ = answered_ms_ < 0 ? now_ms : answered_ms_;
  under_way_ = (*next_id)++;
  due_ms_ = now_ms + kPollMsMin;
  step_ = !seat_ || seeks_ ? Step::kJoin : !has_neighbours_ ? Step::kNeighbours : Step::kPoll;
  polls_with_cursor_ += step_ == Step::kPoll ? 1 : 0;
  return step_ == Step::kJoin         ? JoinRequest(under_way_)
         : step_ == Step::kNeighbours ? DesktopRequest(under_way_, Method::kGet)
                                      : PollRequest(under_way_);
}

std::optional<Request> Poller::LastPoll(int64_t now_ms, RequestId* next_id) {
  if (!IsInDoubt() || under_way_ != 0 || (!OwesPoll() && now_ms < due_ms_)) {
    return std::nullopt;
  }
  under_way_ = (*next_id)++;
  step_ = Step::kPoll;
  polls_with_cursor_++;
  return PollRequest(under_way_);
}

void Poller::IgnoreResponse() {
  under_way_ = 0;
  is_acknowledged_ = is_acknowledged_ || step_ == Step::kPoll;
}

std::optional<News> Poller::HandleResponse(const Response& response, int64_t now_ms) {
  if (response.id == 0 || response.id != under_way_) {
    return std::nullopt;
  }
  under_way_ = 0;
  return step_ == Step::kJoin         ? HandleJoin(response, now_ms)
         : step_ == Step::kNeighbours ? HandleNeighbours(response, now_ms)
                                      : HandlePoll(response, now_ms);
}

RequestId Poller::RetryNow() {
  due_ms_ = 0;
  failures_ = 0;
  const bool is_polling = seat_ && has_neighbours_;
  // The relay answers a request for the neighbours at once, which tells whether it can be reached.
  has_neighbours_ = false;
  return is_polling ? std::exchange(under_way_, 0) : 0;
}

int64_t Poller::NextDueMs() const {
  const bool waits = under_way_ != 0 || is_held_back_ || relay_.empty();
  return waits ? std::numeric_limits<int64_t>::max() : due_ms_;
}

Request Poller::JoinRequest(RequestId id) const {
  Json body = {{"screen", {{"width", options_.width}, {"height", options_.height}}}};
  const std::string beside = IsRefused(options_.beside) ? "" : options_.beside;
  const std::pair<const char*, const std::string&> texts[] = {
      {"name", options_.name}, {"world", options_.world}, {"near", beside}};
  for (const auto& [name, text] : texts) {
    if (!text.empty()) {
      body[name] = text;
    }
  }
  if (options_.stage) {
    body["stage"] = *options_.stage;
  }
  Request request = JsonRequest(Method::kPost, JoinAddress() + "/v1/desktops", "", WriteJson(body));
  request.id = id;
  return request;
}

Request Poller::DesktopRequest(RequestId id, Method method) const {
  Request request = JsonRequest(method, DesktopUrl(relay(), *seat_), seat_->token, "");
  request.id = id;
  return request;
}

Request Poller::LeaveRequest(RequestId id) const { return DesktopRequest(id, Method::kDelete); }

Request Poller::PollRequest(RequestId id) const {
  Request request;
  request.id = id;
  request.lane = Lane::kPoll;
  request.url = seat_->events + "?cursor=" + PercentEncoded(seat_->cursor);
  request.token = seat_->token;
  request.timeout_ms = static_cast<uint32_t>(SilenceMs(*seat_));
  return request;
}

News Poller::HandleJoin(const Response& response, int64_t now_ms) {
  News news;
  if (response.status == 201 || response.status == 200) {
    if (auto seat = ReadSeat(response.body, JoinAddress())) {
      joined_at_ = JoinAddress();
      // The relay that is gone never learnt that its last batch arrived.
      news.batch_was_lost = OwesPoll();
      seat_ = std::move(seat);
      polls_with_cursor_ = 1;
      is_acknowledged_ = true;
      has_neighbours_ = false;
      is_held_back_ = false;
      seeks_ = false;
      answered_ms_ = now_ms;
      news.seated = true;
    } else {
      news.refused = {"not-understood", "The relay's answer to the join makes no sense."};
      TryOther(now_ms, 0);
    }
    return news;
  }
  const Problem problem = ReadProblem(response);
  const bool is_friendless = problem.code == codes::kNearGone || problem.code == codes::kMalformed;
  if (!options_.beside.empty() && !IsRefused(options_.beside) && is_friendless) {
    refused_invitation_ = options_.beside;
    due_ms_ = now_ms;
    news.invitation_ended = true;
    return news;
  }
  if (response.status >= 400) {
    news.refused = problem;
  }
  const bool is_for_good = problem.code == codes::kBanned || problem.code == codes::kMalformed;
  TryOther(now_ms, problem.retry_after_s, is_for_good);
  return news;
}

// A join has failed: the next try goes to the other relay, or to the relay of the seat.
void Poller::TryOther(int64_t now_ms, int retry_after_s, bool is_for_good) {
  BackOff(now_ms, retry_after_s, is_for_good);
  seeks_ = false;
  joins_other_ = !joins_other_ && !other_.empty();
}

News Poller::HandleNeighbours(const Response& response, int64_t now_ms) {
  News news;
  news.neighbours = response.status == 200 ? ReadNeighbours(response.body) : std::nullopt;
  if (!news.neighbours) {
    return HandleRefusal(response, now_ms);
  }
  news.name = ReadOwnName(response.body);
  has_neighbours_ = true;
  answered_ms_ = now_ms;
  link_ = Link::kConnected;
  due_ms_ = now_ms;
  return news;
}

News Poller::HandlePoll(const Response& response, int64_t now_ms) {
  if (response.status != 200) {
    return HandleRefusal(response, now_ms);
  }
  News news;
  news.batch = ReadBatch(response.body);
  if (!news.batch) {
    BackOff(now_ms, 0);
    return news;
  }
  is_acknowledged_ = news.batch->cursor == seat_->cursor;  // the poll's: the batch has no sprites
  seat_->cursor = news.batch->cursor;
  polls_with_cursor_ = 0;
  answered_ms_ = now_ms;
  is_held_back_ = true;
  link_ = Link::kConnected;
  if (news.batch->events == 0) {
    // Only a newer poll makes the relay return an empty batch, and this class never sends one. So
    // the relay, or a proxy, misbehaves: back off.
    due_ms_ = now_ms + BackoffMs(failures_++, random_, LongestPauseMs());
    return news;
  }
  failures_ = 0;
  due_ms_ = std::max(due_ms_, now_ms);
  if (news.batch->bye_ms) {
    const double away = static_cast<double>(*news.batch->bye_ms) * (0.5 + random_());
    due_ms_ = std::max(due_ms_, now_ms + static_cast<int64_t>(away));
    has_neighbours_ = false;
    if (auto to = moves_.Follow(relay(), news.batch->join, now_ms)) {
      other_ = std::move(*to);
      is_moving_ = true;
    }
  }
  return news;
}

News Poller::HandleRefusal(const Response& response, int64_t now_ms) {
  News news;
  const Problem problem = ReadProblem(response);
  const bool is_cursor = problem.code == codes::kCursorLost || problem.code == codes::kCursorAhead;
  if (is_cursor && !problem.cursor.empty()) {
    seat_->cursor = problem.cursor;
    is_acknowledged_ = true;
    news.cursor_lost = true;
    due_ms_ = now_ms + BackoffMs(failures_++, random_, LongestPauseMs());
    return news;
  }
  if (IsSeatEnded(problem)) {
    // If the first poll with a cursor was refused, it acknowledged nothing. An earlier poll of
    // several may have.
    const bool was_lost = polls_with_cursor_ == 0 || (has_neighbours_ && polls_with_cursor_ == 1);
    news = NewsOfEnd(problem);
    news.batch_was_lost = !news.acknowledged && was_lost;
    polls_with_cursor_ = 1;
    other_ = relay();
    joins_other_ = false;
    seat_.reset();
  }
  BackOff(now_ms, problem.retry_after_s);
  seeks_ = seat_ && IsLost(relay_, *seat_, now_ms - answered_ms_);
  return news;
}

// Reads what the relay says about a seat that has ended.
News Poller::NewsOfEnd(const Problem& problem) const {
  News news;
  news.seat_ended = true;
  news.acknowledged = EventOf(problem.cursor, seat_->cursor);
  return news;
}

News Poller::HandleLeft(const Response& response) {
  const Problem problem = ReadProblem(response);
  if (!seat_ || (response.status != 204 && !IsSeatEnded(problem))) {
    return {};
  }
  // When no poll was sent with the cursor of the last batch, its sprites have been passed on. When
  // one was, the response to it tells, or that to one more.
  News news = NewsOfEnd(problem);
  news.batch_was_lost = !news.acknowledged && OwesPoll();
  const bool is_told = response.status != 204 || news.batch_was_lost || !IsInDoubt();
  if (is_told && under_way_ == 0) {
    seat_.reset();
  }
  due_ms_ = 0;
  return news;
}

void Poller::BackOff(int64_t now_ms, int retry_after_s, bool is_for_good) {
  const int64_t ms_max = is_for_good ? kRefusedMsMax : LongestPauseMs();
  const int64_t asked = std::clamp<int64_t>(int64_t{retry_after_s} * 1000, 0, rules::kByeMsMax);
  due_ms_ = now_ms + std::max(asked, BackoffMs(failures_++, random_, ms_max));
  link_ = seat_ ? Link::kBroken : Link::kJoining;
  has_neighbours_ = false;
}

}  // namespace sprites
