// What the sprites look like: their pictures, how large they are drawn, and what lies on the
// ground.
//
// Cost: a picture is one DrawnSprite a sprite.
#ifndef CLIENT_WIN_CORE_DESKTOP_SPRITE_LOOK_H_
#define CLIENT_WIN_CORE_DESKTOP_SPRITE_LOOK_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/desktop/context.h"
#include "core/desktop/files/sheet_cache.h"
#include "core/picture/picture_versions.h"
#include "core/scene/dust.h"
#include "core/scene/own_sheets.h"
#include "core/scene/scene.h"

namespace sprites {

class SpriteLook {
 public:
  SpriteLook(Context* context, Simulation* simulation)
      : context_(*context), simulation_(*simulation) {}

  void SetMonitors(std::span<const Monitor> monitors);
  void SetWindows(std::span<const WindowArea> front_to_back);
  // Adds a character that comes with the program, or that was dropped here.
  void AddToShelf(const SheetPointer& sheet);
  const std::vector<SheetPointer>& shelf() const { return sheets_.shelf(); }
  // Null when there is no such file on the shelf.
  SheetPointer FindOnShelf(const std::string& file) const { return sheets_.FindOnShelf(file); }
  // Shows another picture instead of this one of the shelf, there and on its sprites.
  void Replace(const std::string& file, const SheetPointer& sheet);
  // Of the pictures that were dropped here.
  PictureVersions& versions() { return versions_; }
  const PictureVersions& versions() const { return versions_; }
  // Draws a picture as a parcel from now on, after each start too, or shows it again.
  void HidePicture(const std::string& file, bool is_hidden);
  bool IsHidden(const std::string& file) const;
  // The machine saves power: sprites do not wander, and half of the frames are enough.
  void SetSavingPower(bool is_saving);
  // The person has told the system that things should move less: sprites do not wander.
  void SetReducedMotion(bool is_reduced);
  // Whether the program shows what lies on the ground, Scene::ground. At first it does not, and
  // nothing is computed for it.
  void SetGroundShown(bool is_shown);

  // -- For the other parts of the desktop.
  void BeginTick() { sheets_.BeginTick(); }
  void ApplySettings();
  // Fetches again what could not be fetched: the relay may have it now.
  void RetryMissing() { sheets_.RetryMissing(); }
  // Asks the relay for files that are missing here. `mark_at_relay` gets each file that comes.
  // REQUIRES: connected.
  void FetchSheets(const std::function<void(const std::string&)>& mark_at_relay);
  // There is another seat, or none: what is being fetched is fetched again.
  void ForgetFetches() { sheets_.ForgetFetches(); }
  // Forgets a picture for good.
  void Remove(const std::string& file) { sheets_.Remove(file); }
  bool HasSheet(const std::string& file) const { return sheets_.Has(file); }
  // The sheet that a file is drawn with; a parcel if it is not here, or not wanted. Never null.
  const SheetPointer& SheetOf(const std::string& file) { return sheets_.Find(file, ShowsOthers()); }
  Nature NatureFor(const std::string& file, double scale);
  bool IsVisible(const Sprite& sprite) const;
  // Of what is drawn, in percent. A screen that shows no shadows shows nothing translucent.
  int Opacity() const { return is_ground_shown_ ? context_.settings.opacity : kOpacityMax; }
  // At a sprite's feet, or where it comes in. None flies about while sprites are calm.
  void RaiseDust(const Sprite& sprite, double reach);
  void Draw(Scene* scene);
  // When the ground changes by itself, in the simulation's time.
  double NextChangeMs(double now_ms) const { return dust_.NextChangeMs(now_ms); }

 private:
  bool ShowsOthers() const;
  bool IsCalm() const { return context_.settings.calm || is_saving_power_ || is_motion_reduced_; }
  void ApplyCalm();
  void ApplyScreen();
  void ApplyWindows();
  void UpdateAllNatures();
  void UpdateNatures(const std::string& file);
  void DrawShadowOf(const Sprite& sprite, std::vector<DrawnSprite>* ground);

  Context& context_;
  Simulation& simulation_;
  SheetCache sheets_;
  PictureVersions versions_;
  OwnSheets shadows_;
  OwnSheets snoozes_;
  Dust dust_;
  bool is_ground_shown_ = false;
  bool is_saving_power_ = false;
  bool is_motion_reduced_ = false;
  std::vector<Monitor> monitors_;
  std::vector<WindowArea> windows_;
  double drawn_ms_ = 0;  // the simulation's time of the last scene
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_SPRITE_LOOK_H_
