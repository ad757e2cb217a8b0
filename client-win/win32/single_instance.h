// One program a person: the second one hands its files to the first and ends.
//
// The first has a window of a class of its own; the files travel by WM_COPYDATA, as paths.
// Invariant: what is read is checked, for any program of this person may send such a message.
#ifndef CLIENT_WIN_WIN32_SINGLE_INSTANCE_H_
#define CLIENT_WIN_WIN32_SINGLE_INSTANCE_H_

#include <windows.h>

#include <optional>
#include <string>
#include <vector>

#include "win32/owned.h"

namespace sprites {

constexpr wchar_t kMainClass[] = L"SpritesDesktop";  // the installer looks for it too
constexpr size_t kHandedPathsMax = 64;               // files at once
constexpr size_t kHandedBytesMax = 262'144;          // bytes of paths

// Whether this is the first. While it is held, no other is.
class SingleInstance {
 public:
  SingleInstance();
  bool IsFirst() const { return is_first_; }

 private:
  OwnedHandle mutex_;
  bool is_first_ = false;
};

// Hands the paths to the program that runs; false when it does not answer.
bool HandOverPaths(const std::vector<std::wstring>& paths);

// The paths in a WM_COPYDATA; nothing when it is none of ours. Possibly empty.
std::optional<std::vector<std::wstring>> ReadHandedOverPaths(const COPYDATASTRUCT& copied);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SINGLE_INSTANCE_H_
