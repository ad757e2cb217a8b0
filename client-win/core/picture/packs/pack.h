// Makes a sprite of a Shimeji pack: its pictures, mirrored, on the spot where the mascot stands.
#ifndef CLIENT_WIN_CORE_PICTURE_PACKS_PACK_H_
#define CLIENT_WIN_CORE_PICTURE_PACKS_PACK_H_

#include <span>
#include <string_view>
#include <vector>

#include "core/picture/packs/actions.h"
#include "core/picture/packs/pack_files.h"

namespace sprites {

constexpr size_t kPackPictureBytesMax = 1'048'576;  // bytes: 1 MiB, a hundred times the usual one
constexpr int64_t kPackPixelsMax = 8'388'608;       // pixels of all frames: 32 MiB

// The box of a picture from the spot where the sprite stands, as it looks to the left.
struct PackBox {
  int x = 0;
  int y = 0;
  int64_t width = 0;
  int64_t height = 0;
};

struct PackLayout {
  int width = 0;
  int height = 0;
  std::vector<std::pair<int, int>> places;  // left and top of each, as it looks right
};

// A canvas for all boxes. Throws PictureRefused when it has too many pixels for so many frames.
PackLayout LayOutCells(std::span<const PackBox> boxes);

struct PackSprite {
  Picture picture;  // a frame for each cell
  Box body;
  std::map<std::string, Animation> animations;
  std::vector<std::string> left_out;
};

// Throws PictureRefused.
PackSprite ReadPack(const PackFiles& files);

// The checked bytes of its .spr. Throws PictureRefused when it fits at no size.
inline Bytes SprOfPack(const PackSprite& pack, std::string_view file_name) {
  return SprOfFrames(pack.picture, pack.animations, pack.body, file_name);
}

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_PACKS_PACK_H_
