#include "core/scene/photograph.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/picture/gif_writer.h"
#include "core/picture/picture.h"
#include "core/scene/composition.h"

namespace sprites {

namespace {

constexpr uint32_t kGround = 0xFFDCE8F5;  // of an animation: a GIF has no soft edges

int Scaled(int value, double scale) { return static_cast<int>(std::lround(value * scale)); }

// A box that has all of `boxes` in it.
class Bounds {
 public:
  void Add(int x, int y, int width, int height) {
    left_ = std::min(left_, x);
    top_ = std::min(top_, y);
    right_ = std::max(right_, x + width);
    bottom_ = std::max(bottom_, y + height);
  }
  void Add(const DrawnSprite& drawn) {
    const Crop shown = drawn.Shown();
    Add(drawn.x + shown.x, drawn.y + shown.y, shown.width, shown.height);
  }
  // With the margin. Throws Refused when it is empty.
  Crop WithMargin() const {
    if (right_ <= left_ || bottom_ <= top_) {
      throw Refused(Text::kPhotographNothing);
    }
    return {left_ - kPhotographMargin, top_ - kPhotographMargin,
            right_ - left_ + 2 * kPhotographMargin, bottom_ - top_ + 2 * kPhotographMargin};
  }

 private:
  int left_ = INT32_MAX;
  int top_ = INT32_MAX;
  int right_ = INT32_MIN;
  int bottom_ = INT32_MIN;
};

// A picture of a part of the screen, at a scale. Pixels have premultiplied alpha.
class Canvas {
 public:
  Canvas(const Crop& part, double scale, int width, int height)
      : part_(part),
        scale_(scale),
        width_(width),
        height_(height),
        pixels_(size_t(width) * size_t(height)) {}

  int width() const { return width_; }
  int height() const { return height_; }
  const std::vector<uint32_t>& pixels() const { return pixels_; }

  void Fill(uint32_t colour) { std::ranges::fill(pixels_, colour); }

  void Draw(const DrawnSprite& sprite) {
    DrawnSprite drawn = sprite;
    drawn.x = Scaled(sprite.x - part_.x, scale_);
    drawn.y = Scaled(sprite.y - part_.y, scale_);
    drawn.width = std::max(1, Scaled(sprite.width, scale_));
    drawn.height = std::max(1, Scaled(sprite.height, scale_));
    frame_.resize(size_t(drawn.width) * size_t(drawn.height));
    DrawFrame(drawn, frame_.data());
    const Crop shown = sprite.Shown();
    const int left = Scaled(shown.x, scale_);
    const int top = Scaled(shown.y, scale_);
    const Crop crop{left, top, Scaled(shown.x + shown.width, scale_) - left,
                    Scaled(shown.y + shown.height, scale_) - top};
    Lay(frame_, drawn.width, crop, drawn.x, drawn.y);
  }

  // Not scaled.
  void Draw(const PaintedBubble& bubble, int x, int y) {
    Lay(bubble.pixels, bubble.width, {0, 0, bubble.width, bubble.height}, x, y);
  }

 private:
  // Lays a part of `from`, whose rows are `pitch` pixels long and whose left top corner is at x, y,
  // over what is there.
  void Lay(const std::vector<uint32_t>& from, int pitch, const Crop& shown, int x, int y) {
    const int rows = static_cast<int>(from.size()) / pitch;
    const int right = std::min({shown.x + shown.width, pitch, width_ - x});
    const int bottom = std::min({shown.y + shown.height, rows, height_ - y});
    for (int row = std::max(shown.y, -y); row < bottom; row++) {
      for (int column = std::max(shown.x, -x); column < right; column++) {
        uint32_t& to = pixels_[size_t(row + y) * size_t(width_) + size_t(column + x)];
        to = Over(from[size_t(row) * size_t(pitch) + size_t(column)], to);
      }
    }
  }

  Crop part_;
  double scale_;
  int width_;
  int height_;
  std::vector<uint32_t> pixels_;
  std::vector<uint32_t> frame_;  // of the sprite that is drawn
};

// Red, green, blue and straight alpha.
Bytes StraightOf(const std::vector<uint32_t>& pixels) {
  Bytes rgba;
  rgba.reserve(kChannels * pixels.size());
  for (const uint32_t pixel : pixels) {
    const uint32_t alpha = pixel >> 24;
    for (const int shift : {16, 8, 0}) {
      const uint32_t part = pixel >> shift & 255;
      rgba.push_back(static_cast<uint8_t>(
          alpha == 0 ? 0 : std::min<uint32_t>(255, (part * 255 + alpha / 2) / alpha)));
    }
    rgba.push_back(static_cast<uint8_t>(alpha));
  }
  return rgba;
}

// The moments of an animation on one canvas, each drawn over the one before.
class Reel {
 public:
  Reel(std::span<const Moment> moments, int64_t end_ms, const PaintedBubble& label)
      : moments_(moments), end_ms_(end_ms), label_(label), canvas_(CanvasFor(moments, label)) {
    for (const Moment& moment : moments_) {
      palette_.Count(Drawn(moment));
    }
    palette_.Choose();
  }

  // With every n-th moment only; nothing when it is too long.
  std::optional<Bytes> Write(size_t every) {
    GifWriter gif(canvas_.width(), canvas_.height(), &palette_, kAnimationBytesMax);
    for (size_t i = 0; i < moments_.size(); i += every) {
      const int64_t from_ms = std::max(moments_[i].at_ms, end_ms_ - kFilmMs);
      const size_t next = i + every;
      const int64_t until_ms = next < moments_.size() ? moments_[next].at_ms : end_ms_;
      if (!gif.Add(Drawn(moments_[i]), static_cast<int>(until_ms - from_ms))) {
        return std::nullopt;
      }
    }
    return gif.End();
  }

 private:
  static Canvas CanvasFor(std::span<const Moment> moments, const PaintedBubble& label) {
    Bounds bounds;
    for (const Moment& moment : moments) {
      for (const DrawnSprite& sprite : moment.drawn) {
        bounds.Add(sprite);
      }
    }
    const Crop part = bounds.WithMargin();
    const double scale =
        std::min(1.0, kAnimationSideMax / double{1} / std::max(part.width, part.height));
    return {part, scale, std::max(Scaled(part.width, scale), label.width),
            Scaled(part.height, scale) + label.height};
  }

  const std::vector<uint32_t>& Drawn(const Moment& moment) {
    canvas_.Fill(kGround);
    for (const DrawnSprite& sprite : moment.drawn) {
      canvas_.Draw(sprite);
    }
    if (label_.height > 0) {
      canvas_.Draw(label_, 0, canvas_.height() - label_.height);
    }
    return canvas_.pixels();
  }

  std::span<const Moment> moments_;
  int64_t end_ms_;
  const PaintedBubble& label_;
  Canvas canvas_;
  Palette palette_;
};

}  // namespace

Crop PhotographedPart(std::span<const DrawnSprite> drawn, std::span<const PaintedBubble> bubbles) {
  Bounds bounds;
  for (const DrawnSprite& sprite : drawn) {
    bounds.Add(sprite);
  }
  for (const PaintedBubble& bubble : bubbles) {
    bounds.Add(bubble.x, bubble.y, bubble.width, bubble.height);
  }
  const Crop part = bounds.WithMargin();
  if (int64_t{part.width} * part.height > kPhotographPixelsMax) {
    throw Refused(Text::kPhotographTooLarge);
  }
  return part;
}

Bytes TakePhotograph(std::span<const DrawnSprite> drawn, std::span<const PaintedBubble> bubbles) {
  const Crop part = PhotographedPart(drawn, bubbles);
  Canvas canvas(part, 1, part.width, part.height);
  for (const DrawnSprite& sprite : drawn) {
    canvas.Draw(sprite);
  }
  for (const PaintedBubble& bubble : bubbles) {
    canvas.Draw(bubble, bubble.x - part.x, bubble.y - part.y);
  }
  return WritePicture(part.width, part.height, StraightOf(canvas.pixels()));
}

Bytes MakeAnimation(std::span<const Moment> moments, int64_t end_ms, const PaintedBubble& label) {
  Reel reel(moments, end_ms, label);
  size_t every = 1;
  for (;;) {
    if (auto gif = reel.Write(every)) {
      return std::move(*gif);
    }
    every *= 2;
  }
}

}  // namespace sprites
