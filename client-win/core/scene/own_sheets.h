// Pictures that the program draws itself, such as shadows: each is drawn once a size, and is kept
// while a scene shows it.
//
// Cost: a look-up; after a new picture also one pass over all, of which there are at most two for
// each thing that scenes show.
#ifndef CLIENT_WIN_CORE_SCENE_OWN_SHEETS_H_
#define CLIENT_WIN_CORE_SCENE_OWN_SHEETS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "core/picture/sheet.h"

namespace sprites {

// A sheet of one column of cells, still without pixels.
inline std::shared_ptr<Sheet> NewColumn(const char* name, int width, int height, int cells) {
  auto sheet = std::make_shared<Sheet>();
  sheet->description.name = name;
  sheet->width = sheet->description.frame_width = width;
  sheet->description.frame_height = height;
  sheet->height = height * cells;
  sheet->description.animations["idle"] = {{0}, 1};
  sheet->rgba.reserve(size_t{4} * static_cast<size_t>(width) * static_cast<size_t>(sheet->height));
  return sheet;
}

class OwnSheets {
 public:
  using Size = std::pair<int, int>;  // what the picture depends on, in px

  // The picture of this size, which `draw` returns if it is not here.
  template <class DrawSheet>
  SheetPointer Find(const Size& size, DrawSheet draw) {
    const auto found = sheets_.find(size);
    if (found != sheets_.end()) {
      return found->second;
    }
    std::erase_if(sheets_, [](const auto& kept) { return kept.second.use_count() == 1; });
    return sheets_.emplace(size, draw()).first->second;
  }
  size_t kept() const { return sheets_.size(); }

 private:
  std::map<Size, SheetPointer> sheets_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_OWN_SHEETS_H_
