// At most one instance of the program per user: a second one passes its files or its link to the
// first and ends.
//
// The first instance has a window of class kMainClass; what the second one was started with is sent
// to it in a WM_COPYDATA message. Invariant: the content of such a message is validated, because
// any program of the same user can send one.
#ifndef CLIENT_WIN_WIN32_SINGLE_INSTANCE_H_
#define CLIENT_WIN_WIN32_SINGLE_INSTANCE_H_

#include <windows.h>

#include <optional>
#include <string>
#include <vector>

#include "win32/owned.h"

namespace sprites {

constexpr wchar_t kMainClass[] = L"SpritesDesktop";  // the installer looks for this class too
constexpr size_t kSentPathsMax = 64;                 // paths in one message
constexpr size_t kSentBytesMax = 262'144;            // bytes of all paths in one message

// Tells whether this is the first instance. As long as the object lives, no other instance is.
class SingleInstance {
 public:
  SingleInstance();
  bool IsFirst() const { return is_first_; }

 private:
  OwnedHandle mutex_;
  bool is_first_ = false;
};

// Sends the paths to the first instance. Returns false if it does not answer.
bool SendPaths(const std::vector<std::wstring>& paths);

// Likewise for a link. The first instance may then bring its windows to the front.
bool SendLink(const std::wstring& link);

// Returns the link in a WM_COPYDATA message; nullopt if SendLink did not send it.
std::optional<std::wstring> ReadSentLink(const COPYDATASTRUCT& copied);

// Returns the paths in a WM_COPYDATA message, possibly none; nullopt if SendPaths did not send it.
std::optional<std::vector<std::wstring>> ReadSentPaths(const COPYDATASTRUCT& copied);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SINGLE_INSTANCE_H_
