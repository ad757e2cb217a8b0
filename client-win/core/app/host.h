// What the controller needs of the shell around it.
//
// Threads: all calls are on the desktop's thread.
#ifndef CLIENT_WIN_CORE_APP_HOST_H_
#define CLIENT_WIN_CORE_APP_HOST_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/desktop/outbox.h"
#include "core/motion/sprite.h"
#include "core/relay/relay_link.h"
#include "core/scene/photograph.h"
#include "core/screen/geometry.h"
#include "core/words/diagnostics.h"
#include "core/words/menus.h"
#include "core/words/questions.h"

namespace sprites {

class Host {
 public:
  virtual ~Host() = default;
  // Of a monotonic clock, from the start of the program on.
  virtual int64_t NowMs() const = 0;
  // Makes the next turn come soon, because something has changed.
  virtual void RequestTurn() = 0;
  // Shows a text to the person at once.
  virtual void ShowToast(const Toast& toast) = 0;
  // Plays one channel of samples, kSamplesPerSecond (core/desktop/tones.h), and returns at once. A
  // sound that is still playing is cut off.
  virtual void Play(std::vector<int16_t> samples) = 0;
  // The bubbles of a scene as they look where they have room, for a picture. A shell without
  // windows has none.
  virtual std::vector<PaintedBubble> PaintBubbles(const Scene& /*scene*/) { return {}; }
  // Shows a folder to the person. Returns false if the system has nothing that does.
  virtual bool OpenFolder(const std::filesystem::path& /*folder*/) { return false; }
  // Puts a text into the clipboard. Returns false if that is not possible now.
  virtual bool Copy(const std::string& text) = 0;
  // Gives the keyboard to the window of a sprite. Returns false if it has none.
  virtual bool GiveKeysTo(const Sprite& sprite) = 0;
  virtual Machine DescribeMachine() const = 0;
  // An address by which others in the same network reach this machine; empty if there is none.
  virtual std::string NetworkAddress() const { return ""; }
  // Does what needs a window of its own, such as the settings, or ends the program.
  virtual void OpenWindow(MenuCommand command) = 0;
  // Opens the menu of a sprite, and then calls Controller::HandleSpriteChoice.
  virtual void OpenMenuOver(const Sprite& /*sprite*/, Point /*point*/) {}
  // Calls Controller::Close, unless the person is busy with a window of the program.
  virtual void Close() {}
  virtual void HandleMonitorsChanged() {}
  // Whether an icon by the clock has the menu.
  virtual bool HasIcon() const { return true; }
  // Asks, and then calls `yes` if that is the answer. A question without a second button is only a
  // text: `yes` must do nothing.
  virtual void Ask(Question /*question*/, Yes /*yes*/) {}
  // Asks what QuestionBefore says, and then calls Desktop::Open.
  virtual void AskAboutLink(const RelayLink& link) = 0;
  // What the relay has said about newer versions, and the checked installer, empty if the download
  // has failed. A shell that does not ask for newer versions gets neither.
  virtual void HandleUpdate(const UpdateNews& /*news*/) {}
  virtual void HandleInstaller(const std::string& /*bytes*/) {}
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_APP_HOST_H_
