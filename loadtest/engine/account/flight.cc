#include "account/flight.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "account/mixed_bits.h"

namespace swarm {
namespace {

constexpr std::string_view kFile =
    "5b6c1f1e0d9a4f2f8c7b3a69584736251403f2e1d0cfbeadbc9a788766554433";
constexpr uint32_t kPictureScale = 2;  // that of the characters that a relay ships with
constexpr std::array<std::string_view, 4> kAnimations = {"fall", "walk", "climb", "drag"};

// Returns a number from 0 to `below` − 1, and removes what it used from `bits`.
uint32_t Pick(uint64_t* bits, uint32_t below) {
  const auto picked = static_cast<uint32_t>(*bits % below);
  *bits /= below;
  return picked;
}

void AppendWhole(std::string& to, int32_t value) {
  std::array<char, 12> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  to.append(digits.data(), static_cast<size_t>(end - digits.data()));
}

}  // namespace

Flight::Flight(const SpriteTag& tag, const std::vector<std::string>& pictures) {
  uint64_t bits = Mixed(tag.number << 12U ^ tag.slice);
  at_thousandths_ = Pick(&bits, 1001);
  const auto out = static_cast<int32_t>(600 + Pick(&bits, 600));
  const int32_t aside = static_cast<int32_t>(Pick(&bits, 599)) - 299;
  const bool is_sideways = tag.edge == Edge::kLeft || tag.edge == Edge::kRight;
  const bool is_forward = tag.edge == Edge::kRight || tag.edge == Edge::kBottom;
  vx_ = is_forward ? out : -out;
  vy_ = aside;
  if (!is_sideways) {
    std::swap(vx_, vy_);
  }
  scale_ = 1 + Pick(&bits, 4);
  animation_ = kAnimations[Pick(&bits, kAnimations.size())];
  facing_ = Pick(&bits, 2) == 0 ? "left" : "right";
  if (!pictures.empty()) {
    const std::string& picture = pictures[Pick(&bits, static_cast<uint32_t>(pictures.size()))];
    std::copy(picture.begin(), picture.end(), file_.begin());
    scale_ = kPictureScale;
    return;
  }
  std::copy(kFile.begin(), kFile.end(), file_.begin());
  for (size_t i = 0; i < 4; ++i) {
    file_[i] = kHex[Pick(&bits, 16)];
  }
}

void Flight::AppendMotion(std::string& to) const {
  to.append("\"at\":");
  if (at_thousandths_ == 1000) {
    to += '1';
  } else {
    to += "0.";
    to += static_cast<char>('0' + at_thousandths_ / 100);
    to += static_cast<char>('0' + at_thousandths_ / 10 % 10);
    to += static_cast<char>('0' + at_thousandths_ % 10);
  }
  to.append(",\"vx\":");
  AppendWhole(to, vx_);
  to.append(",\"vy\":");
  AppendWhole(to, vy_);
}

void Flight::AppendPicture(std::string& to) const {
  to.append("\"file\":\"").append(file()).append("\",\"animation\":\"").append(animation_);
  to.append("\",\"facing\":\"").append(facing_).append("\",\"scale\":");
  to += static_cast<char>('0' + scale_);
}

bool operator==(const ReceivedFlight& received, const Flight& thrown) {
  return received.at == thrown.at_thousandths_ / 1000.0 && received.vx == thrown.vx_ &&
         received.vy == thrown.vy_ && received.scale == thrown.scale_ &&
         received.file == thrown.file() && received.animation == thrown.animation_ &&
         received.facing == thrown.facing_;
}

}  // namespace swarm
