// What the menus and links make the shell do, and what the first sprite says.
#include <functional>
#include <string>
#include <utility>

#include "core/desktop/version.h"
#include "core/words/link_words.h"
#include "win32/dialogs/questions.h"
#include "win32/shell.h"
#include "win32/system/clipboard.h"
#include "win32/system/machine.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

constexpr int64_t kPresenceMs = 2'000;  // between two looks at what the person does

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
        controller_.AskWhereToGo(true, "");
      }
    });
  }
}

void Shell::AskAboutLink(const RelayLink& link) {
  Later([this, link] {
    const auto question =
        QuestionBefore(link, desktop_);  // again: the relay may be another one now
    const auto go = [&](const Answer&) {
      desktop_.Open(link);
      return "";
    };
    if (question) {
      Modal([&] { sprites::Ask(window_, *question, go); });
    } else {
      go({});
    }
  });
}

void Shell::Ask(Question question, Yes yes) {
  Later([this, question = std::move(question), yes = std::move(yes)] {
    Modal([&] { sprites::Ask(window_, question, yes); });
  });
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
    controller_.AskWhether(std::move(question), [this] {
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
