#include "x11/windows/character_picture.h"

#include <algorithm>

namespace sprites {

GtkWidget* PictureOf(const Sheet& sheet, int zoom, int height_max) {
  const Description& description = sheet.description;
  const int cell = CellOf(description, Mode::kIdle, 0);
  const int width = description.frame_width;
  const int height = description.frame_height;
  const int left = cell % sheet.Columns() * width;
  const int top = cell / sheet.Columns() * height;
  GdkPixbuf* all =
      gdk_pixbuf_new_from_data(sheet.rgba.data(), GDK_COLORSPACE_RGB, TRUE, 8, sheet.width,
                               top + height, 4 * sheet.width, nullptr, nullptr);
  GdkPixbuf* one = gdk_pixbuf_new_subpixbuf(all, left, top, width, height);
  const bool fits = height * zoom <= height_max;
  const int shown = fits ? height * zoom : height_max;
  GdkPixbuf* scaled =
      gdk_pixbuf_scale_simple(one, std::max(1, width * shown / height), std::max(1, shown),
                              fits ? GDK_INTERP_NEAREST : GDK_INTERP_BILINEAR);
  GtkWidget* image = gtk_image_new_from_pixbuf(scaled);
  for (GdkPixbuf* picture : {scaled, one, all}) {
    g_object_unref(picture);
  }
  return image;
}

}  // namespace sprites
