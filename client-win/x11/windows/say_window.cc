#include "x11/windows/say_window.h"

#include "core/relay/sayings.h"
#include "core/text/texts.h"
#include "x11/windows/access_key.h"
#include "x11/windows/front_window.h"
#include "x11/windows/limited_entry.h"

namespace sprites {

namespace {

constexpr int kMargin = 14;        // dip
constexpr int kGap = 8;            // dip, between two parts
constexpr int kWidthLetters = 48;  // of the field
constexpr int kNoteLines = 2;      // that the window has room for

void ShowAsError(GtkWidget* label, bool is_error) {
  GtkStyleContext* style = gtk_widget_get_style_context(label);
  (is_error ? gtk_style_context_add_class : gtk_style_context_remove_class)(style,
                                                                            GTK_STYLE_CLASS_ERROR);
}

}  // namespace

SayWindow::SayWindow(Desktop* desktop)
    : desktop_(desktop),
      window_(gtk_dialog_new()),
      field_(NewLimitedEntry(desktop->talk().speech().unsaid, kSayingBytesMax)),
      note_(gtk_label_new("")),
      count_(gtk_label_new("")) {
  desktop->talk().ClearNote();
  shown_ = desktop->talk().speech();
  Build();
  ShowSpeech();
  ShowInFront(window_.get());
}

void SayWindow::Build() {
  GtkDialog* dialog = GTK_DIALOG(window_.get());
  gtk_window_set_title(GTK_WINDOW(dialog), Say(desktop_->language(), Text::kSayTitle).c_str());
  gtk_window_set_resizable(GTK_WINDOW(dialog), FALSE);
  gtk_container_set_border_width(GTK_CONTAINER(dialog), kMargin);
  GtkWidget* label = gtk_label_new_with_mnemonic(Words(Text::kSayLabel).c_str());
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_mnemonic_widget(GTK_LABEL(label), field_);
  gtk_entry_set_width_chars(GTK_ENTRY(field_), kWidthLetters);
  gtk_label_set_line_wrap(GTK_LABEL(note_), TRUE);
  gtk_label_set_lines(GTK_LABEL(note_), kNoteLines);
  gtk_label_set_xalign(GTK_LABEL(note_), 0);
  GtkWidget* below = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, kGap);
  gtk_box_pack_start(GTK_BOX(below), note_, TRUE, TRUE, 0);
  gtk_box_pack_end(GTK_BOX(below), count_, FALSE, FALSE, 0);
  GtkWidget* content = gtk_dialog_get_content_area(dialog);
  gtk_box_set_spacing(GTK_BOX(content), kGap);
  for (GtkWidget* widget : {label, field_, below}) {
    gtk_container_add(GTK_CONTAINER(content), widget);
  }
  On(gtk_dialog_add_button(dialog, Words(Text::kSaySend).c_str(), GTK_RESPONSE_NONE), "clicked",
     [this] { Send(); });
  On(gtk_dialog_add_button(dialog, Words(Text::kSayClose).c_str(), GTK_RESPONSE_NONE), "clicked",
     [this] { is_closed_ = true; });
  On(field_, "activate", [this] { HandleEnter(); });
  On(field_, "changed", [this] { ShowCount(); });
  On(window_.get(), "close", [this] { is_closed_ = true; });
  On(window_.get(), "delete-event", [this] { is_closed_ = true; });
  g_signal_connect(window_.get(), "delete-event", G_CALLBACK(gtk_widget_hide_on_delete), nullptr);
  gtk_widget_grab_focus(field_);
}

void SayWindow::Turn() {
  const Speech& speech = desktop_->talk().speech();
  if (speech == shown_) {
    return;
  }
  const bool is_accepted = speech.accepted != shown_.accepted;
  shown_ = speech;
  if (is_accepted) {
    gtk_entry_set_text(GTK_ENTRY(field_), "");
  }
  ShowSpeech();
}

// The line can't be changed while it is on its way.
void SayWindow::ShowSpeech() {
  gtk_editable_set_editable(GTK_EDITABLE(field_), !shown_.is_pending);
  gtk_label_set_text(GTK_LABEL(note_), shown_.note.c_str());
  ShowAsError(note_, shown_.IsRefused());
  ShowCount();
}

void SayWindow::ShowCount() {
  const size_t bytes = SayingText(TextOf(field_)).size();
  gtk_label_set_text(GTK_LABEL(count_), SayingLength(bytes).c_str());
  ShowAsError(count_, bytes >= kSayingBytesMax);
}

std::string SayWindow::Words(Text text) const {
  return WithAccessKey(Say(desktop_->language(), text));
}

void SayWindow::HandleEnter() {
  if (SayingText(TextOf(field_)).empty()) {
    is_closed_ = !desktop_->talk().speech().is_pending;
  } else {
    Send();
  }
}

void SayWindow::Send() {
  desktop_->talk().Speak(TextOf(field_));
  Turn();
}

}  // namespace sprites
