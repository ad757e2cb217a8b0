#include "x11/windows/limited_entry.h"

#include <algorithm>
#include <cstring>

#include "core/text/text.h"

namespace sprites {

namespace {

// `bytes_max` comes as a pointer. A text that fits is left to GTK's own handler.
void HandleInsert(GtkEditable* entry, const char* text, int length, int* position,
                  gpointer bytes_max) {
  const size_t used = std::strlen(gtk_entry_get_text(GTK_ENTRY(entry)));
  const size_t room = GPOINTER_TO_SIZE(bytes_max) - std::min(GPOINTER_TO_SIZE(bytes_max), used);
  const size_t bytes = length < 0 ? std::strlen(text) : static_cast<size_t>(length);
  if (bytes <= room) {
    return;
  }
  size_t kept = room;
  while (kept > 0 && !IsFirstByte(text[kept])) {
    kept--;
  }
  g_signal_stop_emission_by_name(entry, "insert-text");
  if (kept > 0) {
    gtk_editable_insert_text(entry, text, static_cast<int>(kept), position);
  }
}

}  // namespace

GtkWidget* NewLimitedEntry(const std::string& text, size_t bytes_max) {
  GtkWidget* entry = gtk_entry_new();
  g_object_set(entry, "truncate-multiline", TRUE, nullptr);
  g_signal_connect(entry, "insert-text", G_CALLBACK(HandleInsert), GSIZE_TO_POINTER(bytes_max));
  gtk_entry_set_text(GTK_ENTRY(entry), text.c_str());
  return entry;
}

std::string TextOf(GtkWidget* entry) { return gtk_entry_get_text(GTK_ENTRY(entry)); }

}  // namespace sprites
