// What the menus and links make the shell do, and what the first sprite says.
#include <algorithm>
#include <utility>

#include "core/desktop/version.h"
#include "core/words/link_words.h"
#include "win32/dialogs/link_dialog.h"
#include "win32/dialogs/questions.h"
#include "win32/dialogs/report_dialog.h"
#include "win32/shell.h"
#include "win32/system/clipboard.h"
#include "win32/system/machine.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

constexpr int64_t kPresenceMs = 2'000;  // between two looks at what the person does
constexpr size_t kCharactersShown = 5;  // in the window that asks where to go

}  // namespace

// Runs `task` when no menu and no dialog is open.
void Shell::Later(LaterQueue::Task task) {
  if (later_.Push(std::move(task))) {
    PostMessageW(window_, kLaterMessage, 0, 0);
  }
}

void Shell::RunLater() {
  if (modal_depth_ > 0 || later_.IsEmpty() || is_ending_) {
    return;
  }
  later_.Pop()();
  RequestTurn();
  PostMessageW(window_, kLaterMessage, 0, 0);
}

// At the start: goes to the relay that the installer came from, or asks for one.
void Shell::FindRelay() {
  const std::string installer = is_portable_ ? "" : PopInstallerName();
  const auto relay = RelayOfInstaller(installer);
  const bool has_relay = !desktop_.settings().relay.empty();
  if (relay && (!has_relay || *relay != desktop_.settings().relay)) {
    controller_.FollowLink({*relay, "", ""});
  } else if (!has_relay) {
    Later([this] {
      if (desktop_.settings().relay.empty()) {  // a link may have come in the meantime
        OpenLinkDialog(true, "");
      }
    });
  }
}

void Shell::AskAboutLink(const RelayLink& link) {
  Later([this, link] {
    const auto question =
        QuestionBefore(link, desktop_);  // again: the relay may be another one now
    if (!question || Modal([&] { return Ask(window_, *question); })) {
      desktop_.Open(link);
    }
  });
}

void Shell::AskWhether(const Question& question, std::function<void()> yes) {
  Later([this, question, yes = std::move(yes)] {
    if (Modal([&] { return Ask(window_, question); })) {
      yes();
    }
  });
}

void Shell::AskWhereToGo(bool is_first_start, const std::string& link) {
  Later([this, is_first_start, link] { OpenLinkDialog(is_first_start, link); });
}

void Shell::OpenLinkDialog(bool is_first_start, const std::string& link) {
  const auto& shelf = desktop_.look().shelf();
  const std::vector<SheetPointer> characters(
      shelf.begin(), shelf.begin() + std::min<ptrdiff_t>(kCharactersShown, std::ssize(shelf)));
  LinkQuestion question;
  question.language = desktop_.language();
  question.is_first_start = is_first_start;
  question.link = link;
  question.name = desktop_.settings().name;
  question.characters = characters;
  question.offers = [this](const std::string& copied) { return LeadsElsewhere(copied, desktop_); };
  question.go = [this](const std::string& text, const std::string& name) {
    return controller_.GoTo(text, name);
  };
  Modal([&] { AskForLink(window_, question); });
}

void Shell::AskAboutReport(const Sprite& sprite) {
  PictureReport report = desktop_.guests().ReportOf(sprite);
  const auto answer = Modal([&] {
    return AskForReport(window_, desktop_.language(), sprite.name, desktop_.settings().relay);
  });
  if (!answer) {
    return;
  }
  report.reason = answer->reason;
  desktop_.guests().ReportPicture(report);
  if (answer->hides) {
    desktop_.look().HidePicture(report.file, true);
  }
}

void Shell::CheckForUpdate() {
  if (desktop_.relay().link() != Link::kConnected) {
    controller_.ShowNotice(Text::kToastUpdateFailed, Text::kToastUpdateFailedText);
    return;
  }
  desktop_.updates().Check();
}

void Shell::HandleUpdate(const UpdateNews& news) {
  const std::string& relay = desktop_.settings().relay;
  if (!news.was_asked) {
    if (news.is_later) {
      controller_.ShowNotice(Text::kToastUpdate, Text::kToastUpdateText,
                             {desktop_.updates().newest()->version});
    }
    return;
  }
  if (!news.has_answer) {
    controller_.ShowNotice(Text::kToastUpdateFailed, Text::kToastUpdateFailedText);
  } else if (!news.is_later) {
    controller_.ShowNotice(Text::kToastNoUpdate, Text::kToastNoUpdateText,
                           {HostOf(relay), SPRITES_VERSION});
  } else {
    Question question;
    question.heading =
        controller_.Said(Text::kAskUpdateHeading, {desktop_.updates().newest()->version});
    question.text = controller_.Said(Text::kAskUpdateText, {HostOf(relay)});
    question.yes = controller_.Said(Text::kAskUpdateYes);
    question.no = controller_.Said(Text::kAskUpdateNo);
    AskWhether(question, [this] {
      if (desktop_.updates().newest()) {
        desktop_.updates().Fetch();
      }
    });
  }
}

// `bytes` is the checked installer, or empty if the download has failed.
void Shell::HandleInstaller(const std::string& bytes) {
  if (bytes.empty()) {
    controller_.ShowNotice(Text::kToastUpdateFailed, Text::kToastUpdateWrongText);
  } else if (!desktop_.updates().newest() ||
             !ShowDownload(desktop_.updates().newest()->version, bytes)) {
    controller_.ShowNotice(Text::kToastUpdateFailed, Text::kToastUpdateFailedText);
  }
}

void Shell::ShowBubble(const Scene& scene) {
  const auto said = controller_.BubbleIn(scene);
  if (!said || modal_depth_ > 0) {
    bubble_.Hide();
  } else {
    bubble_.Show(*said);
  }
}

void Shell::DismissBubble() {
  controller_.DismissBubble();
  bubble_.Hide();
}

void Shell::UpdatePresence() {
  if (NowMs() >= presence_ms_) {
    presence_ms_ = NowMs() + kPresenceMs;
    desktop_.SetPresence(PresenceNow());
  }
}

void Shell::ShowToast(const Toast& toast) {
  toast_opens_ = toast.opens;
  tray_.ShowToast(toast);
}

bool Shell::Copy(const std::string& text) { return CopyToClipboard(window_, text); }

bool Shell::GiveKeysTo(const Sprite& sprite) {
  return windows_.GiveKeysTo(sprite.id, Wide(sprite.name));
}

Machine Shell::DescribeMachine() const {
  Machine machine = MachineNow();
  machine.is_portable = is_portable_;
  uint64_t pictures = 0;
  uint64_t placements = 0;
  for (const SpriteWindows* windows : {&windows_, &dust_, &beyond_}) {
    pictures += windows->cost().pictures;
    placements += windows->cost().placements;
  }
  machine.calls = std::to_string(turns_) + " turns, " + std::to_string(surroundings_.looks()) +
                  " looks at windows, " + std::to_string(pictures) + " pictures, " +
                  std::to_string(placements) + " placements";
  return machine;
}

}  // namespace sprites
