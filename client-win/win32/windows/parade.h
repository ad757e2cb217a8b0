// A picture of some characters under an evening sky, for the dialogs.
#ifndef CLIENT_WIN_WIN32_WINDOWS_PARADE_H_
#define CLIENT_WIN_WIN32_WINDOWS_PARADE_H_

#include <windows.h>

#include <span>

#include "core/picture/sheet.h"

namespace sprites {

// Draws the first cell of each sheet, side by side on a hill, into `rect`. A pixel of a character
// becomes a whole number of pixels. Cost: O(pixels of the picture).
void PaintParade(HDC canvas, const RECT& rect, std::span<const SheetPointer> sheets);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINDOWS_PARADE_H_
