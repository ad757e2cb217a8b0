#include "core/app/camera.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <system_error>
#include <utility>

#include "core/picture/png.h"
#include "core/text/text.h"

namespace sprites {

namespace {

// The page names its pictures alike.
std::string NameAt(const WallClock& clock) {
  using std::chrono::floor, std::chrono::days, std::chrono::seconds, std::chrono::sys_seconds;
  const sys_seconds now(seconds(clock.local_s));
  const auto day = floor<days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(now - day);
  char text[48];
  snprintf(text, sizeof text, "Sprites %04d-%02u-%02u %02d.%02d.%02d",
           static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
           static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
           static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
  return text;
}

}  // namespace

Camera::Camera(std::filesystem::path folder, Write write, std::function<void()> wake)
    : folder_(std::move(folder)), write_(std::move(write)), wake_(std::move(wake)) {}

Camera::~Camera() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Camera::Watch(const Scene& scene, int64_t now_ms) {
  watched_ms_ = now_ms;
  film_.Keep(scene, now_ms);
  if (focused_ && now_ms - focused_->at_ms > kFocusMs) {
    focused_.reset();
  }
}

void Camera::Focus() { focused_ = {{film_.moments().begin(), film_.moments().end()}, watched_ms_}; }

void Camera::Photograph(const Scene& scene, std::vector<PaintedBubble> bubbles,
                        const WallClock& clock) {
  Start(NameAt(clock), ".png", [drawn = SeenIn(scene), bubbles = std::move(bubbles)] {
    return TakePhotograph(drawn, bubbles);
  });
}

void Camera::Animate(PaintedBubble label, const WallClock& clock) {
  if (!focused_) {
    Focus();
  }
  auto [moments, at_ms] = *std::exchange(focused_, std::nullopt);
  Start(NameAt(clock), ".gif",
        [moments = std::move(moments), label = std::move(label),
         end_ms = at_ms - at_ms % kFilmFrameMs + kFilmFrameMs] {
          return MakeAnimation(moments, end_ms, label);
        });
}

std::optional<SavedPicture> Camera::PopSaved() {
  std::optional<SavedPicture> saved;
  {
    const std::lock_guard lock(mutex_);
    saved = std::exchange(saved_, std::nullopt);
  }
  if (saved) {
    thread_.join();
  }
  return saved;
}

void Camera::Start(const std::string& name, const char* ending, std::function<Bytes()> draw) {
  thread_ = std::thread([this, name, ending, draw = std::move(draw)] {
    SavedPicture saved = Save(name, ending, draw);
    {
      const std::lock_guard lock(mutex_);
      saved_ = std::move(saved);
    }
    wake_();
  });
}

SavedPicture Camera::Save(const std::string& name, const char* ending,
                          const std::function<Bytes()>& draw) const {
  try {
    const Bytes bytes = draw();
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    std::filesystem::path file = folder_ / (name + ending);
    for (int number = 2; std::filesystem::exists(file, failed) && number <= kSameNamesMax;
         number++) {
      file = folder_ / (name + " (" + std::to_string(number) + ")" + ending);
    }
    if (!std::filesystem::exists(file, failed) && write_(file, AsText(bytes))) {
      return {file};
    }
    return {{}, Reason{Text::kPhotographNotWritten, {Utf8Of(folder_)}}};
  } catch (const Refused& refused) {
    return {{}, refused.reason()};
  } catch (const std::exception&) {  // there is no memory left for it
    return {{}, Reason{Text::kImportNoMemory}};
  }
}

}  // namespace sprites
