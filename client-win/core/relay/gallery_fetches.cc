#include "core/relay/gallery_fetches.h"

#include <utility>

namespace sprites {

std::optional<Request> GalleryFetches::Add(const RelayLink& link, RequestId* next_id) {
  if (under_way_.size() >= kGalleryFetchesMax) {
    return std::nullopt;
  }
  Request request = FileRequest(link.relay, link.entry->file, (*next_id)++);
  request.keeps_file = true;
  under_way_[request.id] = link;
  return request;
}

std::optional<GalleryFetches::Result> GalleryFetches::HandleResponse(const Response& response) {
  auto fetch = under_way_.extract(response.id);
  if (fetch.empty()) {
    return std::nullopt;
  }
  RelayLink& link = fetch.mapped();
  const bool is_it = response.sheet != nullptr && response.sheet->file == link.entry->file;
  return Result{std::move(link.relay), std::move(*link.entry), is_it ? response.sheet : nullptr};
}

}  // namespace sprites
