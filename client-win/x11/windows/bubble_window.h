// A window with a speech bubble: texts on paper, and perhaps a tail. It is above all others and
// never takes the keyboard.
//
// Pango lays out the texts, so they can be of any script. Units: px of the screen, if not said
// otherwise. Without a compositor a window is a box: then there is neither a shadow nor a tail.
#ifndef CLIENT_WIN_X11_WINDOWS_BUBBLE_WINDOW_H_
#define CLIENT_WIN_X11_WINDOWS_BUBBLE_WINDOW_H_

#include <gtk/gtk.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/scene/bubble_shape.h"
#include "core/scene/bubbles.h"
#include "core/scene/photograph.h"
#include "x11/windows/look.h"
#include "x11/windows/signal.h"

namespace sprites {

constexpr double kBubbleRadius = 9;      // dip
constexpr double kNoticeWidthMax = 344;  // dip; also of the greeting
constexpr double kBubbleShadow = 10;     // dip; tails are not longer

enum class Ink : uint8_t { kPlain, kFaint, kAccent };

struct BubbleText {
  std::string text;
  double size = 14;  // dip
  bool is_bold = false;
  Ink ink = Ink::kPlain;
};

// dip between the texts and the edges of the paper.
struct BubblePadding {
  double across = 0;
  double down = 0;
};

class BubbleWindow {
 public:
  // Without `clicked`, clicks go through it.
  BubbleWindow(const Look* look, const std::string& title, std::function<void()> clicked = {});

  // Lays out texts, each below the one before. The paper is at most `width_max` wide. Returns its
  // size.
  BubbleSize SetTexts(const std::vector<BubbleText>& texts, BubblePadding padding, int width_max,
                      int width_min = 0);
  // Shows the paper with its left top corner at a point, on top of all others, or moves it there.
  void Show(Point corner, const std::optional<BubbleTail>& tail);
  // Shows a heading and a text in the corner of the work area where notices appear.
  void ShowInCorner(const std::string& heading, const std::string& text);
  // Puts it above all others again.
  void Raise() const;
  void Hide();
  // The paper and what is around it as a picture, as Show would show it. The window needs no place
  // on the screen for that.
  PaintedBubble Paint(Point corner, const std::optional<BubbleTail>& tail);
  bool is_shown() const { return is_shown_; }

 private:
  struct Unref {
    void operator()(PangoLayout* layout) const { g_object_unref(layout); }
  };
  struct Line {
    std::unique_ptr<PangoLayout, Unref> layout;
    Ink ink = Ink::kPlain;
    int top = 0;
  };

  void AddLine(const BubbleText& text, int width_max);
  void Draw(cairo_t* cairo) const;
  void DrawPaper(cairo_t* cairo) const;
  void TraceOutline(cairo_t* cairo) const;
  // px in a pixel of GTK.
  int Pixels() const { return look_->has_layers ? 1 : gtk_widget_get_scale_factor(window_.get()); }
  int Margin() const { return look_->is_composited ? look_->Px(kBubbleShadow) : 0; }

  const Look* look_;
  std::unique_ptr<GtkWidget, DestroyWidget> window_;
  std::vector<Line> lines_;
  int text_left_ = 0;
  BubbleSize size_;
  std::optional<BubbleTail> tail_;
  GdkRectangle place_{};  // in GTK's pixels
  bool is_shown_ = false;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_BUBBLE_WINDOW_H_
