#include "core/desktop/sprite_look.h"

#include <algorithm>
#include <utility>

#include "core/relay/relay_link.h"
#include "core/scene/shadow.h"
#include "core/scene/snooze.h"

namespace sprites {

void SpriteLook::SetMonitors(std::span<const Monitor> monitors) {
  monitors_.assign(monitors.begin(), monitors.end());
  ApplyScreen();
}

void SpriteLook::SetWindows(std::span<const WindowArea> front_to_back) {
  const auto used = front_to_back.first(std::min(front_to_back.size(), kWindowsMax));
  if (!std::ranges::equal(used, windows_)) {
    windows_.assign(used.begin(), used.end());
    ApplyWindows();
  }
}

void SpriteLook::AddToShelf(const SheetPointer& sheet) {
  sheets_.AddToShelf(sheet);
  UpdateNatures(sheet->file);
}

void SpriteLook::Replace(const std::string& file, const SheetPointer& sheet) {
  sheets_.Replace(file, sheet);
  for (size_t i = 0; i < simulation_.sprites().size(); i++) {
    Sprite sprite = simulation_.sprites()[i];
    if (sprite.file == file && sprite.from_shelf) {
      sprite.file = sheet->file;
      sprite.scale = sheet->description.scale;
      simulation_.Put(std::move(sprite));
    }
  }
  UpdateNatures(sheet->file);
  context_.saves_now = true;
}

void SpriteLook::SetSavingPower(bool is_saving) {
  is_saving_power_ = is_saving;
  ApplyCalm();
}

void SpriteLook::SetReducedMotion(bool is_reduced) {
  is_motion_reduced_ = is_reduced;
  ApplyCalm();
}

void SpriteLook::SetGroundShown(bool is_shown) {
  is_ground_shown_ = is_shown;
  if (!is_shown) {
    dust_.Settle();
  }
}

void SpriteLook::ApplyCalm() {
  simulation_.SetCalm(IsCalm());
  if (IsCalm()) {
    dust_.Settle();
  }
}

void SpriteLook::HidePicture(const std::string& file, bool is_hidden) {
  std::erase(context_.settings.hidden, file);
  if (is_hidden) {
    context_.settings.hidden.push_back(file);  // at the end: the limit drops the oldest ones
  }
  context_.settings = WithinLimits(std::move(context_.settings));
  sheets_.SetHidden(context_.settings.hidden);
  UpdateNatures(file);
  context_.outbox.settings_changed = true;
}

bool SpriteLook::IsHidden(const std::string& file) const {
  return std::ranges::find(context_.settings.hidden, file) != context_.settings.hidden.end();
}

void SpriteLook::FetchSheets(const std::function<void(const std::string&)>& mark_at_relay) {
  for (Request& request : sheets_.DueRequests(context_.relay.poller.relay(), ShowsOthers(),
                                              context_.now_ms, &context_.budget)) {
    const std::string file = request.file;
    context_.Send(std::move(request), Until::kSeatEnds,
                  [this, file, mark_at_relay](const Response& response) {
                    if (sheets_.HandleResponse(file, response)) {
                      UpdateNatures(file);
                      mark_at_relay(file);
                    }
                  });
  }
}

// Whether the person wants to see pictures that are not on the shelf.
bool SpriteLook::ShowsOthers() const {
  const bool is_private = context_.relay.seat() ? context_.relay.seat()->world != kCommons
                                                : !context_.settings.world.empty() &&
                                                      context_.settings.world != kCommons;
  return context_.settings.accept == Accept::kEverybody ||
         (context_.settings.accept == Accept::kFriends && is_private);
}

Nature SpriteLook::NatureFor(const std::string& file, double scale) {
  const Description& description = SheetOf(file)->description;
  Nature nature = NatureOf(description, scale);
  // As large as it is drawn on the primary monitor.
  const Screen& screen = simulation_.screen();
  const double dip = ShownScale(description, scale) * context_.settings.scale;
  const double monitor_scale = screen.monitors()[screen.PrimaryMonitor()].scale;
  const double drawn =
      PixelScale(dip * monitor_scale, context_.settings.whole_pixels) / monitor_scale;
  nature.width *= context_.settings.scale * drawn / dip;
  nature.height *= context_.settings.scale * drawn / dip;
  return nature;
}

void SpriteLook::UpdateAllNatures() {
  for (const Sprite& sprite : simulation_.sprites()) {
    simulation_.SetNature(sprite.id, NatureFor(sprite.file, sprite.scale));
  }
}

// The sheet of a file has changed, and so has every sprite that wears it.
void SpriteLook::UpdateNatures(const std::string& file) {
  for (const Sprite& sprite : simulation_.sprites()) {
    if (sprite.file == file) {
      simulation_.SetNature(sprite.id, NatureFor(file, sprite.scale));
    }
  }
}

void SpriteLook::ApplyScreen() {
  std::vector<Monitor> used = monitors_;
  if (!context_.settings.all_monitors) {
    const Screen all(monitors_);
    used = {all.monitors()[all.PrimaryMonitor()]};
  }
  simulation_.SetScreen(Screen(used));
  ApplyCalm();
  UpdateAllNatures();
  ApplyWindows();
}

void SpriteLook::ApplyWindows() {
  simulation_.SetLedges(LedgesOf(windows_, simulation_.screen()));
  context_.covered = FullScreenMonitors(windows_, simulation_.screen());
}

bool SpriteLook::IsVisible(const Sprite& sprite) const {
  return !(context_.settings.hide_in_full_screen && context_.IsCovered(sprite.monitor)) &&
         !context_.HidesAll();
}

void SpriteLook::DrawShadowOf(const Sprite& sprite, std::vector<DrawnSprite>* ground) {
  const Monitor& monitor = simulation_.screen().monitors()[sprite.monitor];
  const auto below = simulation_.GroundBelow(sprite, kShadowReach * monitor.scale);
  if (auto shadow = below ? DrawShadow(sprite, *below, monitor, &shadows_) : std::nullopt) {
    ground->push_back(std::move(*shadow));
  }
}

// At a sprite's feet, or where it comes in. None flies about while sprites are calm.
void SpriteLook::RaiseDust(const Sprite& sprite, double reach) {
  if (!is_ground_shown_ || IsCalm() || !IsVisible(sprite)) {
    return;
  }
  const Monitor& monitor = simulation_.screen().monitors()[sprite.monitor];
  const Rect& work = monitor.work;
  dust_.Rise(
      {std::clamp(sprite.x, work.left, work.right), std::clamp(sprite.y, work.top, work.bottom)},
      reach, monitor, simulation_.now_ms());
}

void SpriteLook::Draw(Scene* scene) {
  scene->sprites.clear();
  std::vector<DrawnSprite> ground;
  for (const Sprite& sprite : simulation_.sprites()) {
    DrawnSprite drawn = sprites::Draw(
        sprite, SheetOf(sprite.file), simulation_.screen().monitors()[sprite.monitor],
        context_.settings.scale, context_.settings.whole_pixels, simulation_.now_ms());
    drawn.visible = IsVisible(sprite);
    drawn.opacity = Opacity();
    const bool has_landed = sprite.mode == Mode::kLand && sprite.since_ms > drawn_ms_;
    if (has_landed && sprite.landed_hard && drawn.visible) {
      context_.outbox.sounds.push_back(Sound::kLand);
    }
    if (has_landed) {
      RaiseDust(sprite, sprite.nature.width / 2);
    }
    if (drawn.visible && is_ground_shown_) {
      DrawShadowOf(sprite, &ground);
      if (sprite.mode == Mode::kSleep) {
        ground.push_back(
            DrawSnooze(sprite, simulation_.screen().monitors()[sprite.monitor], &snoozes_));
      }
    }
    scene->sprites.push_back(std::move(drawn));
  }
  drawn_ms_ = simulation_.now_ms();
  dust_.Draw(drawn_ms_, &ground);
  for (DrawnSprite& low : ground) {
    low.opacity = Opacity();
  }
  std::swap(scene->ground, ground);  // the last one kept the pictures that this one shows again
  scene->saves_power = is_saving_power_;
}

void SpriteLook::ApplySettings() {
  sheets_.SetHidden(context_.settings.hidden);
  ApplyScreen();
  sheets_.RetryMissing();  // their pictures may be wanted now
}

}  // namespace sprites
