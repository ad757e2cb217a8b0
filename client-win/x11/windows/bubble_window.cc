#include "x11/windows/bubble_window.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "x11/windows/layer_window.h"

namespace sprites {

namespace {

constexpr double kShadowAlpha = 0.22;
// Sizes in dip.
constexpr double kLineGap = 2;  // between two texts
constexpr BubblePadding kNoticePadding{12, 12};
constexpr double kNoticeSize = 13;
constexpr double kCornerGap = 12;

struct Colour {
  double red;
  double green;
  double blue;
};
constexpr Colour kPaper{1, 1, 1};
constexpr Colour kLine{0.80, 0.82, 0.85};

constexpr Colour ColourOf(Ink ink) {
  switch (ink) {
    case Ink::kFaint:
      return {0.41, 0.43, 0.49};
    case Ink::kAccent:
      return {0.18, 0.38, 0.82};
    case Ink::kPlain:
      break;
  }
  return {0.12, 0.14, 0.18};
}

void SetSource(cairo_t* cairo, const Colour& colour) {
  cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
}

int Rounded(double value) { return static_cast<int>(std::lround(value)); }

bool IsSame(const std::optional<BubbleTail>& one, const std::optional<BubbleTail>& other) {
  return one.has_value() == other.has_value() &&
         (!one || (one->side == other->side && Rounded(one->at) == Rounded(other->at)));
}

}  // namespace

BubbleWindow::BubbleWindow(const Look* look, const std::string& title,
                           std::function<void()> clicked)
    : look_(look),
      window_(gtk_window_new(look->has_layers ? GTK_WINDOW_TOPLEVEL : GTK_WINDOW_POPUP)) {
  GtkWidget* window = window_.get();
  if (look->has_layers) {
    MakeLayer(GTK_WINDOW(window));
  }
  gtk_window_set_title(GTK_WINDOW(window), title.c_str());
  gtk_window_set_type_hint(GTK_WINDOW(window), GDK_WINDOW_TYPE_HINT_TOOLTIP);
  gtk_widget_set_app_paintable(window, TRUE);
  if (GdkVisual* visual = gdk_screen_get_rgba_visual(gtk_widget_get_screen(window))) {
    gtk_widget_set_visual(window, visual);
  }
  const auto draw = +[](GtkWidget*, cairo_t* cairo, gpointer bubble) -> gboolean {
    static_cast<BubbleWindow*>(bubble)->Draw(cairo);
    return GDK_EVENT_STOP;
  };
  g_signal_connect(window, "draw", G_CALLBACK(draw), this);
  if (clicked) {
    gtk_widget_add_events(window, GDK_BUTTON_PRESS_MASK | GDK_BUTTON_RELEASE_MASK);
    On(window, "button-release-event", std::move(clicked));
  } else {
    cairo_region_t* nowhere = cairo_region_create();
    gtk_widget_input_shape_combine_region(window, nowhere);
    cairo_region_destroy(nowhere);
  }
}

BubbleSize BubbleWindow::SetTexts(const std::vector<BubbleText>& texts, BubblePadding padding,
                                  int width_max, int width_min) {
  lines_.clear();
  text_left_ = look_->Px(padding.across);
  for (const BubbleText& text : texts) {
    AddLine(text, width_max - 2 * text_left_);
  }
  int width = width_min - 2 * text_left_;
  int bottom = look_->Px(padding.down);
  for (Line& line : lines_) {
    PangoRectangle box;
    pango_layout_get_pixel_extents(line.layout.get(), nullptr, &box);
    line.top = bottom;
    bottom += box.height + look_->Px(kLineGap);
    width = std::max(width, box.width);
  }
  for (const Line& line : lines_) {
    pango_layout_set_width(line.layout.get(), width * PANGO_SCALE);  // the right edge, for some
  }
  size_ = {static_cast<double>(width + 2 * text_left_),
           static_cast<double>(bottom + look_->Px(padding.down))};
  gtk_widget_queue_draw(window_.get());
  return size_;
}

void BubbleWindow::AddLine(const BubbleText& text, int width_max) {
  Line line;
  line.ink = text.ink;
  line.layout.reset(gtk_widget_create_pango_layout(window_.get(), text.text.c_str()));
  PangoContext* context = gtk_widget_get_pango_context(window_.get());
  PangoFontDescription* font =
      pango_font_description_copy(pango_context_get_font_description(context));
  pango_font_description_set_absolute_size(font, look_->Px(text.size) * PANGO_SCALE);
  pango_font_description_set_weight(font, text.is_bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_layout_set_font_description(line.layout.get(), font);
  pango_font_description_free(font);
  pango_layout_set_wrap(line.layout.get(), PANGO_WRAP_WORD_CHAR);
  pango_layout_set_width(line.layout.get(), std::max(1, width_max) * PANGO_SCALE);
  lines_.push_back(std::move(line));
}

void BubbleWindow::Show(Point corner, const std::optional<BubbleTail>& tail) {
  GtkWindow* window = GTK_WINDOW(window_.get());
  const int pixels = Pixels();
  const int width = (Rounded(size_.width) + 2 * Margin() + pixels - 1) / pixels;
  const int height = (Rounded(size_.height) + 2 * Margin() + pixels - 1) / pixels;
  const int x = (Rounded(corner.x) - Margin()) / pixels;
  const int y = (Rounded(corner.y) - Margin()) / pixels;
  if (!IsSame(tail, tail_)) {
    gtk_widget_queue_draw(window_.get());
  }
  tail_ = tail;
  if (width != place_.width || height != place_.height) {
    gtk_widget_set_size_request(window_.get(), width, height);
    gtk_window_resize(window, width, height);
  }
  if (x != place_.x || y != place_.y || !is_shown_) {
    (look_->has_layers ? MoveLayer : gtk_window_move)(window, x, y);
  }
  place_ = {x, y, width, height};
  if (!is_shown_) {
    gtk_widget_show(window_.get());
    is_shown_ = true;
  }
}

void BubbleWindow::ShowInCorner(const std::string& heading, const std::string& text) {
  std::vector<BubbleText> texts{{heading, 14, true}};
  if (!text.empty()) {
    texts.push_back({text, kNoticeSize, false, Ink::kFaint});
  }
  const BubbleSize size = SetTexts(texts, kNoticePadding, look_->Px(kNoticeWidthMax));
  const Rect work = look_->PrimaryWork();
  const double gap = look_->Px(kCornerGap);
  Show({work.right - size.width - gap, work.top + gap}, std::nullopt);
}

PaintedBubble BubbleWindow::Paint(Point corner, const std::optional<BubbleTail>& tail) {
  tail_ = tail;
  PaintedBubble painted{Rounded(corner.x) - Margin(), Rounded(corner.y) - Margin(),
                        Rounded(size_.width) + 2 * Margin(), Rounded(size_.height) + 2 * Margin()};
  painted.pixels.resize(size_t(painted.width) * size_t(painted.height));
  // Cairo's pixels are ours: 32 bits with premultiplied alpha, the top row first.
  cairo_surface_t* surface = cairo_image_surface_create_for_data(
      reinterpret_cast<unsigned char*>(painted.pixels.data()), CAIRO_FORMAT_ARGB32, painted.width,
      painted.height, painted.width * static_cast<int>(sizeof(uint32_t)));
  cairo_t* cairo = cairo_create(surface);
  cairo_scale(cairo, Pixels(), Pixels());
  Draw(cairo);
  cairo_destroy(cairo);
  cairo_surface_destroy(surface);
  return painted;
}

void BubbleWindow::Raise() const {
  if (is_shown_ && !look_->has_layers) {
    gdk_window_raise(gtk_widget_get_window(window_.get()));
  }
}

void BubbleWindow::Hide() {
  if (is_shown_) {
    gtk_widget_hide(window_.get());
    is_shown_ = false;
  }
}

void BubbleWindow::Draw(cairo_t* cairo) const {
  const double pixels = Pixels();
  cairo_set_operator(cairo, CAIRO_OPERATOR_CLEAR);
  cairo_paint(cairo);
  cairo_set_operator(cairo, CAIRO_OPERATOR_OVER);
  cairo_scale(cairo, 1 / pixels, 1 / pixels);
  cairo_translate(cairo, Margin(), Margin());
  DrawPaper(cairo);
  for (const Line& line : lines_) {
    SetSource(cairo, ColourOf(line.ink));
    cairo_move_to(cairo, text_left_, line.top);
    pango_cairo_show_layout(cairo, line.layout.get());
  }
}

void BubbleWindow::DrawPaper(cairo_t* cairo) const {
  // The shadow falls down a little, as from a lamp above.
  const int shadow = Margin();
  cairo_save(cairo);
  cairo_translate(cairo, 0, shadow / 4.0);
  TraceOutline(cairo);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_set_source_rgba(cairo, 0, 0, 0, 1.5 * kShadowAlpha / std::max(1, shadow));
  for (int reach = 1; reach < shadow * 3 / 4; reach++) {
    cairo_set_line_width(cairo, 2 * reach);
    cairo_stroke_preserve(cairo);
  }
  cairo_new_path(cairo);
  cairo_restore(cairo);
  TraceOutline(cairo);
  SetSource(cairo, kPaper);
  cairo_fill_preserve(cairo);
  SetSource(cairo, kLine);
  cairo_set_line_width(cairo, look_->Px(1));
  cairo_stroke(cairo);
}

// The paper's edge: from the left top corner, clockwise. The tail is a triangle on one side.
void BubbleWindow::TraceOutline(cairo_t* cairo) const {
  constexpr double kQuarter = std::numbers::pi / 2;
  const double inset = look_->Px(1) / 2.0;
  const double radius = look_->is_composited ? look_->Px(kBubbleRadius) : 0;
  const double right = size_.width - inset;
  const double bottom = size_.height - inset;
  const auto tail = [&](Edge side, double x, double y, double along_x, double along_y) {
    if (look_->is_composited && tail_ && tail_->side == side) {
      const double half = tail_->height;
      cairo_line_to(cairo, x - half * along_x, y - half * along_y);
      cairo_line_to(cairo, x + half * along_y, y - half * along_x);
      cairo_line_to(cairo, x + half * along_x, y + half * along_y);
    }
  };
  const double at = tail_ ? tail_->at : 0;
  cairo_new_path(cairo);
  cairo_arc(cairo, inset + radius, inset + radius, radius, 2 * kQuarter, 3 * kQuarter);
  tail(Edge::kTop, at, inset, 1, 0);
  cairo_arc(cairo, right - radius, inset + radius, radius, 3 * kQuarter, 4 * kQuarter);
  tail(Edge::kRight, right, at, 0, 1);
  cairo_arc(cairo, right - radius, bottom - radius, radius, 0, kQuarter);
  tail(Edge::kBottom, at, bottom, -1, 0);
  cairo_arc(cairo, inset + radius, bottom - radius, radius, kQuarter, 2 * kQuarter);
  tail(Edge::kLeft, inset, at, 0, -1);
  cairo_close_path(cairo);
}

}  // namespace sprites
