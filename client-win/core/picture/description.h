// Reads the description inside a .spr: the JSON that says what the frames of its sheet mean.
//
// Invariant: the result holds only known fields, each within its limits, with every default filled
// in. Unknown fields are ignored, so that spr/1 can grow. Cost: O(JSON) ≤ kJsonBytesMax.
#ifndef CLIENT_WIN_CORE_PICTURE_DESCRIPTION_H_
#define CLIENT_WIN_CORE_PICTURE_DESCRIPTION_H_

#include <string_view>

#include "core/picture/sheet.h"

namespace sprites {

// The description in `json`, checked against the size of its sheet, in pixels. Throws SprRefused
// (part `json`), naming the field.
Description ParseDescription(std::string_view json, int sheet_width, int sheet_height);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_DESCRIPTION_H_
