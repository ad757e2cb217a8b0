// The sprites on Wayland: one layer for each monitor, over all of it that panels leave, on which
// GTK draws them.
//
// Where no sprite is opaque, a layer takes no clicks. Wayland tells a program neither where the
// windows of others are, nor where the pointer is when it is not on a layer: sprites stand on the
// ground only, and look at a pointer that touches one. Cost of a frame: GTK draws what has changed;
// nothing while nothing changes.
#ifndef CLIENT_WIN_X11_WINDOWS_LAYER_DISPLAY_H_
#define CLIENT_WIN_X11_WINDOWS_LAYER_DISPLAY_H_

#include <gtk/gtk.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/scene/frame_atlas.h"
#include "x11/windows/signal.h"
#include "x11/windows/sprite_display.h"
#include "x11/windows/sprite_keys.h"

namespace sprites {

class LayerDisplay : public SpriteDisplay {
 public:
  // REQUIRES: GTK uses Wayland, and the compositor has layers.
  explicit LayerDisplay(SpriteListener* listener);

  bool Update(Desktop* desktop, int64_t now_ms) override;
  double IdleMs(const Desktop& desktop, int64_t now_ms) const override;
  const std::vector<Monitor>& monitors() const override { return monitors_; }
  bool is_composited() const override { return true; }
  const char* system() const override { return "Wayland"; }
  void Show(const Scene& scene) override;
  bool GiveKeysTo(SpriteId id) override;
  void ForgetHold() override { hand_.Forget(); }
  PointerNow Pointer() const override;
  MenuCorner CornerAt(Point point) override;
  void EndMenu() override;

 private:
  struct Unref {
    void operator()(cairo_region_t* region) const { cairo_region_destroy(region); }
  };
  struct Layer {
    GdkMonitor* monitor = nullptr;  // of GDK
    std::unique_ptr<GtkWidget, DestroyWidget> window;
    GdkRectangle place{};                              // of the monitor
    std::unique_ptr<cairo_region_t, Unref> clickable;  // in px of the window
  };

  void MakeLayers();
  std::unique_ptr<Layer> MakeLayer(GdkMonitor* monitor);
  void Connect(GtkWidget* window);
  void ReadMonitors();
  void Redraw(const DrawnSprite& drawn) const;
  void SetClickable(const Scene& scene);
  void Draw(const Layer& layer, cairo_t* cairo);
  void DrawOne(const DrawnSprite& drawn, cairo_t* cairo);

  bool HandleEvent(const Layer& layer, const GdkEvent& event);
  void HandlePress(const GdkEventButton& event);
  void HandleRelease(const GdkEventButton& event);
  void HandleKey(const GdkEventKey& event);
  void HandleFocus(const Layer& layer, bool is_in);
  void TakeKeys(const Layer& layer, SpriteId id);
  void GiveKeysBack();
  const DrawnSprite* Find(SpriteId id) const;
  SpriteId SpriteAt(Point point);
  const Layer& LayerAt(Point point) const;
  const Layer* LayerOf(const GtkWidget* window) const;

  SpriteListener* listener_;
  SpriteHand hand_;
  FrameAtlas atlas_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<Monitor> monitors_;
  std::vector<DrawnSprite> shown_;  // all of the scene that is visible, lowest first
  size_t first_sprite_ = 0;         // of those that take clicks, which come last
  bool takes_clicks_ = true;        // they do now
  bool monitors_may_have_changed_ = true;
  bool layers_may_have_changed_ = true;
  Point pointer_;
  bool is_pointer_here_ = false;
  GtkWidget* keys_window_ = nullptr;  // the layer that has the keys, or is to get them
  SpriteId keys_sprite_ = kNobody;    // has them; kNobody: a menu has
  bool has_keys_ = false;             // the compositor has given them
  int waits_left_ = 0;                // turns that a menu waits for them
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_LAYER_DISPLAY_H_
