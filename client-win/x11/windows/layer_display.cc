#include "x11/windows/layer_display.h"

#include <gtk-layer-shell/gtk-layer-shell.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "x11/windows/drop_target.h"
#include "x11/windows/frame_pixmap.h"
#include "x11/windows/layer_window.h"

namespace sprites {

namespace {

constexpr int kWaitsForKeysMax = 30;  // turns: half a second

// The frames of a sheet, as a picture of Cairo.
class FrameImage : public Surface {
 public:
  FrameImage(int width, int height)
      : width_(width),
        pixels_(static_cast<size_t>(width) * static_cast<size_t>(height)),
        image_(cairo_image_surface_create_for_data(reinterpret_cast<unsigned char*>(pixels_.data()),
                                                   CAIRO_FORMAT_ARGB32, width, height, 4 * width)) {
  }
  ~FrameImage() override { cairo_surface_destroy(image_); }
  FrameImage(const FrameImage&) = delete;
  FrameImage& operator=(const FrameImage&) = delete;

  uint32_t* Pixels() override { return pixels_.data(); }
  cairo_surface_t* image() const { return image_; }
  // The opaque part of the frame from the row `top` on, relative to the frame.
  const std::vector<xcb_rectangle_t>& Opaque(int top, int height) {
    const auto [place, is_new] = opaque_.try_emplace(top);
    if (is_new) {
      place->second = OpaqueParts(FrameAt(top), width_, height);
    }
    return place->second;
  }
  bool IsOpaqueAt(int top, int x, int y) const {
    return FrameAt(top)[static_cast<size_t>(y) * width_ + x] >> 24 >= kOpaqueMin;
  }

 private:
  const uint32_t* FrameAt(int top) const {
    return pixels_.data() + static_cast<size_t>(top) * width_;
  }

  int width_;
  std::vector<uint32_t> pixels_;
  cairo_surface_t* image_;
  std::map<int, std::vector<xcb_rectangle_t>> opaque_;  // by `top`
};

GdkRectangle PlaceOf(const DrawnSprite& drawn) {
  const Crop shown = drawn.Shown();
  return {drawn.x + shown.x, drawn.y + shown.y, shown.width, shown.height};
}

std::vector<DrawnSprite> VisibleOf(const Scene& scene, size_t* first_sprite) {
  std::vector<DrawnSprite> visible;
  for (const auto* part : {&scene.beyond, &scene.ground, &scene.sprites}) {
    *first_sprite = visible.size();
    std::ranges::copy_if(*part, std::back_inserter(visible), &DrawnSprite::visible);
  }
  return visible;
}

}  // namespace

LayerDisplay::LayerDisplay(SpriteListener* listener)
    : listener_(listener),
      hand_(listener),
      atlas_([](int width, int height) { return std::make_unique<FrameImage>(width, height); }) {
  GdkDisplay* display = gdk_display_get_default();
  for (const char* signal : {"monitor-added", "monitor-removed"}) {
    On(display, signal, [this] { layers_may_have_changed_ = monitors_may_have_changed_ = true; });
  }
  MakeLayers();
  if (!layers_.empty()) {
    const GdkRectangle& place = layers_.front()->place;
    pointer_ = {place.x + place.width / 2.0, place.y + place.height / 2.0};
  }
}

// -- Monitors.

void LayerDisplay::MakeLayers() {
  layers_may_have_changed_ = false;
  keys_window_ = nullptr;
  layers_.clear();
  GdkDisplay* display = gdk_display_get_default();
  for (int i = 0; i < gdk_display_get_n_monitors(display); i++) {
    layers_.push_back(MakeLayer(gdk_display_get_monitor(display, i)));
  }
}

std::unique_ptr<LayerDisplay::Layer> LayerDisplay::MakeLayer(GdkMonitor* monitor) {
  auto layer = std::make_unique<Layer>();
  layer->monitor = monitor;
  gdk_monitor_get_geometry(monitor, &layer->place);
  GtkWidget* window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
  layer->window.reset(window);
  gtk_window_set_title(GTK_WINDOW(window), "Sprites");
  // Until the compositor says how much panels leave of it.
  gtk_window_set_default_size(GTK_WINDOW(window), layer->place.width, layer->place.height);
  gtk_widget_set_app_paintable(window, TRUE);
  sprites::MakeLayer(GTK_WINDOW(window));
  gtk_layer_set_monitor(GTK_WINDOW(window), monitor);
  for (const auto edge : {GTK_LAYER_SHELL_EDGE_LEFT, GTK_LAYER_SHELL_EDGE_RIGHT,
                          GTK_LAYER_SHELL_EDGE_TOP, GTK_LAYER_SHELL_EDGE_BOTTOM}) {
    gtk_layer_set_anchor(GTK_WINDOW(window), edge, TRUE);
  }
  layer->clickable.reset(cairo_region_create());
  gtk_widget_input_shape_combine_region(window, layer->clickable.get());
  Connect(window);
  gtk_widget_show(window);
  // A throw has the speed of all its moves.
  gdk_window_set_event_compression(gtk_widget_get_window(window), FALSE);
  return layer;
}

void LayerDisplay::Connect(GtkWidget* window) {
  gtk_widget_add_events(window, GDK_BUTTON_PRESS_MASK | GDK_BUTTON_RELEASE_MASK |
                                    GDK_POINTER_MOTION_MASK | GDK_LEAVE_NOTIFY_MASK |
                                    GDK_KEY_PRESS_MASK | GDK_KEY_RELEASE_MASK |
                                    GDK_FOCUS_CHANGE_MASK);
  const auto handle = +[](GtkWidget* window, GdkEvent* event, gpointer own) -> gboolean {
    auto* display = static_cast<LayerDisplay*>(own);
    const Layer* layer = display->LayerOf(window);
    return layer != nullptr && display->HandleEvent(*layer, *event);
  };
  g_signal_connect(window, "event", G_CALLBACK(handle), this);
  const auto draw = +[](GtkWidget* window, cairo_t* cairo, gpointer own) -> gboolean {
    auto* display = static_cast<LayerDisplay*>(own);
    if (const Layer* layer = display->LayerOf(window)) {
      display->Draw(*layer, cairo);
    }
    return GDK_EVENT_STOP;
  };
  g_signal_connect(window, "draw", G_CALLBACK(draw), this);
  On(window, "size-allocate", [this] { monitors_may_have_changed_ = true; });
  gtk_drag_dest_set(window, GTK_DEST_DEFAULT_ALL, nullptr, 0, GDK_ACTION_COPY);
  gtk_drag_dest_add_uri_targets(window);
  const auto drop = +[](GtkWidget*, GdkDragContext*, int, int, GtkSelectionData* data, guint, guint,
                        gpointer listener) {
    const auto* bytes = reinterpret_cast<const char*>(gtk_selection_data_get_data(data));
    const int length = std::max(0, gtk_selection_data_get_length(data));
    static_cast<SpriteListener*>(listener)->Dropped(
        static_cast<size_t>(length) > kUriListBytesMax
            ? std::vector<std::filesystem::path>{}
            : FilesOf(std::string(bytes, static_cast<size_t>(length))));
  };
  g_signal_connect(window, "drag-data-received", G_CALLBACK(drop), listener_);
}

bool LayerDisplay::Update(Desktop* desktop, int64_t /*now_ms*/) {
  if (layers_may_have_changed_) {
    MakeLayers();
    shown_.clear();
  }
  if (!monitors_may_have_changed_) {
    return false;
  }
  monitors_may_have_changed_ = false;
  const auto before = std::exchange(monitors_, {});
  ReadMonitors();
  if (monitors_ != before && !monitors_.empty()) {
    desktop->look().SetMonitors(monitors_);
  }
  return true;
}

// What panels need is missing at the bottom of a layer, wherever they are: only its size is known.
void LayerDisplay::ReadMonitors() {
  for (const auto& layer : layers_) {
    gdk_monitor_get_geometry(layer->monitor, &layer->place);
    const GdkRectangle& place = layer->place;
    const int width = gtk_widget_get_allocated_width(layer->window.get());
    const int height = gtk_widget_get_allocated_height(layer->window.get());
    const double left = place.x;
    const double top = place.y;
    const bool is_known = width > 1 && height > 1;
    const Rect bounds{left, top, left + place.width, top + place.height};
    const Rect work{left, top, left + width, top + height};
    monitors_.push_back({bounds, is_known ? work : bounds, 1, monitors_.empty()});
  }
}

double LayerDisplay::IdleMs(const Desktop& /*desktop*/, int64_t /*now_ms*/) const {
  return monitors_may_have_changed_ || layers_may_have_changed_
             ? 0
             : std::numeric_limits<double>::max();
}

// -- The scene.

void LayerDisplay::Show(const Scene& scene) {
  const auto before = std::exchange(shown_, VisibleOf(scene, &first_sprite_));
  if (keys_window_ != nullptr && keys_sprite_ != kNobody && Find(keys_sprite_) == nullptr) {
    GiveKeysBack();  // it has left, or is hidden
  }
  const bool took_clicks = std::exchange(takes_clicks_, scene.takes_clicks);
  if (took_clicks && !takes_clicks_ && keys_sprite_ != kNobody) {
    GiveKeysBack();
  }
  if (before == shown_ && took_clicks == takes_clicks_) {
    return;
  }
  for (size_t i = 0; i < std::max(before.size(), shown_.size()); i++) {
    const bool is_same = i < before.size() && i < shown_.size() && before[i] == shown_[i];
    if (!is_same && i < before.size()) {
      Redraw(before[i]);
    }
    if (!is_same && i < shown_.size()) {
      Redraw(shown_[i]);
    }
  }
  SetClickable(scene);
}

void LayerDisplay::Redraw(const DrawnSprite& drawn) const {
  const GdkRectangle place = PlaceOf(drawn);
  for (const auto& layer : layers_) {
    gtk_widget_queue_draw_area(layer->window.get(), place.x - layer->place.x,
                               place.y - layer->place.y, place.width, place.height);
  }
}

void LayerDisplay::SetClickable(const Scene& scene) {
  std::vector<cairo_rectangle_int_t> parts;
  for (const DrawnSprite& drawn : scene.sprites) {
    const bool is_clickable = drawn.visible && takes_clicks_;
    const FrameAtlas::Frame frame = is_clickable ? atlas_.Find(drawn) : FrameAtlas::Frame{};
    if (frame.surface == nullptr) {
      continue;
    }
    for (const auto& part :
         static_cast<FrameImage*>(frame.surface)->Opaque(frame.top, drawn.height)) {
      parts.push_back({drawn.x + part.x, drawn.y + part.y, part.width, part.height});
    }
  }
  for (const auto& layer : layers_) {
    std::unique_ptr<cairo_region_t, Unref> clickable(
        cairo_region_create_rectangles(parts.data(), static_cast<int>(parts.size())));
    cairo_region_translate(clickable.get(), -layer->place.x, -layer->place.y);
    if (cairo_region_equal(clickable.get(), layer->clickable.get()) == 0) {
      gtk_widget_input_shape_combine_region(layer->window.get(), clickable.get());
      layer->clickable = std::move(clickable);
    }
  }
}

void LayerDisplay::Draw(const Layer& layer, cairo_t* cairo) {
  cairo_set_operator(cairo, CAIRO_OPERATOR_CLEAR);
  cairo_paint(cairo);
  cairo_set_operator(cairo, CAIRO_OPERATOR_OVER);
  GdkRectangle clip;
  if (gdk_cairo_get_clip_rectangle(cairo, &clip) == FALSE) {
    return;
  }
  clip.x += layer.place.x;
  clip.y += layer.place.y;
  cairo_translate(cairo, -layer.place.x, -layer.place.y);
  for (const DrawnSprite& drawn : shown_) {
    const GdkRectangle place = PlaceOf(drawn);
    if (gdk_rectangle_intersect(&place, &clip, nullptr) != FALSE) {
      DrawOne(drawn, cairo);
    }
  }
}

void LayerDisplay::DrawOne(const DrawnSprite& drawn, cairo_t* cairo) {
  const FrameAtlas::Frame frame = atlas_.Find(drawn);
  if (frame.surface == nullptr) {
    return;  // memory is short
  }
  cairo_surface_t* image = static_cast<FrameImage*>(frame.surface)->image();
  cairo_surface_mark_dirty(image);
  cairo_set_source_surface(cairo, image, drawn.x, drawn.y - frame.top);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
  const GdkRectangle place = PlaceOf(drawn);
  gdk_cairo_rectangle(cairo, &place);
  cairo_fill(cairo);
}

// -- Pointer and keys.

bool LayerDisplay::HandleEvent(const Layer& layer, const GdkEvent& event) {
  double x = 0;
  double y = 0;
  if (gdk_event_get_coords(&event, &x, &y) != FALSE) {
    pointer_ = {layer.place.x + x, layer.place.y + y};
    is_pointer_here_ = event.type != GDK_LEAVE_NOTIFY;
  }
  switch (event.type) {
    case GDK_BUTTON_PRESS:
      HandlePress(event.button);
      return true;
    case GDK_BUTTON_RELEASE:
      HandleRelease(event.button);
      return true;
    case GDK_MOTION_NOTIFY:
      if (hand_.held() != kNobody) {
        hand_.Move(pointer_, event.motion.time);
      }
      return true;
    case GDK_KEY_PRESS:
    case GDK_KEY_RELEASE:
      HandleKey(event.key);
      return true;
    case GDK_FOCUS_CHANGE:
      HandleFocus(layer, event.focus_change.in != FALSE);
      return false;
    default:
      return false;
  }
}

void LayerDisplay::HandlePress(const GdkEventButton& event) {
  const SpriteId id = SpriteAt(pointer_);  // none when it has moved on
  if (event.button == kFirstButton && id != kNobody) {
    hand_.Press(id, pointer_, event.time, kClickLimits);
  }
}

// A click gives a sprite no keys: it would take them from all programs, until Escape.
void LayerDisplay::HandleRelease(const GdkEventButton& event) {
  if (event.button == kThirdButton && SpriteAt(pointer_) != kNobody) {
    listener_->RightClicked(SpriteAt(pointer_), pointer_);
    return;
  }
  if (event.button == kFirstButton && hand_.held() != kNobody) {
    if (hand_.Release(pointer_, event.time) == Gesture::kDoubleClick) {
      listener_->DoubleClicked();
    }
  }
}

void LayerDisplay::HandleKey(const GdkEventKey& event) {
  const bool with_control = (event.state & GDK_CONTROL_MASK) != 0;
  const bool with_shift = (event.state & GDK_SHIFT_MASK) != 0;
  const bool is_down = event.type == GDK_KEY_PRESS;
  const auto use = HandleSpriteKey(listener_, event.keyval, is_down, with_control, with_shift);
  const DrawnSprite* drawn = Find(keys_sprite_);
  if (use == KeyUse::kEscape) {
    GiveKeysBack();
  } else if (use == KeyUse::kMenu && drawn != nullptr) {
    listener_->RightClicked(drawn->id,
                            {drawn->x + drawn->width / 2.0, drawn->y + drawn->height / 2.0});
  }
}

void LayerDisplay::HandleFocus(const Layer& layer, bool is_in) {
  if (layer.window.get() != keys_window_) {
    return;
  }
  has_keys_ = is_in;
  if (!is_in) {
    GiveKeysBack();
  }
}

// The compositor gives a layer the keyboard without a click only if it asks for all keys.
void LayerDisplay::TakeKeys(const Layer& layer, SpriteId id) {
  keys_sprite_ = id;
  if (keys_window_ == layer.window.get()) {
    return;
  }
  if (keys_window_ != nullptr) {
    gtk_layer_set_keyboard_mode(GTK_WINDOW(keys_window_), GTK_LAYER_SHELL_KEYBOARD_MODE_NONE);
  }
  keys_window_ = layer.window.get();
  has_keys_ = false;
  gtk_layer_set_keyboard_mode(GTK_WINDOW(keys_window_), GTK_LAYER_SHELL_KEYBOARD_MODE_EXCLUSIVE);
}

void LayerDisplay::GiveKeysBack() {
  if (GtkWidget* window = std::exchange(keys_window_, nullptr)) {
    gtk_layer_set_keyboard_mode(GTK_WINDOW(window), GTK_LAYER_SHELL_KEYBOARD_MODE_NONE);
    listener_->KeysLost();
  }
}

bool LayerDisplay::GiveKeysTo(SpriteId id) {
  const DrawnSprite* drawn = Find(id);
  if (drawn != nullptr) {
    TakeKeys(LayerAt({static_cast<double>(drawn->x), static_cast<double>(drawn->y)}), id);
  }
  return drawn != nullptr;
}

const DrawnSprite* LayerDisplay::Find(SpriteId id) const {
  const auto drawn = std::ranges::find(shown_.begin() + static_cast<ptrdiff_t>(first_sprite_),
                                       shown_.end(), id, &DrawnSprite::id);
  return drawn == shown_.end() ? nullptr : &*drawn;
}

PointerNow LayerDisplay::Pointer() const {
  const bool is_held = hand_.held() != kNobody;
  return {pointer_, is_held, is_held, is_pointer_here_};
}

// A menu gets the keys of the layer below it, so that one must have them before. A compositor that
// gives it none gets a menu without keys.
MenuCorner LayerDisplay::CornerAt(Point point) {
  const Layer& layer = LayerAt(point);
  if (keys_window_ == nullptr) {
    TakeKeys(layer, kNobody);
    waits_left_ = kWaitsForKeysMax;
  }
  if (!has_keys_ && waits_left_-- > 0) {
    return {};
  }
  return {
      gtk_widget_get_window(layer.window.get()),
      {static_cast<int>(point.x) - layer.place.x, static_cast<int>(point.y) - layer.place.y, 1, 1}};
}

void LayerDisplay::EndMenu() {
  if (keys_window_ != nullptr && keys_sprite_ == kNobody) {
    GiveKeysBack();
  }
}

SpriteId LayerDisplay::SpriteAt(Point point) {
  const int x = static_cast<int>(point.x);
  const int y = static_cast<int>(point.y);
  for (size_t i = shown_.size(); i-- > first_sprite_;) {
    const DrawnSprite& drawn = shown_[i];
    const bool is_inside =
        x >= drawn.x && y >= drawn.y && x < drawn.x + drawn.width && y < drawn.y + drawn.height;
    const FrameAtlas::Frame frame = is_inside ? atlas_.Find(drawn) : FrameAtlas::Frame{};
    if (frame.surface != nullptr &&
        static_cast<FrameImage*>(frame.surface)->IsOpaqueAt(frame.top, x - drawn.x, y - drawn.y)) {
      return drawn.id;
    }
  }
  return kNobody;
}

// The nearest one. REQUIRES: there is a monitor.
const LayerDisplay::Layer& LayerDisplay::LayerAt(Point point) const {
  const size_t monitor = Screen(monitors_).NearestMonitor(point);
  return *layers_[std::min(monitor, layers_.size() - 1)];
}

const LayerDisplay::Layer* LayerDisplay::LayerOf(const GtkWidget* window) const {
  const auto found =
      std::ranges::find(layers_, window, [](const auto& layer) { return layer->window.get(); });
  return found == layers_.end() ? nullptr : found->get();
}

}  // namespace sprites
