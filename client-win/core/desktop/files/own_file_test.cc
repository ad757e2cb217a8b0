#include "core/desktop/files/own_file.h"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/desktop/files/saved_state.h"
#include "core/text/json.h"
#include "test/core/test_relay.h"

namespace sprites {
namespace {

constexpr char kKept[] = "kept.json";

// Files in memory, and what is wrong with them.
struct Disk {
  FileAccess Access() {
    return {[this](const std::filesystem::path& path, size_t bytes_max) -> FileContent {
              reads++;
              const auto file = files.find(path.string());
              if (file == files.end()) {
                return {ReadStatus::kMissing, ""};
              }
              if (locked_reads > 0) {
                locked_reads--;
                return {ReadStatus::kFailed, ""};
              }
              return file->second.size() > bytes_max ? FileContent{ReadStatus::kTooLong, ""}
                                                     : FileContent{ReadStatus::kRead, file->second};
            },
            [this](const std::filesystem::path& path, std::string_view text) {
              files[path.string()] = text;
              return true;
            },
            [this](const std::filesystem::path& from, const std::filesystem::path& to) {
              if (is_stuck) {
                return Renaming::kFailed;
              }
              if (files.contains(to.string())) {
                return Renaming::kTaken;
              }
              auto file = files.extract(from.string());
              if (file.empty()) {
                return Renaming::kMissing;
              }
              file.key() = to.string();
              files.insert(std::move(file));
              return Renaming::kDone;
            },
            [this](int64_t ms) { slept_ms += ms; }};
  }

  OwnFile Kept() { return OwnFile(Access(), kKept, kSavedBytesMax, LegibleState); }

  std::map<std::string, std::string> files;
  int reads = 0;
  int locked_reads = 0;  // that fail from now on
  bool is_stuck = false;
  int64_t slept_ms = 0;
};

std::string StateWith(const Json& sprites) {
  return WriteJson({{"relay", "http://relay.example"}, {"world", "ours"}, {"sprites", sprites}});
}

const Json kGood = {{"file", kFile}, {"name", "Blob"}};
const Json kBad = {{"file", "not a hash"}};

TEST_CASE("own file › only a file that is not there means a first start") {
  Disk disk;
  OwnFile file = disk.Kept();
  CHECK(file.is_new());
  CHECK(!file.is_unreadable());
  CHECK(file.Complaint(Language::kEnglish) == "");
  CHECK(disk.reads == 1);
  CHECK(file.Write("{}"));
  CHECK(disk.files == std::map<std::string, std::string>{{kKept, "{}"}});
}

TEST_CASE("own file › one that can be read is used, and stays where it is until it is written") {
  Disk disk;
  disk.files[kKept] = StateWith(Json::array({kGood}));
  OwnFile file = disk.Kept();
  CHECK(!file.is_new());
  CHECK(file.text() == StateWith(Json::array({kGood})));
  CHECK(file.Complaint(Language::kEnglish) == "");
  CHECK(file.Write("{}"));
  CHECK(disk.files.size() == 1);
}

TEST_CASE("own file › a locked one is tried again: one time less, as often as it may, once more") {
  for (const int locked : {1, kReadTries - 1, kReadTries}) {
    CAPTURE(locked);
    Disk disk;
    disk.files[kKept] = StateWith(Json::array({kGood}));
    disk.locked_reads = locked;
    const OwnFile file = disk.Kept();
    const bool is_read = locked < kReadTries;
    CHECK(file.is_unreadable() == !is_read);
    CHECK(!file.is_new());
    CHECK(disk.reads == (is_read ? locked + 1 : kReadTries));
    CHECK(disk.slept_ms == kReadPauseMs * (disk.reads - 1));
    CHECK(disk.files.contains("kept.json.bad") == !is_read);
    CHECK(file.Complaint(Language::kEnglish) ==
          (is_read ? ""
                   : "kept.json can't be read: another program has it open, or you may not read "
                     "it. The whole file is kept as kept.json.bad."));
  }
}

TEST_CASE("own file › a damaged, halved or long one is kept beside, and the user is told") {
  const std::string whole = StateWith(Json::array({kGood}));
  const std::string longest = whole + std::string(kSavedBytesMax - whole.size(), ' ');
  struct Case {
    std::string text;
    const char* complaint;
  };
  for (const Case& one :
       {Case{"", "it is damaged."}, Case{std::string(400, '\0'), "it is damaged."},
        Case{whole.substr(0, whole.size() / 2), "it is damaged."}, Case{"[1,2]", "it is damaged."},
        Case{longest + " ", "it is too large."}}) {
    CAPTURE(one.text.size());
    Disk disk;
    disk.files[kKept] = one.text;
    OwnFile file = disk.Kept();
    CHECK(file.is_unreadable());
    CHECK(!file.is_new());
    CHECK(file.text() == "");
    CHECK(file.Complaint(Language::kEnglish) == std::string("kept.json can't be read: ") +
                                                    one.complaint +
                                                    " The whole file is kept as kept.json.bad.");
    CHECK(file.Write("{}"));
    CHECK(disk.files["kept.json.bad"] == one.text);
    CHECK(disk.files[kKept] == "{}");
  }
  for (const std::string& text : {longest, longest.substr(0, longest.size() - 1)}) {
    Disk disk;
    disk.files[kKept] = text;
    CHECK(disk.Kept().text() == text);
  }
}

TEST_CASE("own file › what can be read of a damaged one is used, and the whole is kept beside") {
  for (const char* list : {"sprites", "leaving", "waiting"}) {
    for (const Json& damage : {Json(kBad), Json(7), Json(nullptr)}) {
      CAPTURE(list);
      Json root = Json::parse(StateWith(Json::array({kGood})));
      root[list].push_back(damage);
      Disk disk;
      disk.files[kKept] = WriteJson(root);
      OwnFile file = disk.Kept();
      CHECK(!file.is_unreadable());
      CHECK(ReadSavedState(file.text(), "").sprites.size() == 1);
      CHECK(file.Complaint(Language::kEnglish) ==
            "A part of kept.json can't be read: it is damaged. The whole file is kept as "
            "kept.json.bad.");
      CHECK(disk.files[kKept] == WriteJson(root));
      CHECK(disk.files["kept.json.bad"] == WriteJson(root));
    }
  }
  Disk disk;
  disk.files[kKept] = R"({"sprites":{"0":"an object"}})";
  CHECK(disk.Kept().Complaint(Language::kGerman) ==
        "Ein Teil von kept.json ist nicht lesbar: Er ist beschädigt. Die ganze Datei bleibt als "
        "kept.json.bad erhalten.");
}

TEST_CASE(
    "own file › no earlier bad file is overwritten: one less than there may be, all, no more") {
  Disk disk;
  std::set<std::string> contents;
  for (int i = 1; i <= kBadFilesMax; i++) {
    disk.files[kKept] = "damage " + std::to_string(i);
    contents.insert(disk.files[kKept]);
    CHECK(disk.Kept().Write("{}"));
  }
  CHECK(disk.files.contains("kept.json.bad20"));
  disk.files[kKept] = "damage too much";
  contents.insert(disk.files[kKept]);
  OwnFile file = disk.Kept();
  CHECK(!file.Write("{}"));
  for (const auto& [name, text] : disk.files) {
    contents.erase(text);
  }
  CHECK(contents.empty());
}

TEST_CASE("own file › nothing is written while one that can't be read can't be renamed") {
  Disk disk;
  disk.files[kKept] = "damage";
  disk.is_stuck = true;
  OwnFile file = disk.Kept();
  CHECK(file.Complaint(Language::kEnglish) ==
        "kept.json can't be read: it is damaged. It can't be renamed to kept.json.bad yet. Until "
        "that works, nothing is saved.");
  CHECK(!file.Write("{}"));
  CHECK(disk.files[kKept] == "damage");
  disk.is_stuck = false;
  CHECK(file.Write("{}"));
  CHECK(disk.files[kKept] == "{}");
  CHECK(disk.files["kept.json.bad"] == "damage");
}

TEST_CASE("own file › one that is gone meanwhile stops nothing") {
  Disk disk;
  disk.files[kKept] = "damage";
  disk.is_stuck = true;
  OwnFile file = disk.Kept();
  disk.files.clear();
  disk.is_stuck = false;
  CHECK(file.Write("{}"));
  CHECK(disk.files == std::map<std::string, std::string>{{kKept, "{}"}});
}

TEST_CASE("own file › settings that can't be read take the relay from the saved state") {
  const std::string kept = StateWith(Json::array({kGood}));
  struct Case {
    std::optional<std::string> text;
    const char* relay;
    bool is_kept_beside;
  };
  for (const Case& one :
       {Case{std::nullopt, "", false}, Case{"{\"relay\":\"http://o", kKept, true},
        Case{std::string(kSettingsBytesMax + 1, ' '), kKept, true},
        Case{R"({"relay":"nowhere"})", kKept, false},
        Case{R"({"relay":"http://other.example"})", "http://other.example", false},
        Case{R"({"relay":""})", "", false}}) {
    CAPTURE(one.relay);
    Disk disk;
    if (one.text) {
      disk.files["settings.json"] = *one.text;
    }
    OwnFile file(disk.Access(), "settings.json", kSettingsBytesMax, LegibleSettings);
    std::optional<Reason> complaint;
    const Settings settings = SettingsOf(file, kept, &complaint);
    const bool is_from_kept = one.relay == std::string(kKept);
    CHECK(settings.relay == (is_from_kept ? "http://relay.example" : one.relay));
    CHECK(settings.world == (is_from_kept ? "ours" : ""));
    CHECK(disk.files.contains("settings.json.bad") == one.is_kept_beside);
    CHECK(!Complaints({&file}, Language::kEnglish).empty() == one.is_kept_beside);
    CHECK(SettingsOf(file, "damage", &complaint).relay ==
          (is_from_kept ? "" : std::string(one.relay)));
  }
}

TEST_CASE("own file › the complaints about two files are one text") {
  Disk disk;
  disk.files = {{kKept, "damage"}, {"settings.json", "damage"}};
  const OwnFile settings(disk.Access(), "settings.json", kSettingsBytesMax, LegibleSettings);
  const OwnFile kept = disk.Kept();
  const std::string both = Complaints({&settings, &kept}, Language::kEnglish);
  CHECK(both == settings.Complaint(Language::kEnglish) + " " + kept.Complaint(Language::kEnglish));
}

}  // namespace
}  // namespace sprites
