// The two versions of each dropped picture that has a background: with it and without.
//
// They are here until the program ends, so that the person can choose the other one. Memory: at
// most kVersionsMax times two files. Cost: O(pictures).
#ifndef CLIENT_WIN_CORE_PICTURE_PICTURE_VERSIONS_H_
#define CLIENT_WIN_CORE_PICTURE_PICTURE_VERSIONS_H_

#include <array>
#include <deque>
#include <string>
#include <utility>

#include "core/picture/picture.h"

namespace sprites {

constexpr size_t kVersionsMax = 24;  // pictures: above it, those dropped first have no way back

class PictureVersions {
 public:
  struct Version {
    std::string file;
    Bytes spr;
    bool is_cut = false;  // without the background
  };

  // Does nothing for a picture without another version.
  void Add(DroppedSpr dropped) {
    if (dropped.other.empty() || OtherOf(Sha256Hex(dropped.spr)) != nullptr) {
      return;
    }
    const auto version = [](Bytes spr, bool is_cut) {
      const std::string file = Sha256Hex(spr);
      return Version{file, std::move(spr), is_cut};
    };
    pairs_.push_back({version(std::move(dropped.spr), dropped.is_cut),
                      version(std::move(dropped.other), !dropped.is_cut)});
    if (pairs_.size() > kVersionsMax) {
      pairs_.pop_front();
    }
  }
  // The other version of a file; null when there is none.
  const Version* OtherOf(const std::string& file) const {
    for (const auto& [one, other] : pairs_) {
      if (one.file == file || other.file == file) {
        return one.file == file ? &other : &one;
      }
    }
    return nullptr;
  }

 private:
  std::deque<std::array<Version, 2>> pairs_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_PICTURE_VERSIONS_H_
