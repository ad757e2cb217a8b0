#include "x11/windows/menu_window.h"

#include <string>
#include <utility>

#include "x11/windows/access_key.h"
#include "x11/windows/character_picture.h"

namespace sprites {

namespace {

constexpr char kTitle[] = "Sprites menu";
constexpr int kPictureHeight = 24;  // dip: of a character beside its name
constexpr int kPictureGap = 8;

// `keys`: those of the items above it, and then its own.
GtkWidget* ItemOf(const MenuItem& item, std::string* keys) {
  if (item.IsLine()) {
    return gtk_separator_menu_item_new();
  }
  const AccessKey read = ReadAccessKey(item.text, *keys);
  if (item.is_enabled) {
    *keys += read.key;
  }
  const char* text = read.text.c_str();
  if (item.picture != nullptr) {
    GtkWidget* pictured = gtk_menu_item_new();
    GtkWidget* row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, kPictureGap);
    GtkWidget* label = gtk_label_new_with_mnemonic(text);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), pictured);
    gtk_container_add(GTK_CONTAINER(row), PictureOf(*item.picture, 1, kPictureHeight));
    gtk_container_add(GTK_CONTAINER(row), label);
    gtk_container_add(GTK_CONTAINER(pictured), row);
    gtk_widget_show_all(row);
    return pictured;
  }
  GtkWidget* widget = item.is_checked ? gtk_check_menu_item_new_with_mnemonic(text)
                                      : gtk_menu_item_new_with_mnemonic(text);
  if (item.is_checked) {
    gtk_check_menu_item_set_active(GTK_CHECK_MENU_ITEM(widget), TRUE);
  }
  gtk_widget_set_sensitive(widget, item.is_enabled);
  return widget;
}

// The menu has not been opened by an event of GTK: it gets one, as GTK asks for.
GdkEvent* PressOn(GdkWindow* window) {
  GdkEvent* event = gdk_event_new(GDK_BUTTON_PRESS);
  event->button.window = GDK_WINDOW(g_object_ref(window));
  event->button.time = GDK_CURRENT_TIME;
  gdk_event_set_device(
      event, gdk_seat_get_pointer(gdk_display_get_default_seat(gdk_display_get_default())));
  return event;
}

}  // namespace

void MenuWindow::Open(const Menu& menu, FindCorner corner, Choose choose) {
  Close();
  menu_.reset(Make(menu));
  choose_ = std::move(choose);
  corner_ = std::move(corner);
  tries_left_ = kGrabTriesMax;
  Turn();
}

void MenuWindow::Close() {
  tries_left_ = 0;
  menu_.reset();
}

void MenuWindow::Turn() {
  if (!IsPending()) {
    return;
  }
  tries_left_--;
  const MenuCorner corner = corner_();
  if (corner.window == nullptr) {
    return;
  }
  GdkEvent* press = PressOn(corner.window);
  gtk_menu_popup_at_rect(GTK_MENU(menu_.get()), corner.window, &corner.place,
                         GDK_GRAVITY_SOUTH_EAST, GDK_GRAVITY_NORTH_WEST, press);
  gdk_event_free(press);
  if (gtk_widget_get_visible(menu_.get()) != FALSE) {
    tries_left_ = 0;
  }
}

GtkWidget* MenuWindow::Make(const Menu& menu) {
  GtkWidget* shell = gtk_menu_new();
  gtk_window_set_title(GTK_WINDOW(gtk_widget_get_toplevel(shell)), kTitle);
  std::string keys;
  for (const MenuItem& item : menu) {
    GtkWidget* widget = ItemOf(item, &keys);
    gtk_menu_shell_append(GTK_MENU_SHELL(shell), widget);
    if (!item.children.empty()) {
      gtk_menu_item_set_submenu(GTK_MENU_ITEM(widget), Make(item.children));
    } else if (!item.IsLine()) {
      On(widget, "activate", [this, choice = item.choice] {
        if (const Choose choose = std::exchange(choose_, nullptr)) {
          choose(choice);
        }
      });
    }
    gtk_widget_show(widget);
  }
  return shell;
}

}  // namespace sprites
