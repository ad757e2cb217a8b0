#include "core/relay/uploads.h"

#include <utility>

#include "core/relay/crossings/departures.h"

namespace sprites {

void Uploads::MarkAtRelay(const std::string& file) {
  if (at_relay_.size() >= kFilesAtRelayMax) {
    at_relay_.clear();
  }
  at_relay_.insert(file);
}

bool Uploads::IsFull(const std::string& file) const {
  const auto waiting = waiting_.find(file);
  return waiting != waiting_.end() && waiting->second.size() >= kDeparturesMax;
}

std::optional<Request> Uploads::Add(const Departure& departure, const std::string& relay,
                                    const std::string& token) {
  const std::string& file = departure.sprite.file;
  auto& waiting = waiting_[file];
  waiting.push_back(departure);
  if (waiting.size() > 1) {
    return std::nullopt;
  }
  Request request = FileRequest(relay, file);
  request.method = Method::kPut;
  request.token = token;
  request.content_type = "image/png";
  request.response_bytes_max = kResponseBytesMax;
  return request;
}

Uploads::Result Uploads::HandleResponse(const std::string& file, const Response& response) {
  Result result;
  // 404 is the file cache's: the file is gone from here, so the relay alone can know it.
  result.is_at_relay = response.status == 201 || response.status == 204 || response.status == 404;
  if (result.is_at_relay) {
    MarkAtRelay(file);
  } else {
    result.problem = ReadProblem(response);
  }
  if (auto waiting = waiting_.extract(file)) {
    result.departures = std::move(waiting.mapped());
  }
  return result;
}

std::vector<Departure> Uploads::Waiting() const {
  std::vector<Departure> all;
  for (const auto& [file, departures] : waiting_) {
    all.insert(all.end(), departures.begin(), departures.end());
  }
  return all;
}

std::vector<Departure> Uploads::PopWaiting() {
  std::vector<Departure> all = Waiting();
  waiting_.clear();
  return all;
}

}  // namespace sprites
