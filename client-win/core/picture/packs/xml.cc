#include "core/picture/packs/xml.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "core/text/text.h"

namespace sprites {

namespace {

constexpr std::string_view kSpace = " \t\r\n";

struct Broken {};

constexpr std::pair<std::string_view, char> kEntities[] = {
    {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};

void AppendLetter(uint32_t code, std::string* text) {
  constexpr uint32_t kFirstBytes[] = {0, 0xC0, 0xE0, 0xF0};
  if (code < 0x80) {
    *text += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  *text += static_cast<char>(kFirstBytes[more] | code >> (6 * more));
  for (int i = more - 1; i >= 0; i--) {
    *text += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
  }
}

// What a reference stands for, without its `&` and `;`.
void AppendReference(std::string_view name, std::string* text) {
  if (!name.starts_with('#')) {
    const auto* const entity =
        std::ranges::find(kEntities, name, [](const auto& one) { return one.first; });
    if (entity == std::end(kEntities)) {
      throw Broken();
    }
    *text += entity->second;
    return;
  }
  name.remove_prefix(1);
  const bool is_hex = name.starts_with('x');
  name.remove_prefix(is_hex ? 1 : 0);
  uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), code, is_hex ? 16 : 10);
  const bool is_letter =
      code >= ' ' || kSpace.find(static_cast<char>(code)) != std::string_view::npos;
  if (name.empty() || error != std::errc() || end != name.data() + name.size() || !is_letter ||
      code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    throw Broken();
  }
  AppendLetter(code, text);
}

// A value or a text, with what its references stand for.
std::string Resolved(std::string_view raw) {
  std::string text;
  while (!raw.empty()) {
    const char letter = raw[0];
    if (letter != '&') {
      text += kSpace.find(letter) == std::string_view::npos ? letter : ' ';
      raw.remove_prefix(1);
      continue;
    }
    const size_t end = raw.find(';');
    if (end == std::string_view::npos) {
      throw Broken();
    }
    AppendReference(raw.substr(1, end - 1), &text);
    raw.remove_prefix(end + 1);
  }
  return text;
}

class XmlReader {
 public:
  XmlReader(std::string_view text, size_t depth_max, const XmlListener& listener)
      : rest_(text), depth_max_(depth_max), listener_(listener) {}

  // Throws Broken.
  void Read() {
    while (!rest_.empty()) {
      if (Take("<!--")) {
        TakeUntil("-->");
      } else if (Take("<?")) {
        TakeUntil("?>");
      } else if (!open_.empty() && Take("<![CDATA[")) {
        TakeUntil("]]>");
      } else if (Take("</")) {
        const std::string_view name = TakeName();
        SkipSpace();
        Require(Take(">") && !open_.empty() && open_.back() == name);
        End();
      } else if (Take("<")) {
        Begin();
      } else {
        const std::string_view text = rest_.substr(0, rest_.find('<'));
        rest_.remove_prefix(text.size());
        Require(!open_.empty() || text.find_first_not_of(kSpace) == std::string_view::npos);
        Resolved(text);
      }
    }
    Require(open_.empty() && has_top_);
  }

 private:
  static void Require(bool condition) {
    if (!condition) {
      throw Broken();
    }
  }

  bool Take(std::string_view token) {
    const bool is_here = rest_.starts_with(token);
    rest_.remove_prefix(is_here ? token.size() : 0);
    return is_here;
  }

  std::string_view TakeUntil(std::string_view end) {
    const size_t length = rest_.find(end);
    Require(length != std::string_view::npos);
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length + end.size());
    return taken;
  }

  bool SkipSpace() {
    const size_t length = std::min(rest_.find_first_not_of(kSpace), rest_.size());
    rest_.remove_prefix(length);
    return length > 0;
  }

  std::string_view TakeName() {
    const std::string_view name = rest_.substr(0, rest_.find_first_of(" \t\r\n/>=<&\"'"));
    Require(!name.empty() &&
            std::string_view("!?-.0123456789").find(name[0]) == std::string_view::npos);
    rest_.remove_prefix(name.size());
    return name;
  }

  void Begin() {
    Require((!open_.empty() || !has_top_) && open_.size() < depth_max_);
    XmlElement element{TakeName(), {}};
    bool is_whole = false;
    for (;;) {
      const bool is_apart = SkipSpace();
      is_whole = Take("/>");
      if (is_whole || Take(">")) {
        break;
      }
      Require(is_apart);
      const std::string_view name = TakeName();
      SkipSpace();
      Require(Take("="));
      SkipSpace();
      Require(rest_.starts_with('"') || rest_.starts_with('\''));
      const std::string_view quote = rest_.substr(0, 1);
      rest_.remove_prefix(1);
      const std::string_view value = TakeUntil(quote);
      Require(value.find('<') == std::string_view::npos);
      Require(element.attributes.try_emplace(name, Resolved(value)).second);
    }
    has_top_ = true;
    open_.push_back(element.name);
    listener_.begins(element, open_.size());
    if (is_whole) {
      End();
    }
  }

  void End() {
    listener_.ends(open_.size());
    open_.pop_back();
  }

  std::string_view rest_;
  size_t depth_max_;
  const XmlListener& listener_;
  std::vector<std::string_view> open_;
  bool has_top_ = false;
};

}  // namespace

bool ReadXml(std::string_view text, size_t depth_max, const XmlListener& listener) {
  const auto is_control = [](char letter) {
    return static_cast<uint8_t>(letter) < ' ' && kSpace.find(letter) == std::string_view::npos;
  };
  if (!IsUtf8(text) || std::ranges::any_of(text, is_control)) {
    return false;
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  try {
    XmlReader(text, depth_max, listener).Read();
  } catch (const Broken&) {
    return false;
  }
  return true;
}

}  // namespace sprites
