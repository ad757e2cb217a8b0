#include "core/relay/gallery_fetches.h"

namespace sprites {

std::optional<Request> GalleryFetches::Add(const RelayLink& link) {
  if (under_way_ >= kGalleryFetchesMax) {
    return std::nullopt;
  }
  Request request = FileRequest(link.relay, link.entry->file);
  request.keeps_file = true;
  under_way_++;
  return request;
}

GalleryFetches::Result GalleryFetches::HandleResponse(const RelayLink& link,
                                                      const Response& response) {
  under_way_--;
  const bool is_it = response.sheet != nullptr && response.sheet->file == link.entry->file;
  return {link.relay, *link.entry, is_it ? response.sheet : nullptr};
}

}  // namespace sprites
