// What every program does around a desktop, and needs no window for.
//
// It reads and writes the program's own files, makes the requests of the desktop, imports pictures,
// and carries out what the menus offer, and what the person does with the sprites. A shell only
// translates: it reports to desktop() what the system tells, and to the SpriteListener what its
// windows do, calls Turn, shows the scene, and does what its Host is asked for.
// Invariant: the state that the desktop asks to save is on disk before its requests are made.
// Threads: all calls on the desktop's thread; the threads of its parts call `wake`.
#ifndef CLIENT_WIN_CORE_APP_CONTROLLER_H_
#define CLIENT_WIN_CORE_APP_CONTROLLER_H_

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/app/camera.h"
#include "core/app/host.h"
#include "core/app/sprite_listener.h"
#include "core/desktop/desktop.h"
#include "core/desktop/files/own_file.h"
#include "core/desktop/files/own_sounds.h"
#include "core/desktop/files/state_writer.h"
#include "core/picture/file_cache.h"
#include "core/picture/importer.h"
#include "core/relay/carrier.h"
#include "core/words/greeting.h"
#include "core/words/menus.h"

namespace sprites {

constexpr size_t kFirstSprites = 3;  // sprites that fall in on the very first start

// What a system provides.
struct Platform {
  FileAccess files;
  std::filesystem::path kept;         // kept.json: the sprites and the seat
  std::filesystem::path settings;     // settings.json
  std::filesystem::path pictures;     // the folder of the FileCache
  std::filesystem::path sounds;       // the folder of the OwnSounds
  std::filesystem::path photographs;  // the folder that the person has for pictures
  Transport* transport = nullptr;     // lives longer than the controller
  DecodeOther decode;
  std::function<void()> wake;  // makes a turn come soon; called on any thread
  // The settings of the file, with what the system or the command line says.
  std::function<Settings(Settings)> complete;
  Random random{};  // empty for one that differs in each run
};

class Controller : public SpriteListener {
 public:
  // Reads the program's own files. `host` is called from Start on, and lives longer.
  Controller(const Platform& platform, Host* host);

  Desktop& desktop() { return desktop_; }
  FileCache* cache() { return &cache_; }
  const OwnFile& kept_file() const { return kept_file_; }
  const OwnFile& settings_file() const { return settings_file_; }
  // What was wrong in the file of the settings.
  const std::optional<Reason>& settings_error() const { return settings_error_; }

  // Puts the characters and the person's own pictures on the shelf, and continues where the last
  // run ended. On the very first start some sprites fall in, unless the person `brings_files`.
  void Start(std::span<const SheetPointer> characters, bool brings_files);
  // One turn: responses, imported pictures, a tick, and what the desktop then asks for. Valid until
  // the next call.
  const Scene& Turn();
  // Ends the stay at the relay; takes kLeaveMsMax at most. `wait` returns after `wake`, or soon.
  void Leave(const std::function<void()>& wait);

  void Import(std::vector<std::filesystem::path> paths) { importer_.Import(std::move(paths)); }
  // A name that is OwnName() is no choice of the person.
  void ApplySettings(Settings settings);
  void SaveSettings();
  void DropInAnySprite();
  // Shows the folder for the person's own sounds.
  void OpenSounds();

  // Carries out a choice in the menu of the program.
  void HandleChoice(const MenuChoice& choice);
  // Likewise in the menu of a sprite, which may have left while the menu was open.
  void HandleSpriteChoice(const MenuChoice& choice, const Sprite& sprite);
  // Goes where a link leads that something else than the person has opened, such as a web page:
  // asks before it leaves a relay, or fetches a picture.
  void OpenLink(const std::string& text);
  void FollowLink(const RelayLink& link);
  // Asks where to go, which the person finds filled in with `link`.
  void AskWhereToGo(bool is_first_start, const std::string& link);
  // Goes where a link leads that the person has entered, under a name that may be new. Returns why
  // not; empty when it goes there.
  std::string GoTo(const std::string& text, const std::string& name);
  // Asks, and calls `yes` if that is the answer.
  void AskWhether(Question question, std::function<void()> yes);
  // Ends the program, after a question if the settings say so.
  void Close();
  // Gives the keys to a sprite that the person has chosen without the pointer.
  void Steer(SpriteId id);
  // The shell opens a menu.
  void HandleMenuOpened() { camera_.Focus(); }

  void Grabbed(SpriteId id, Point point, double ms) override;
  void Dragged(Point point, double ms) override;
  void Released(double ms) override;
  void Clicked(SpriteId id) override;
  void DoubleClicked() override { host_->Close(); }
  void RightClicked(SpriteId id, Point point) override;
  void Pressed(Key key, bool is_down, bool with_control) override;
  void Stepped(bool is_backwards) override;
  void KeysLost() override;
  void Dropped(std::vector<std::filesystem::path> paths) override;
  void MonitorsChanged() override { host_->HandleMonitorsChanged(); }

  // What the sprite that has the keys says, or else the greeting of the first one; nothing when
  // there is nothing to say. The bubble has the id of its sprite.
  std::optional<DrawnBubble> BubbleIn(const Scene& scene);
  // Likewise, as a scene for a window of its own. The bubble has an id by what it says.
  Scene OwnBubble(const Scene& scene);
  void DismissBubble();

  void ShowNotice(Text title, Text text, std::initializer_list<std::string_view> values = {});
  std::string Said(Text text, std::initializer_list<std::string_view> values = {}) const;

 private:
  void HandleImported();
  void DropInOwn(const SheetPointer& sheet);
  void HandleOutbox(Outbox outbox);
  void HandleWriters();
  void Play(Sound sound);
  bool CarryOutHere(const MenuChoice& choice);
  void SwapPicture(const std::string& file);
  void AskAboutReport(const Sprite& sprite);
  std::vector<SheetPointer> FirstCharacters() const;
  void Mute(const Neighbour& neighbour, bool is_muted);
  void SayHowToShowAll();
  void ShowHidden();
  void Invite();
  void TakePicture(bool is_animated);
  void HandleSavedPicture();
  void CopyDiagnostics();

  Host* host_;
  std::filesystem::path folder_;  // of kept.json
  OwnFile kept_file_;
  OwnFile settings_file_;
  std::optional<Reason> settings_error_;
  Settings settings_;  // as they were read at the start
  FileCache cache_;
  Carrier carrier_;
  StateWriter state_writer_;
  StateWriter settings_writer_;
  Importer importer_;
  Camera camera_;
  OwnSounds own_sounds_;
  Desktop desktop_;
  Greeting greeting_;
  bool was_failing_ = false;  // writing to disk, at the last turn
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_APP_CONTROLLER_H_
