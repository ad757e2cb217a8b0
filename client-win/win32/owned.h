// Handles of Windows that end by themselves; each type says how.
#ifndef CLIENT_WIN_WIN32_OWNED_H_
#define CLIENT_WIN_WIN32_OWNED_H_

#include <windows.h>

#include <memory>
#include <type_traits>

namespace sprites {

template <typename Handle, auto kEnd>
struct EndsBy {
  using pointer = Handle;
  void operator()(Handle handle) const { kEnd(handle); }
};
// Null when there is none. APIs that say INVALID_HANDLE_VALUE are asked before it is taken.
template <typename Handle, auto kEnd>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, EndsBy<Handle, kEnd>>;

using OwnedHandle = Owned<HANDLE, CloseHandle>;
using OwnedDc = Owned<HDC, DeleteDC>;
using OwnedBitmap = Owned<HBITMAP, DeleteObject>;
using OwnedMenu = Owned<HMENU, DestroyMenu>;

// What COM counts.
struct ReleaseCom {
  template <typename T>
  void operator()(T* object) const {
    object->Release();
  }
};
template <typename T>
using OwnedCom = std::unique_ptr<T, ReleaseCom>;

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_OWNED_H_
