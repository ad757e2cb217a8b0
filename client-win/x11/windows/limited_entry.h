// A line to type in, with a limit in bytes.
//
// GTK's entry: it has the person's input method, compose keys, the clipboard and both directions.
#ifndef CLIENT_WIN_X11_WINDOWS_LIMITED_ENTRY_H_
#define CLIENT_WIN_X11_WINDOWS_LIMITED_ENTRY_H_

#include <gtk/gtk.h>

#include <string>

namespace sprites {

// What is more than `bytes_max` of UTF-8 is cut off between two letters.
GtkWidget* NewLimitedEntry(const std::string& text, size_t bytes_max);
std::string TextOf(GtkWidget* entry);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_LIMITED_ENTRY_H_
