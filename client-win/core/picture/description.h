// The description inside a .spr: the JSON that says what its sheet's frames mean.
//
// Invariant: what comes out holds only known fields, each inside its limits, with every default
// filled in. Unknown fields are ignored, so that spr/1 can grow. Cost: O(JSON) ≤ kJsonBytesMax.
#ifndef CLIENT_WIN_CORE_PICTURE_DESCRIPTION_H_
#define CLIENT_WIN_CORE_PICTURE_DESCRIPTION_H_

#include <string_view>

#include "core/picture/sheet.h"

namespace sprites {

// The description in `json`, checked against the sheet it lies in; sizes in pixels. Throws
// SprRefused (part `json`), naming the field.
Description DescriptionOf(std::string_view json, int sheet_width, int sheet_height);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_DESCRIPTION_H_
