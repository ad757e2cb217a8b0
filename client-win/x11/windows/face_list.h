// The faces of a family of fonts that are open: each has a file and its memory.
//
// Letters of strangers choose the faces, so there is a limit. Those that are open stay so.
#ifndef CLIENT_WIN_X11_WINDOWS_FACE_LIST_H_
#define CLIENT_WIN_X11_WINDOWS_FACE_LIST_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sprites {

constexpr size_t kFacesMax = 16;  // of a family: more scripts than a screen of names has

template <class Face>
class FaceList {
 public:
  // The face with this number, which `open` opens if need be. Null when that fails, or when there
  // is no room.
  template <class Open>
  Face Find(size_t number, Open open) {
    const auto found = std::ranges::find(faces_, number, &Entry::number);
    if (found != faces_.end()) {
      return found->face;
    }
    const Face face = faces_.size() < kFacesMax ? open() : nullptr;
    if (face != nullptr) {
      faces_.push_back({face, number});
    }
    return face;
  }
  template <class Close>
  void CloseAll(Close close) {
    for (const Entry& entry : faces_) {
      close(entry.face);
    }
    faces_.clear();
  }

 private:
  struct Entry {
    Face face;
    size_t number;
  };
  std::vector<Entry> faces_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_FACE_LIST_H_
