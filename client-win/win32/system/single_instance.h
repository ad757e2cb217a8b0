// At most one instance of the program for each folder with a user's files, in all sessions of that
// user: a second one passes its files or its link to the first and ends, or waits for a first one
// that is just ending (core/desktop/second_start.h).
//
// The first instance has a window of class kMainClass, which carries the name of the instance; what
// the second one was started with is sent to it in a WM_COPYDATA message. A window in another
// session can't be reached. Invariant: the content of such a message is validated, because any
// program of the same user can send one.
#ifndef CLIENT_WIN_WIN32_SYSTEM_SINGLE_INSTANCE_H_
#define CLIENT_WIN_WIN32_SYSTEM_SINGLE_INSTANCE_H_

#include <windows.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/desktop/files/sent_paths.h"
#include "core/desktop/second_start.h"
#include "win32/system/owned.h"

namespace sprites {

constexpr wchar_t kMainClass[] = L"SpritesDesktop";  // the installer looks for this class too

// What the program was started with.
struct Arguments {
  std::vector<std::wstring> paths;  // of files to import
  std::wstring link;
  bool has_link = false;  // `link` is to be opened, although it may be empty
};

// The place of the first instance. As long as an object lives that has it, no other instance does.
class SingleInstance {
 public:
  // For the program that has its files in this folder.
  explicit SingleInstance(const std::filesystem::path& folder);
  ~SingleInstance();
  SingleInstance(const SingleInstance&) = delete;
  SingleInstance& operator=(const SingleInstance&) = delete;

  // Takes the place, or sends the arguments to the instance that has it. Waits kSecondStartMsMax at
  // most.
  StartOutcome Start(const Arguments& arguments);
  // Lets other instances find the first one by its main window.
  void Mark(HWND window) const;

 private:
  std::wstring name_;
  OwnedHandle mutex_;  // owned by the thread of the first instance
  bool is_first_ = false;
};

// Returns the link in a WM_COPYDATA message; nullopt if a second instance with a link did not send
// it.
std::optional<std::wstring> ReadSentLink(const COPYDATASTRUCT& copied);

// Returns the paths in a WM_COPYDATA message, possibly none; nullopt if a second
// instance with files did not send it.
std::optional<std::vector<std::wstring>> ReadSentPaths(const COPYDATASTRUCT& copied);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_SINGLE_INSTANCE_H_
