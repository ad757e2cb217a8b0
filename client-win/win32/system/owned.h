// Windows handles that close themselves, each type names the function that closes it; and how the
// bitmaps of the program are made.
#ifndef CLIENT_WIN_WIN32_SYSTEM_OWNED_H_
#define CLIENT_WIN_WIN32_SYSTEM_OWNED_H_

#include <windows.h>

#include <memory>
#include <type_traits>

namespace sprites {

template <typename Handle, auto kClose>
struct ClosesBy {
  using pointer = Handle;
  void operator()(Handle handle) const { kClose(handle); }
};
// Null means no handle: callers replace INVALID_HANDLE_VALUE by null.
template <typename Handle, auto kClose>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, ClosesBy<Handle, kClose>>;

using OwnedHandle = Owned<HANDLE, CloseHandle>;
using OwnedDc = Owned<HDC, DeleteDC>;
using OwnedBitmap = Owned<HBITMAP, DeleteObject>;
using OwnedMenu = Owned<HMENU, DestroyMenu>;

// 32 bits a pixel, the top row first.
inline BITMAPINFO BitmapFormat(int width, int height) {
  BITMAPINFO format{};
  format.bmiHeader = {sizeof format.bmiHeader, width, -height, 1, 32, BI_RGB};
  return format;
}

// For COM objects, which count their references.
struct ReleaseCom {
  template <typename T>
  void operator()(T* object) const {
    object->Release();
  }
};
template <typename T>
using OwnedCom = std::unique_ptr<T, ReleaseCom>;

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_OWNED_H_
