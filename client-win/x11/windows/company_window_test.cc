#include "x11/windows/company_window.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "test/core/test_desktop.h"
#include "test/x11/test_desk.h"

namespace sprites {

namespace {

Json CompanionAt(const std::string& name, int column, int row) {
  return {{"name", name}, {"column", column}, {"row", row}};
}

void FindList(GtkWidget* widget, gpointer found) {
  if (GTK_IS_TREE_VIEW(widget)) {
    *static_cast<GtkWidget**>(found) = widget;
  } else if (GTK_IS_CONTAINER(widget)) {
    gtk_container_forall(GTK_CONTAINER(widget), FindList, found);
  }
}

// The list of the only window.
GtkWidget* ListShown() {
  GtkWidget* list = nullptr;
  GList* windows = gtk_window_list_toplevels();
  for (GList* one = windows; one != nullptr; one = one->next) {
    FindList(GTK_WIDGET(one->data), &list);
  }
  g_list_free(windows);
  return list;
}

// What a screen reader reads in a cell.
std::string CellRead(GtkWidget* list, int row, int column) {
  AtkObject* cell = atk_table_ref_at(ATK_TABLE(gtk_widget_get_accessible(list)), row, column);
  const char* name = atk_object_get_name(cell);
  std::string text = name == nullptr ? "" : name;
  g_object_unref(cell);
  return text;
}

}  // namespace

TEST_CASE("company window: a screen reader reads a row for each desktop, and Enter throws there") {
  if (!HasServer() || !gtk_init_check(nullptr, nullptr)) {
    return;
  }
  TestDesktop fixture;
  fixture.Join();
  const auto meet = [&](const std::vector<Json>& company) {
    fixture.desktop.AskWhoIsHere();
    fixture.Respond(fixture.Pop("/company", Method::kGet), 200,
                    {{"desktops", company.size() + 1}, {"company", company}});
  };
  meet({CompanionAt("Bob", 1, 0), CompanionAt("Zoe", 2, 1)});
  const SpriteId own = fixture.DropInOwn();
  std::optional<MenuChoice> choice;
  CompanyWindow window(&fixture.desktop, [&](const MenuChoice& chosen) { choice = chosen; });
  GtkWidget* list = ListShown();
  REQUIRE(list != nullptr);
  CHECK(atk_table_get_n_rows(ATK_TABLE(gtk_widget_get_accessible(list))) == 3);
  CHECK(CellRead(list, 0, 0) == "You");
  CHECK(CellRead(list, 1, 0) == "Bob");
  CHECK(CellRead(list, 2, 1) == "2 to the right, 1 down");

  GtkTreePath* last = gtk_tree_path_new_from_indices(2, -1);
  gtk_tree_view_set_cursor(GTK_TREE_VIEW(list), last, nullptr, FALSE);
  gtk_tree_path_free(last);
  meet({CompanionAt("Zoe", 1, 1)});
  window.Turn();
  CHECK(atk_table_get_n_rows(ATK_TABLE(gtk_widget_get_accessible(list))) == 2);
  CHECK(CellRead(list, 1, 1) == "1 to the right, 1 down");
  GtkTreePath* chosen = nullptr;
  gtk_tree_view_get_cursor(GTK_TREE_VIEW(list), &chosen, nullptr);
  REQUIRE(chosen != nullptr);
  CHECK(gtk_tree_path_get_indices(chosen)[0] == 1);  // Zoe, as before
  gtk_tree_view_row_activated(GTK_TREE_VIEW(list), chosen,
                              gtk_tree_view_get_column(GTK_TREE_VIEW(list), 0));
  gtk_tree_path_free(chosen);
  REQUIRE(choice.has_value());
  CHECK(choice->neighbour.name == "Zoe");
  CHECK(choice->sprite == own);
}

}  // namespace sprites
