// What the menus and links make the shell do, and what the first sprite says.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include "core/words/choices_menu.h"
#include "core/words/diagnostics.h"
#include "core/words/heard_list.h"
#include "core/words/link_words.h"
#include "x11/shell.h"

namespace sprites {

namespace {

constexpr int64_t kNoticeMs = 6'000;  // a notice of the program's own is shown

// Bytes of memory that the process has now.
uint64_t MemoryBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0;
  uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string SystemName() {
  utsname name{};
  return uname(&name) == 0 ? std::string(name.sysname) + " " + name.release : "Linux";
}

std::string TimeOfDayAgo(int64_t ms) {
  const time_t then = time(nullptr) - ms / 1'000;
  tm local{};
  char text[8] = "";
  if (localtime_r(&then, &local) != nullptr) {
    strftime(text, sizeof text, "%H:%M", &local);
  }
  return text;
}

}  // namespace

// The menu of the program, with the settings in it. Newer versions come from the distribution.
Menu Shell::ProgramMenuHere() const {
  Menu menu = ProgramMenu(desktop_);
  WithoutWindows(&menu);
  return menu;
}

// What other systems have windows for is in the menu itself.
void Shell::WithoutWindows(Menu* menu) const {
  std::erase_if(*menu,
                [](const MenuItem& item) { return item.choice.command == MenuCommand::kUpdate; });
  for (MenuItem& item : *menu) {
    WithoutWindows(&item.children);
    if (item.choice.command == MenuCommand::kSettings) {
      item.children = SettingsMenu(desktop_, !speaker_.IsSilent());
      item.children.push_back({});
      std::ranges::move(ChoicesMenu(desktop_), std::back_inserter(item.children));
      if (item.text.ends_with("…")) {
        item.text.resize(item.text.size() - std::string_view("…").size());  // there is no window
      }
    }
    if (item.choice.command == MenuCommand::kHeard) {
      item.children = HeardMenu(desktop_, TimeOfDayAgo);
      item.text.resize(item.text.size() - std::string_view("…").size());
    }
  }
}

// Some panels do not know where their icons are, and say 0, 0: then it opens at the pointer.
void Shell::ShowProgramMenu(Point point) {
  controller_.HandleMenuOpened();
  if (point.x == 0 && point.y == 0) {
    point = display_->Pointer().point;
  }
  menu_.Open(
      ProgramMenuHere(), [this, point] { return display_->CornerAt(point); },
      [this](const MenuChoice& choice) { controller_.HandleChoice(choice); });
  RequestTurn();
}

void Shell::OpenWindow(MenuCommand command) {
  switch (command) {
    case MenuCommand::kName:
      AskForName();
      break;
    case MenuCommand::kSay:
      // A new one is in front, and has the keyboard.
      say_window_ = std::make_unique<SayWindow>(&desktop_);
      break;
    case MenuCommand::kCompany:
      company_window_ = std::make_unique<CompanyWindow>(
          &desktop_, [this](const MenuChoice& choice) { controller_.HandleChoice(choice); });
      break;
    case MenuCommand::kQuit:
      is_ending_ = true;
      break;
    default:
      break;
  }
}

void Shell::AskAboutLink(const RelayLink& link) {
  const auto go = [this, link](const Answer&) {
    desktop_.Open(link);
    return "";
  };
  const auto stay = [this] {
    if (desktop_.settings().relay.empty()) {
      controller_.AskWhereToGo(true, "");
    }
  };
  AskAfterOthers({QuestionBefore(link, desktop_).value(), go, stay});
}

void Shell::AskForName() {
  Question question;
  question.heading = Said(Text::kSettingsNameHeading);
  question.text = Said(Text::kSettingsNameText);
  question.yes = Said(Text::kButtonOk);
  question.no = Said(Text::kButtonCancel);
  question.fields = {
      {OwnName(desktop_), Said(Text::kSettingsName), Said(Text::kSettingsNameCue), kNameBytesMax}};
  Ask(std::move(question), [this](const Answer& answer) {
    Settings settings = desktop_.settings();
    settings.name = answer.fields[0];
    controller_.ApplySettings(settings);
    return "";
  });
}

void Shell::AskAfterOthers(WaitingQuestion question) {
  if (questions_.Add(std::move(question))) {
    RequestTurn();
  }
}

// Removes the dialog that is answered, and shows the next one.
void Shell::UpdateDialog() {
  if (dialog_ && dialog_->is_answered()) {
    dialog_.reset();
    questions_.Pop();
  }
  const WaitingQuestion* next = questions_.First();
  if (!dialog_ && next != nullptr) {
    dialog_ = std::make_unique<Dialog>(next->question, next->yes, next->no);
  }
}

bool Shell::Copy(const std::string& text) {
  gtk_clipboard_set_text(gtk_clipboard_get(GDK_SELECTION_CLIPBOARD), text.c_str(),
                         static_cast<int>(text.size()));
  return true;
}

// A file is opened by its program.
bool Shell::OpenFolder(const std::filesystem::path& folder) {
  gchar* uri = g_filename_to_uri(folder.c_str(), nullptr, nullptr);
  const bool is_open =
      uri != nullptr && gtk_show_uri_on_window(nullptr, uri, GDK_CURRENT_TIME, nullptr) != FALSE;
  g_free(uri);
  return is_open;
}

void Shell::ShowToast(const Toast& toast) {
  toast_opens_ = toast.opens;
  if (notifier_.CanNotify()) {
    std::function<void()> clicked = [this] { HandleToastClicked(); };
    notifier_.Notify(toast.title, toast.text, toast.opens.empty() ? nullptr : std::move(clicked));
    return;
  }
  notice_.ShowInCorner(toast.title, toast.text);
  notice_until_ms_ = NowMs() + kNoticeMs;
}

void Shell::HandleToastClicked() {
  notice_.Hide();
  if (!toast_opens_.empty()) {
    OpenFolder(toast_opens_);
  }
}

std::string Shell::NetworkAddress() const {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) {
    return "";
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owned(all, freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const bool is_up = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (!is_up || one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) {
      continue;
    }
    char text[INET_ADDRSTRLEN] = "";
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    return inet_ntop(AF_INET, &address->sin_addr, text, sizeof text) == nullptr ? "" : text;
  }
  return "";
}

Machine Shell::DescribeMachine() const {
  Machine machine;
  machine.system = SystemName() + ", " + display_->system();
  machine.memory_bytes = MemoryBytes();
  machine.has_sound = !speaker_.IsSilent();
  return machine;
}

}  // namespace sprites
