#include "x11/windows/company_window.h"

#include <algorithm>
#include <utility>

#include "core/text/texts.h"
#include "x11/windows/access_key.h"
#include "x11/windows/front_window.h"

namespace sprites {

namespace {

constexpr int kMargin = 14;        // dip
constexpr int kGap = 8;            // dip, between two parts
constexpr int kPictureSide = 228;  // dip: nine faces, as in a world of 64 desktops
constexpr int kListWidth = 360;    // dip
constexpr double kNewShade = 0.3;  // of the accent, behind who has just come
constexpr double kFrame = 2;       // dip, around a face
constexpr double kCorner = 5;      // dip
constexpr double kDash = 3;        // dip, of the frame of who is away

GdkRGBA ColourOf(GtkWidget* widget, const char* name) {
  GdkRGBA colour{0.5, 0.5, 0.5, 1};
  gtk_style_context_lookup_color(gtk_widget_get_style_context(widget), name, &colour);
  return colour;
}

void SetSource(cairo_t* canvas, const GdkRGBA& colour, double alpha = 1) {
  cairo_set_source_rgba(canvas, colour.red, colour.green, colour.blue, colour.alpha * alpha);
}

void AddRoundRect(cairo_t* canvas, const Rect& rect, double corner) {
  cairo_new_sub_path(canvas);
  cairo_arc(canvas, rect.right - corner, rect.top + corner, corner, -G_PI / 2, 0);
  cairo_arc(canvas, rect.right - corner, rect.bottom - corner, corner, 0, G_PI / 2);
  cairo_arc(canvas, rect.left + corner, rect.bottom - corner, corner, G_PI / 2, G_PI);
  cairo_arc(canvas, rect.left + corner, rect.top + corner, corner, G_PI, 3 * G_PI / 2);
  cairo_close_path(canvas);
}

void DrawLetter(GtkWidget* widget, cairo_t* canvas, const Rect& face, const std::string& letter) {
  PangoLayout* layout = gtk_widget_create_pango_layout(widget, letter.c_str());
  int width = 0;
  int height = 0;
  pango_layout_get_pixel_size(layout, &width, &height);
  cairo_move_to(canvas, (face.left + face.right - width) / 2,
                (face.top + face.bottom - height) / 2);
  pango_cairo_show_layout(canvas, layout);
  g_object_unref(layout);
}

void DrawFace(GtkWidget* widget, cairo_t* canvas, const Rect& face, const CompanyRow& row) {
  const GdkRGBA accent = ColourOf(widget, "theme_selected_bg_color");
  const GdkRGBA ink = ColourOf(widget, "theme_fg_color");
  const bool is_self = row.face == Face::kSelf;
  const double alpha = row.face == Face::kAway ? 0.55 : 1;
  const double inset = kFrame / 2;
  AddRoundRect(canvas,
               {face.left + inset, face.top + inset, face.right - inset, face.bottom - inset},
               std::min(kCorner, face.Width() / 4));
  if (is_self || row.face == Face::kNew) {
    SetSource(canvas, accent, is_self ? 1 : kNewShade);
    cairo_fill_preserve(canvas);
  }
  cairo_set_line_width(canvas, kFrame);
  cairo_set_dash(canvas, &kDash, row.face == Face::kAway ? 1 : 0, 0);
  SetSource(canvas, accent, alpha);
  cairo_stroke(canvas);
  if (face.Width() >= kLetterSideMin) {
    SetSource(canvas, is_self ? ColourOf(widget, "theme_selected_fg_color") : ink, alpha);
    DrawLetter(widget, canvas, face, row.letter);
  }
}

}  // namespace

CompanyWindow::CompanyWindow(const Desktop* desktop, std::function<void(const MenuChoice&)> choose)
    : desktop_(desktop),
      choose_(std::move(choose)),
      window_(gtk_dialog_new()),
      summary_(gtk_label_new("")),
      picture_(NewPicture()),
      list_(NewList()),
      sprites_(gtk_combo_box_text_new()),
      throw_(gtk_dialog_add_button(GTK_DIALOG(window_.get()), "", GTK_RESPONSE_NONE)),
      swap_(gtk_dialog_add_button(GTK_DIALOG(window_.get()), Words(Text::kCompanySwap).c_str(),
                                  GTK_RESPONSE_NONE)) {
  view_.Update(*desktop_);
  Build();
  Fill();
  ShowInFront(window_.get());
}

void CompanyWindow::Build() {
  GtkDialog* dialog = GTK_DIALOG(window_.get());
  gtk_window_set_title(GTK_WINDOW(dialog), Words(Text::kCompanyTitle).c_str());
  gtk_container_set_border_width(GTK_CONTAINER(dialog), kMargin);
  gtk_label_set_xalign(GTK_LABEL(summary_), 0);
  GtkWidget* scroll = gtk_scrolled_window_new(nullptr, nullptr);
  gtk_scrolled_window_set_shadow_type(GTK_SCROLLED_WINDOW(scroll), GTK_SHADOW_IN);
  gtk_widget_set_size_request(scroll, kListWidth, kPictureSide);
  gtk_container_add(GTK_CONTAINER(scroll), list_);
  GtkWidget* here = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, kGap);
  gtk_box_pack_start(GTK_BOX(here), picture_, FALSE, FALSE, 0);
  gtk_box_pack_start(GTK_BOX(here), scroll, TRUE, TRUE, 0);
  GtkWidget* content = gtk_dialog_get_content_area(dialog);
  gtk_box_set_spacing(GTK_BOX(content), kGap);
  gtk_box_pack_start(GTK_BOX(content), summary_, FALSE, FALSE, 0);
  gtk_box_pack_start(GTK_BOX(content), here, TRUE, TRUE, 0);
  gtk_box_pack_start(GTK_BOX(content), NewSpriteLine(), FALSE, FALSE, 0);
  On(throw_, "clicked", [this] { Throw(); });
  On(swap_, "clicked", [this] { Swap(); });
  On(gtk_dialog_add_button(dialog, Words(Text::kSayClose).c_str(), GTK_RESPONSE_NONE), "clicked",
     [this] { is_closed_ = true; });
  On(window_.get(), "close", [this] { is_closed_ = true; });
  On(window_.get(), "delete-event", [this] { is_closed_ = true; });
  g_signal_connect(window_.get(), "delete-event", G_CALLBACK(gtk_widget_hide_on_delete), nullptr);
  gtk_widget_grab_focus(list_);
}

GtkWidget* CompanyWindow::NewList() {
  GtkListStore* rows = gtk_list_store_new(2, G_TYPE_STRING, G_TYPE_STRING);
  GtkWidget* list = gtk_tree_view_new_with_model(GTK_TREE_MODEL(rows));
  g_object_unref(rows);
  int column = 0;
  for (const Text title : {Text::kHeardWho, Text::kCompanyWhere}) {
    gtk_tree_view_insert_column_with_attributes(GTK_TREE_VIEW(list), -1, Words(title).c_str(),
                                                gtk_cell_renderer_text_new(), "text", column++,
                                                nullptr);
  }
  atk_object_set_name(gtk_widget_get_accessible(list), Words(Text::kCompanyTitle).c_str());
  On(gtk_tree_view_get_selection(GTK_TREE_VIEW(list)), "changed", [this] {
    GtkTreeIter chosen;
    GtkTreeModel* model = nullptr;
    if (!is_filling_ && gtk_tree_selection_get_selected(
                            gtk_tree_view_get_selection(GTK_TREE_VIEW(list_)), &model, &chosen)) {
      GtkTreePath* path = gtk_tree_model_get_path(model, &chosen);
      Choose(gtk_tree_path_get_indices(path)[0]);
      gtk_tree_path_free(path);
    }
  });
  On(list, "row-activated", [this] { Throw(); });
  return list;
}

GtkWidget* CompanyWindow::NewPicture() {
  GtkWidget* picture = gtk_drawing_area_new();
  gtk_widget_set_size_request(picture, kPictureSide, kPictureSide);
  gtk_widget_add_events(picture, GDK_BUTTON_PRESS_MASK);
  const auto draw = +[](GtkWidget*, cairo_t* canvas, gpointer window) -> gboolean {
    static_cast<CompanyWindow*>(window)->Draw(canvas);
    return GDK_EVENT_STOP;
  };
  g_signal_connect(picture, "draw", G_CALLBACK(draw), this);
  const auto press = +[](GtkWidget*, GdkEventButton* event, gpointer window) -> gboolean {
    auto* own = static_cast<CompanyWindow*>(window);
    const int row = own->FaceAt(event->x, event->y);
    if (row >= 0 && event->type == GDK_BUTTON_PRESS) {
      own->Choose(row);
    } else if (row >= 0 && event->type == GDK_2BUTTON_PRESS) {
      own->Throw();
    }
    return GDK_EVENT_STOP;
  };
  g_signal_connect(picture, "button-press-event", G_CALLBACK(press), this);
  return picture;
}

GtkWidget* CompanyWindow::NewSpriteLine() {
  GtkWidget* label = gtk_label_new_with_mnemonic(Words(Text::kCompanySprite).c_str());
  gtk_label_set_mnemonic_widget(GTK_LABEL(label), sprites_);
  On(sprites_, "changed", [this] {
    const int index = gtk_combo_box_get_active(GTK_COMBO_BOX(sprites_));
    if (!is_filling_ && index >= 0) {
      view_.ChooseSprite(static_cast<size_t>(index));
    }
  });
  GtkWidget* line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, kGap);
  gtk_box_pack_start(GTK_BOX(line), label, FALSE, FALSE, 0);
  gtk_box_pack_start(GTK_BOX(line), sprites_, TRUE, TRUE, 0);
  return line;
}

void CompanyWindow::Turn() {
  if (view_.Update(*desktop_)) {
    Fill();
  }
}

void CompanyWindow::Fill() {
  is_filling_ = true;
  gtk_label_set_text(GTK_LABEL(summary_), view_.summary().c_str());
  FillRows();
  if (shown_sprites_ != view_.sprites()) {
    FillSprites();
  }
  gtk_combo_box_set_active(GTK_COMBO_BOX(sprites_), static_cast<int>(view_.chosen_sprite()));
  is_filling_ = false;
  ShowThrow();
}

// Rows change where they are, so that the one with the keyboard keeps it.
void CompanyWindow::FillRows() {
  GtkTreeModel* model = gtk_tree_view_get_model(GTK_TREE_VIEW(list_));
  GtkListStore* store = GTK_LIST_STORE(model);
  GtkTreeIter at;
  gboolean is_there = gtk_tree_model_get_iter_first(model, &at);
  for (const CompanyRow& row : view_.rows()) {
    if (is_there == FALSE) {
      gtk_list_store_append(store, &at);
    }
    gtk_list_store_set(store, &at, 0, row.name.c_str(), 1, row.where.c_str(), -1);
    is_there = is_there != FALSE && gtk_tree_model_iter_next(model, &at) != FALSE;
  }
  while (is_there != FALSE) {
    is_there = gtk_list_store_remove(store, &at);
  }
  Choose(static_cast<int>(view_.chosen()));
}

void CompanyWindow::FillSprites() {
  shown_sprites_ = view_.sprites();
  gtk_combo_box_text_remove_all(GTK_COMBO_BOX_TEXT(sprites_));
  for (const ThrowableSprite& sprite : shown_sprites_) {
    gtk_combo_box_text_append_text(GTK_COMBO_BOX_TEXT(sprites_), sprite.name.c_str());
  }
  gtk_widget_set_sensitive(sprites_, shown_sprites_.empty() ? FALSE : TRUE);
}

void CompanyWindow::ShowThrow() {
  gtk_button_set_label(GTK_BUTTON(throw_), WithAccessKey(view_.throw_words()).c_str());
  gtk_widget_set_sensitive(throw_, view_.Throw() ? TRUE : FALSE);
  gtk_widget_set_sensitive(swap_, view_.Swap() ? TRUE : FALSE);
  gtk_widget_queue_draw(picture_);
}

void CompanyWindow::Choose(int row) {
  view_.Choose(static_cast<size_t>(row));
  GtkTreePath* path = gtk_tree_path_new_from_indices(row, -1);
  GtkTreeView* list = GTK_TREE_VIEW(list_);
  if (gtk_tree_selection_path_is_selected(gtk_tree_view_get_selection(list), path) == FALSE) {
    gtk_tree_view_set_cursor(list, path, nullptr, FALSE);
  }
  gtk_tree_path_free(path);
  ShowThrow();
}

void CompanyWindow::Throw() {
  if (const auto choice = view_.Throw()) {
    choose_(*choice);
  }
}

void CompanyWindow::Swap() {
  if (const auto choice = view_.Swap()) {
    choose_(*choice);
  }
}

std::vector<Rect> CompanyWindow::Faces() const {
  return FacesIn(view_.rows(), gtk_widget_get_allocated_width(picture_),
                 gtk_widget_get_allocated_height(picture_), 1);
}

int CompanyWindow::FaceAt(double x, double y) const {
  const std::vector<Rect> faces = Faces();
  const auto there = std::ranges::find_if(faces, [&](const Rect& face) {
    return face.Contains({x, y});
  });
  return there == faces.end() ? -1 : static_cast<int>(there - faces.begin());
}

void CompanyWindow::Draw(cairo_t* canvas) const {
  const std::vector<Rect> faces = Faces();
  for (size_t i = 0; i < faces.size(); i++) {
    DrawFace(picture_, canvas, faces[i], view_.rows()[i]);
  }
  const Rect& chosen = faces[view_.chosen()];
  cairo_set_line_width(canvas, 1);
  SetSource(canvas, ColourOf(picture_, "theme_fg_color"));
  cairo_rectangle(canvas, chosen.left - 1, chosen.top - 1, chosen.Width() + 2, chosen.Height() + 2);
  cairo_stroke(canvas);
}

std::string CompanyWindow::Words(Text text) const {
  return WithAccessKey(Say(desktop_->language(), text));
}

}  // namespace sprites
