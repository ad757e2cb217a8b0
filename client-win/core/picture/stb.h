// stb's decoder, encoder and scaler, with the limits of this program. Only sheet.cc, still.cc and
// picture.cc include this.
#ifndef CLIENT_WIN_CORE_PICTURE_STB_H_
#define CLIENT_WIN_CORE_PICTURE_STB_H_

#include <cstdlib>
#include <memory>

#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_MAX_DIMENSIONS 16384  // pixels a side: kPictureSidePixelsMax
#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

namespace sprites {

struct FreeStb {
  void operator()(void* memory) const { free(memory); }
};
// Memory that stb has allocated.
template <typename T>
using StbOwned = std::unique_ptr<T[], FreeStb>;

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_STB_H_
