#include "x11/windows/frame_pixmap.h"

namespace sprites {

namespace {

constexpr int kSidePixelsMax = 32'767;  // of a pixmap: coordinates have 16 bits with a sign

// The opaque pixels of each row: its parts, or all from the first to the last as one. Ends after
// kShapePartsMax parts.
std::vector<xcb_rectangle_t> PartsOf(const uint32_t* pixels, int width, int height, bool joins) {
  std::vector<xcb_rectangle_t> parts;
  size_t before = 0;  // where the parts of the row above begin
  for (int y = 0; y < height && parts.size() <= kShapePartsMax; y++) {
    const uint32_t* row = pixels + static_cast<size_t>(y) * width;
    const size_t first = parts.size();
    for (int x = 0; x < width; x++) {
      const int from = x;
      while (x < width && row[x] >> 24 >= kOpaqueMin) {
        x++;
      }
      if (x > from && joins && parts.size() > first) {
        parts.back().width = static_cast<uint16_t>(x - parts.back().x);
      } else if (x > from) {
        parts.push_back({static_cast<int16_t>(from), static_cast<int16_t>(y),
                         static_cast<uint16_t>(x - from), 1});
      }
    }
    const size_t count = parts.size() - first;
    bool is_same = count > 0 && count == first - before;
    for (size_t i = 0; is_same && i < count; i++) {
      const xcb_rectangle_t& above = parts[before + i];
      is_same = above.x == parts[first + i].x && above.width == parts[first + i].width &&
                above.y + above.height == y;
    }
    if (!is_same) {
      before = first;
      continue;
    }
    for (size_t i = 0; i < count; i++) {
      parts[before + i].height++;
    }
    parts.resize(first);
  }
  return parts;
}

}  // namespace

std::unique_ptr<Surface> FramePixmap::Make(const XConnection* connection, int width, int height) {
  if (width > kSidePixelsMax || height > kSidePixelsMax) {
    return nullptr;
  }
  return std::unique_ptr<Surface>(new FramePixmap(connection, width, height));
}

FramePixmap::FramePixmap(const XConnection* connection, int width, int height)
    : connection_(connection),
      width_(width),
      pixels_(static_cast<size_t>(width) * static_cast<size_t>(height)),
      pixmap_(xcb_generate_id(connection->get())) {
  xcb_create_pixmap(connection->get(), connection->alpha_format().depth, pixmap_,
                    connection->root(), static_cast<uint16_t>(width),
                    static_cast<uint16_t>(height));
}

FramePixmap::~FramePixmap() {
  for (const auto& [top, region] : sent_) {
    xcb_xfixes_destroy_region(connection_->get(), region);
  }
  xcb_free_pixmap(connection_->get(), pixmap_);
}

xcb_xfixes_region_t FramePixmap::Send(int top, int height, xcb_gcontext_t context) {
  const auto [place, is_new] = sent_.try_emplace(top, XCB_NONE);
  if (is_new) {
    const uint32_t* pixels = pixels_.data() + static_cast<size_t>(top) * width_;
    connection_->Upload(pixmap_, context, connection_->alpha_format().depth, pixels, width_, height,
                        top);
    const auto parts = OpaqueParts(pixels, width_, height);
    place->second = xcb_generate_id(connection_->get());
    xcb_xfixes_create_region(connection_->get(), place->second, static_cast<uint32_t>(parts.size()),
                             parts.data());
  }
  return place->second;
}

std::vector<xcb_rectangle_t> OpaqueParts(const uint32_t* pixels, int width, int height) {
  auto parts = PartsOf(pixels, width, height, false);
  return parts.size() > kShapePartsMax ? PartsOf(pixels, width, height, true) : parts;
}

}  // namespace sprites
