#include "x11/windows/dialog.h"

#include <utility>

#include "core/text/text.h"
#include "x11/windows/access_key.h"
#include "x11/windows/character_picture.h"
#include "x11/windows/front_window.h"
#include "x11/windows/limited_entry.h"

namespace sprites {

namespace {

constexpr int kMargin = 18;         // dip
constexpr int kGap = 10;            // dip, between two parts
constexpr int kWidthLetters = 52;   // of a line of text, at most
constexpr int kZoom = 2;            // dip for a pixel of a character
constexpr int kCharacterMax = 128;  // dip: the height of a character

// A label that is read as a paragraph.
GtkWidget* Paragraph(const std::string& text) {
  GtkWidget* label = gtk_label_new(text.c_str());
  gtk_label_set_line_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_max_width_chars(GTK_LABEL(label), kWidthLetters);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  return label;
}

void Bold(GtkWidget* label) {
  PangoAttrList* attributes = pango_attr_list_new();
  pango_attr_list_insert(attributes, pango_attr_weight_new(PANGO_WEIGHT_BOLD));
  pango_attr_list_insert(attributes, pango_attr_scale_new(PANGO_SCALE_LARGE));
  gtk_label_set_attributes(GTK_LABEL(label), attributes);
  pango_attr_list_unref(attributes);
}

GtkWidget* StandingPictureOf(const Sheet& sheet) {
  GtkWidget* image = PictureOf(sheet, kZoom, kCharacterMax);
  gtk_widget_set_valign(image, GTK_ALIGN_END);
  return image;
}

struct Offer {
  GWeakRef entry{};  // the dialog may be gone when the other program answers
  std::function<bool(const std::string&)> offers;
};

void HandleCopied(GtkClipboard*, const gchar* text, gpointer data) {
  const std::unique_ptr<Offer> offer(static_cast<Offer*>(data));
  auto* entry = static_cast<GtkWidget*>(g_weak_ref_get(&offer->entry));
  g_weak_ref_clear(&offer->entry);
  if (entry == nullptr) {
    return;
  }
  if (text != nullptr && TextOf(entry).empty() && offer->offers(text)) {
    gtk_entry_set_text(GTK_ENTRY(entry), text);
    gtk_editable_select_region(GTK_EDITABLE(entry), 0, -1);
  }
  g_object_unref(entry);
}

// Asks for the text of the clipboard while the field is empty.
void OfferCopied(GtkWidget* entry, const std::function<bool(const std::string&)>& offers) {
  if (TextOf(entry).empty()) {
    auto* offer = new Offer{{}, offers};
    g_weak_ref_init(&offer->entry, entry);
    gtk_clipboard_request_text(gtk_clipboard_get(GDK_SELECTION_CLIPBOARD), HandleCopied, offer);
  }
}

}  // namespace

Dialog::Dialog(const Question& question, Yes yes, std::function<void()> no)
    : window_(gtk_dialog_new()), yes_(std::move(yes)), no_(std::move(no)) {
  gtk_window_set_title(GTK_WINDOW(window_.get()), question.title.c_str());
  gtk_window_set_resizable(GTK_WINDOW(window_.get()), FALSE);
  gtk_container_set_border_width(GTK_CONTAINER(window_.get()), kMargin);
  GtkWidget* content = gtk_dialog_get_content_area(GTK_DIALOG(window_.get()));
  gtk_box_set_spacing(GTK_BOX(content), kGap);
  AddParade(question, GTK_CONTAINER(content));
  AddTexts(question, GTK_CONTAINER(content));
  AddFields(question, GTK_CONTAINER(content));
  AddBox(question, GTK_CONTAINER(content));
  AddButtons(question);
  const auto respond = +[](GtkDialog*, int response, gpointer dialog) {
    static_cast<Dialog*>(dialog)->Reply(response == GTK_RESPONSE_YES);
  };
  g_signal_connect(window_.get(), "response", G_CALLBACK(respond), this);
  // Its owner destroys it.
  g_signal_connect(window_.get(), "delete-event", G_CALLBACK(gtk_widget_hide_on_delete), nullptr);
  ShowInFront(window_.get());
}

// The characters stand side by side on a line.
void Dialog::AddParade(const Question& question, GtkContainer* content) {
  if (question.characters.empty()) {
    return;
  }
  GtkWidget* row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, kGap);
  for (const SheetPointer& sheet : question.characters) {
    gtk_container_add(GTK_CONTAINER(row), StandingPictureOf(*sheet));
  }
  gtk_container_add(content, row);
  gtk_container_add(content, gtk_separator_new(GTK_ORIENTATION_HORIZONTAL));
}

void Dialog::AddTexts(const Question& question, GtkContainer* content) {
  GtkWidget* heading = Paragraph(question.heading);
  Bold(heading);
  gtk_container_add(content, heading);
  gtk_container_add(content, Paragraph(question.text));
}

void Dialog::AddFields(const Question& question, GtkContainer* content) {
  for (const QuestionField& field : question.fields) {
    GtkWidget* entry = NewLimitedEntry(field.text, field.bytes_max);
    const bool has_note = fields_.empty() && question.note != nullptr;
    gtk_entry_set_placeholder_text(GTK_ENTRY(entry), has_note ? "" : field.cue.c_str());
    // Return answers with what the fields have now. The default button would read them 250 ms
    // later, when more may have been typed.
    On(entry, "activate",
       [dialog = GTK_DIALOG(window_.get())] { gtk_dialog_response(dialog, GTK_RESPONSE_YES); });
    GtkWidget* label = gtk_label_new_with_mnemonic(WithAccessKey(field.label).c_str());
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), entry);
    gtk_container_add(content, label);
    gtk_container_add(content, entry);
    if (fields_.empty()) {
      note_ = Paragraph("");
      gtk_widget_set_no_show_all(note_, has_note ? FALSE : TRUE);
      gtk_container_add(content, note_);
    }
    fields_.push_back({entry, field.bytes_max});
  }
  if (!fields_.empty()) {
    ExplainFirstField(question);
  }
}

void Dialog::ExplainFirstField(const Question& question) {
  GtkWidget* entry = fields_.front().entry;
  if (question.note) {
    // An entry of GTK that has the keyboard shows no placeholder.
    const auto show = [this, entry, note = question.note, cue = question.fields.front().cue] {
      const std::string text = TextOf(entry);
      ShowNote(text.empty() ? FieldNote{cue} : note(text));
    };
    On(entry, "changed", show);
    show();
  }
  if (question.offers) {
    // Whenever the window has the keyboard: the person may have copied a link in another one.
    On(entry, "focus-in-event", [entry, offers = question.offers] { OfferCopied(entry, offers); });
  }
}

void Dialog::ShowNote(const FieldNote& note) {
  GtkStyleContext* style = gtk_widget_get_style_context(note_);
  if (note.is_error) {
    gtk_style_context_add_class(style, GTK_STYLE_CLASS_ERROR);
  } else {
    gtk_style_context_remove_class(style, GTK_STYLE_CLASS_ERROR);
  }
  gtk_label_set_text(GTK_LABEL(note_), note.text.c_str());
  gtk_widget_show(note_);
}

void Dialog::AddBox(const Question& question, GtkContainer* content) {
  if (question.box_label.empty()) {
    return;
  }
  box_ = gtk_check_button_new_with_mnemonic(WithAccessKey(question.box_label).c_str());
  gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(box_), question.is_ticked);
  gtk_container_add(content, box_);
}

// A question without a line begins at No, so that a key that is pressed by chance answers nothing.
void Dialog::AddButtons(const Question& question) {
  GtkDialog* dialog = GTK_DIALOG(window_.get());
  GtkWidget* focused =
      gtk_dialog_add_button(dialog, WithAccessKey(question.yes).c_str(), GTK_RESPONSE_YES);
  gtk_dialog_set_default_response(dialog, GTK_RESPONSE_YES);
  if (!question.no.empty()) {
    focused = gtk_dialog_add_button(dialog, WithAccessKey(question.no).c_str(), GTK_RESPONSE_NO);
  }
  gtk_widget_grab_focus(fields_.empty() ? focused : fields_.front().entry);
}

void Dialog::Reply(bool is_yes) {
  if (is_answered_) {
    return;
  }
  if (!is_yes) {
    is_answered_ = true;
    if (no_) {
      no_();
    }
    return;
  }
  Answer answer;
  for (const Field& field : fields_) {
    answer.fields.push_back(PlainText(TextOf(field.entry), field.bytes_max));
  }
  answer.is_ticked =
      box_ != nullptr && gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(box_)) != FALSE;
  const std::string error = yes_(answer);
  is_answered_ = error.empty();
  if (note_ != nullptr && !is_answered_) {
    ShowNote({error, true});
  }
}

}  // namespace sprites
