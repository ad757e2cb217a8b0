// Pictures that are fetched from the galleries of relays, because the person has asked for them.
//
// Each is asked for by its hash, from the relay that the link named, without the token of the seat,
// and is checked and decoded like the picture of any stranger. It is stored as the person's own.
// Invariant: at most kGalleryFetchesMax are under way.
#ifndef CLIENT_WIN_CORE_RELAY_GALLERY_FETCHES_H_
#define CLIENT_WIN_CORE_RELAY_GALLERY_FETCHES_H_

#include <cstddef>
#include <optional>
#include <string>

#include "core/relay/relay_link.h"
#include "core/relay/request.h"

namespace sprites {

constexpr size_t kGalleryFetchesMax = 8;  // at once: the person answers a question before each

class GalleryFetches {
 public:
  // What came of one.
  struct Result {
    std::string relay;
    GalleryEntry entry;
    SheetPointer sheet;  // null when the picture did not come
  };

  // The request for the picture of a link. Nothing while too many are under way. REQUIRES:
  // link.entry.
  std::optional<Request> Add(const RelayLink& link);
  // What the response to the request for this link says.
  Result HandleResponse(const RelayLink& link, const Response& response);

 private:
  size_t under_way_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_GALLERY_FETCHES_H_
