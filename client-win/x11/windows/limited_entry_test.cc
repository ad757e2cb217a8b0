#include "x11/windows/limited_entry.h"

#include <doctest/doctest.h>

#include <memory>

#include "test/x11/test_desk.h"
#include "x11/windows/signal.h"

namespace sprites {

namespace {

std::string Kept(const std::string& typed, size_t bytes_max) {
  const std::unique_ptr<GtkWidget, DestroyWidget> entry(
      GTK_WIDGET(g_object_ref_sink(NewLimitedEntry(typed, bytes_max))));
  return TextOf(entry.get());
}

}  // namespace

TEST_CASE("limited entry: it takes as many bytes as its limit, in whole letters") {
  if (!HasServer() || !gtk_init_check(nullptr, nullptr)) {
    return;
  }
  CHECK(Kept("", 4) == "");
  CHECK(Kept("éé", 5) == "éé");
  CHECK(Kept("éé", 4) == "éé");
  CHECK(Kept("éé", 3) == "é");
  CHECK(Kept("日本", 2) == "");
  CHECK(Kept("a", 0) == "");
}

TEST_CASE("limited entry: what is typed into the middle is cut, not what stands after it") {
  if (!HasServer() || !gtk_init_check(nullptr, nullptr)) {
    return;
  }
  const std::unique_ptr<GtkWidget, DestroyWidget> entry(
      GTK_WIDGET(g_object_ref_sink(NewLimitedEntry("ab", 4))));
  int position = 1;
  gtk_editable_insert_text(GTK_EDITABLE(entry.get()), "xñ", -1, &position);
  CHECK(TextOf(entry.get()) == "axb");
  CHECK(position == 2);
}

}  // namespace sprites
