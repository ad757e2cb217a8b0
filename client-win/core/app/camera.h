// Takes pictures of what the desktop shows, and saves them in the folder that the person has for
// pictures.
//
// Invariant: one picture is drawn at a time, on a thread of its own, and no file is replaced.
// Threads: all calls on the desktop's thread; `write` and `wake` are called on the camera's.
#ifndef CLIENT_WIN_CORE_APP_CAMERA_H_
#define CLIENT_WIN_CORE_APP_CAMERA_H_

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/desktop/context.h"
#include "core/scene/film.h"
#include "core/scene/photograph.h"
#include "core/text/refused.h"

namespace sprites {

constexpr int kSameNamesMax = 100;    // files of one second: "Sprites … (2).png" and so on
constexpr int64_t kFocusMs = 60'000;  // a menu is open, at most: sheets stay in memory until then

// What became of a picture.
struct SavedPicture {
  std::filesystem::path file{};
  std::optional<Reason> error{};  // why there is none
};

class Camera {
 public:
  // Returns whether the bytes are on disk now.
  using Write = std::function<bool(const std::filesystem::path& path, std::string_view bytes)>;

  // `wake` is called when PopSaved has something.
  Camera(std::filesystem::path folder, Write write, std::function<void()> wake);
  // Waits until the picture that is being drawn is saved.
  ~Camera();
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;

  // Keeps what the desktop shows.
  void Watch(const Scene& scene, int64_t now_ms);
  // A menu opens: the next animation ends here, not where the person has found its entry.
  void Focus();

  bool is_busy() const { return thread_.joinable(); }
  // Saves what the scene shows, with these bubbles. REQUIRES: !is_busy(), as for the next one.
  void Photograph(const Scene& scene, std::vector<PaintedBubble> bubbles, const WallClock& clock);
  // Saves the last kFilmMs, with `label` below.
  void Animate(PaintedBubble label, const WallClock& clock);
  // The picture that has been saved since the last call.
  std::optional<SavedPicture> PopSaved();

 private:
  void Start(const std::string& name, const char* ending, std::function<Bytes()> draw);
  SavedPicture Save(const std::string& name, const char* ending,
                    const std::function<Bytes()>& draw) const;

  std::filesystem::path folder_;
  Write write_;
  std::function<void()> wake_;
  Film film_;
  struct Focused {
    std::vector<Moment> moments;
    int64_t at_ms = 0;
  };
  std::optional<Focused> focused_;
  int64_t watched_ms_ = 0;  // at the last Watch
  std::mutex mutex_;
  std::optional<SavedPicture> saved_;  // of the camera's thread; guarded by mutex_
  std::thread thread_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_APP_CAMERA_H_
