#include "core/relay/poller.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

constexpr int kSeatDepthMax = 4;
constexpr int kDoublings = 10;  // of the backoff; more would only overflow

struct Address {
  bool is_secure;
  std::string_view host;  // without port
  size_t origin_length;   // of `https://host:port`
};

// As addresses are compared: without regard to case.
std::string Lowered(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lowered;
}

// An absolute http or https address without a user, or nothing.
std::optional<Address> ReadAddress(std::string_view url) {
  if (url.size() > kUrlBytesMax || !IsToken(url)) {
    return std::nullopt;
  }
  const std::string scheme = Lowered(url.substr(0, 8));
  const bool is_secure = scheme == "https://";
  if (!is_secure && !scheme.starts_with("http://")) {
    return std::nullopt;
  }
  const size_t start = is_secure ? 8 : 7;
  const size_t end = std::min(url.find_first_of("/?#", start), url.size());
  const std::string_view authority = url.substr(start, end - start);
  const size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos ||
      authority.find_first_of("@\\") != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view host = authority.substr(0, authority.find(':', bracket));
  const std::string_view port = authority.substr(host.size());
  const bool has_port = port.size() > 1 && port.size() <= 6 &&
                        port.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (host.empty() || !(port.empty() || has_port)) {
    return std::nullopt;
  }
  return Address{is_secure, host, end};
}

// Whether a seat at `relay` may send us to `url`: its own host or one below it, and never from TLS
// to none. So a relay can't make this program knock at other doors of its network.
bool MaySendTo(std::string_view relay, std::string_view url) {
  const auto from = ReadAddress(relay);
  const auto to = ReadAddress(url);
  if (!from || !to || (from->is_secure && !to->is_secure)) {
    return false;
  }
  const std::string host = Lowered(from->host);
  const std::string there = Lowered(to->host);
  return there == host || there.ends_with("." + host);
}

bool IsEnd(const Problem& problem) {
  return problem.code == "unknown-desktop" || problem.code == "desktop-ended";
}

}  // namespace

int64_t BackoffMs(int attempt, const Random& random) {
  const int64_t full =
      std::min(kBackoffMsMax, kBackoffMsFirst << std::clamp(attempt, 0, kDoublings));
  return static_cast<int64_t>(static_cast<double>(full) * (0.5 + random() / 2));
}

std::optional<std::string> RelayOrigin(std::string_view url) {
  const auto address = ReadAddress(url);
  return address ? std::optional(Lowered(url.substr(0, address->origin_length))) : std::nullopt;
}

std::optional<Seat> ReadSeat(std::string_view json, std::string_view relay_url) {
  if (json.size() > kAnswerBytesMax) {
    return std::nullopt;
  }
  const Json root = ParseJson(json, kSeatDepthMax);
  Seat seat;
  seat.desktop = TextAt(root, "desktop", kIdBytesMax);
  seat.token = TextAt(root, "token", kIdBytesMax);
  seat.cursor = TextAt(root, "cursor", kIdBytesMax);
  seat.world = PlainText(TextAt(root, "world", kIdBytesMax), kNameBytesMax);
  seat.events = TextAt(root, "events", kUrlBytesMax);
  seat.crossings = TextAt(root, "crossings", kUrlBytesMax);
  seat.ping_seconds = static_cast<int>(NumberAt(root, "pingSeconds", 1, kPingSecondsMax, 120));
  seat.lease_seconds = static_cast<int>(NumberAt(root, "leaseSeconds", 1, kPingSecondsMax, 30));
  for (const std::string* part : {&seat.desktop, &seat.token, &seat.cursor}) {
    if (part->empty() || !IsToken(*part)) {
      return std::nullopt;
    }
  }
  for (std::string* url : {&seat.events, &seat.crossings}) {
    if (!MaySendTo(relay_url, *url)) {
      return std::nullopt;
    }
    const size_t origin_length = ReadAddress(*url)->origin_length;
    *url = Lowered(url->substr(0, origin_length)) + url->substr(origin_length);
  }
  return seat;
}

std::string SeatJson(const Seat& seat) {
  return Written({{"desktop", seat.desktop},
                  {"token", seat.token},
                  {"world", seat.world},
                  {"cursor", seat.cursor},
                  {"events", seat.events},
                  {"crossings", seat.crossings},
                  {"pingSeconds", seat.ping_seconds},
                  {"leaseSeconds", seat.lease_seconds}});
}

Poller::Poller(const std::string& relay_url, JoinWish wish, Random random)
    : relay_(RelayOrigin(relay_url).value_or("")),
      wish_(std::move(wish)),
      random_(std::move(random)) {}

void Poller::SitDown(Seat seat) {
  seat_ = std::move(seat);
  has_looked_ = false;
  polls_of_cursor_ = 1;  // whether it was sent before, nobody knows
}

std::optional<Request> Poller::Due(int64_t now_ms, RequestId* next_id) {
  if (under_way_ != 0 || held_back_ || now_ms < due_ms_ || relay_.empty()) {
    return std::nullopt;
  }
  under_way_ = (*next_id)++;
  due_ms_ = now_ms + kPollMsMin;
  polls_of_cursor_ += seat_ && has_looked_ ? 1 : 0;
  return !seat_         ? JoinRequest(under_way_)
         : !has_looked_ ? LookRequest(under_way_)
                        : PollRequest(under_way_);
}

std::optional<News> Poller::Take(const Answer& answer, int64_t now_ms) {
  if (answer.id == 0 || answer.id != under_way_) {
    return std::nullopt;
  }
  under_way_ = 0;
  return !seat_         ? TakeJoin(answer, now_ms)
         : !has_looked_ ? TakeLook(answer, now_ms)
                        : TakePoll(answer, now_ms);
}

int64_t Poller::NextDueMs() const {
  const bool waits = under_way_ != 0 || held_back_ || relay_.empty();
  return waits ? std::numeric_limits<int64_t>::max() : due_ms_;
}

Request Poller::JoinRequest(RequestId id) const {
  Json body = {{"screen", {{"width", wish_.width}, {"height", wish_.height}}}};
  const std::pair<const char*, const std::string&> texts[] = {
      {"name", wish_.name}, {"world", wish_.world}, {"near", wish_.beside}};
  for (const auto& [name, text] : texts) {
    if (!text.empty()) {
      body[name] = text;
    }
  }
  Request request;
  request.id = id;
  request.method = Method::kPost;
  request.url = relay_ + "/v1/desktops";
  request.content_type = "application/json";
  request.body = Written(body);
  request.timeout_ms = kShortTimeoutMs;
  request.answer_bytes_max = kAnswerBytesMax;
  return request;
}

Request Poller::LookRequest(RequestId id) const {
  Request request;
  request.id = id;
  request.url = relay_ + "/v1/desktops/" + PercentEncoded(seat_->desktop);
  request.token = seat_->token;
  request.timeout_ms = kShortTimeoutMs;
  request.answer_bytes_max = kAnswerBytesMax;
  return request;
}

Request Poller::PollRequest(RequestId id) const {
  Request request;
  request.id = id;
  request.lane = Lane::kPoll;
  request.url = seat_->events + "?cursor=" + PercentEncoded(seat_->cursor);
  request.token = seat_->token;
  request.timeout_ms = static_cast<uint32_t>(seat_->ping_seconds * 1000 * kSilenceFactor);
  request.answer_bytes_max = kAnswerBytesMax;
  return request;
}

News Poller::TakeJoin(const Answer& answer, int64_t now_ms) {
  News news;
  if (answer.status == 201 || answer.status == 200) {
    seat_ = ReadSeat(answer.body, relay_);
    has_looked_ = false;
    held_back_ = false;
    news.seated = seat_.has_value();
    if (!seat_) {
      news.refused = {"malformed", "The relay's answer to the join makes no sense."};
      BackOff(now_ms, 0);
    }
    return news;
  }
  const Problem problem = ReadProblem(answer);
  const bool is_friendless = problem.code == "near-gone" || problem.code == "malformed";
  if (!wish_.beside.empty() && is_friendless) {
    wish_.beside.clear();
    due_ms_ = now_ms;
    return news;
  }
  if (answer.status >= 400) {
    news.refused = problem;
  }
  BackOff(now_ms, problem.retry_after_s);
  return news;
}

News Poller::TakeLook(const Answer& answer, int64_t now_ms) {
  News news;
  news.neighbours = answer.status == 200 ? ReadNeighbours(answer.body) : std::nullopt;
  if (!news.neighbours) {
    return TakeRefusal(answer, now_ms);
  }
  has_looked_ = true;
  link_ = Link::kConnected;
  due_ms_ = now_ms;
  return news;
}

News Poller::TakePoll(const Answer& answer, int64_t now_ms) {
  if (answer.status != 200) {
    return TakeRefusal(answer, now_ms);
  }
  News news;
  news.batch = ReadBatch(answer.body);
  if (!news.batch) {
    BackOff(now_ms, 0);
    return news;
  }
  seat_->cursor = news.batch->cursor;
  polls_of_cursor_ = 0;
  held_back_ = true;
  link_ = Link::kConnected;
  if (news.batch->events == 0) {
    // A newer poll of ours took its place, which we never send: somebody plays with us.
    due_ms_ = now_ms + BackoffMs(failures_++, random_);
    return news;
  }
  failures_ = 0;
  due_ms_ = std::max(due_ms_, now_ms);
  if (news.batch->bye_ms) {
    const double away = static_cast<double>(*news.batch->bye_ms) * (0.5 + random_());
    due_ms_ = std::max(due_ms_, now_ms + static_cast<int64_t>(away));
    has_looked_ = false;
  }
  return news;
}

News Poller::TakeRefusal(const Answer& answer, int64_t now_ms) {
  News news;
  const Problem problem = ReadProblem(answer);
  const bool is_cursor = problem.code == "cursor-lost" || problem.code == "cursor-ahead";
  if (is_cursor && !problem.cursor.empty()) {
    seat_->cursor = problem.cursor;
    news.cursor_lost = true;
    due_ms_ = now_ms + BackoffMs(failures_++, random_);
    return news;
  }
  news.seat_ended = IsEnd(problem);
  if (news.seat_ended) {
    // The first poll with a cursor, refused, has acknowledged nothing; of a later one nobody knows.
    news.batch_was_lost = polls_of_cursor_ == 0 || (has_looked_ && polls_of_cursor_ == 1);
    polls_of_cursor_ = 1;
    seat_.reset();
  }
  BackOff(now_ms, problem.retry_after_s);
  return news;
}

void Poller::BackOff(int64_t now_ms, int retry_after_s) {
  const int64_t told = std::clamp<int64_t>(int64_t{retry_after_s} * 1000, 0, kRetryAfterMsMax);
  due_ms_ = now_ms + std::max(told, BackoffMs(failures_++, random_));
  link_ = seat_ ? Link::kBroken : Link::kJoining;
  has_looked_ = false;
}

}  // namespace sprites
