#include "core/picture/packs/actions.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "core/picture/packs/xml.h"
#include "core/picture/picture.h"
#include "core/text/text.h"

namespace sprites {

namespace {

constexpr int kTickMs = 40;     // of the unit in which durations are
constexpr int kTicksMax = 250;  // 10 s: longer, and a sprite looks like a still picture
constexpr std::string_view kHeld = "drag";
constexpr std::string_view kHangs = "hang";

// The animation that an action becomes, by the action's name or the class that carries it out.
struct Counterpart {
  std::string_view animation;
  std::string_view name;
  std::string_view japanese;
};
constexpr Counterpart kCounterparts[] = {
    {"idle", "Stand", "立つ"},
    {"walk", "Walk", "歩く"},
    {"sit", "Sit", "座る"},
    {"sleep", "Sprawl", "寝そべる"},
    {"climb", "ClimbWall", "壁を登る"},
    {"hang", "GrabCeiling", "天井に掴まる"},
    {"land", "Bouncing", "跳ねる"},
    {"squash", "Tripping", "転ぶ"},
    {"fall", "com.group_finity.mascot.action.Fall", ""},
    {"throw", "com.group_finity.mascot.action.Jump", ""},
    {kHeld, "com.group_finity.mascot.action.Dragged", ""},
};

// An element or an attribute in both languages.
struct Word {
  std::string_view english;
  std::string_view japanese;
};
constexpr Word kList{"ActionList", "動作リスト"};
constexpr Word kAction{"Action", "動作"};
constexpr Word kAnimation{"Animation", "アニメーション"};
constexpr Word kCondition{"Condition", "条件"};
constexpr Word kPose{"Pose", "ポーズ"};
constexpr Word kName{"Name", "名前"};
constexpr Word kClass{"Class", "クラス"};
constexpr Word kImage{"Image", "画像"};
constexpr Word kImageRight{"ImageRight", ""};  // the first program had none
constexpr Word kAnchor{"ImageAnchor", "基準座標"};
constexpr Word kDuration{"Duration", "長さ"};

// The last one is the Japanese name in the bytes of Shift JIS, a letter for each.
constexpr std::string_view kActionsNames[] = {"actions.xml", "動作.xml",
                                              "\u0093\u00AE\u008D\u00EC.xml"};

bool operator==(std::string_view text, const Word& word) {
  return text == word.english || text == word.japanese;
}

std::string AttributeOf(const XmlElement& element, const Word& word) {
  for (const std::string_view name : {word.english, word.japanese}) {
    const auto found = element.attributes.find(name);
    if (found != element.attributes.end()) {
      return found->second;
    }
  }
  return "";
}

// The path with the fewest folders, of those the first one; empty when there is none.
std::string LeastDeep(std::vector<std::string> paths) {
  const auto rank = [](const std::string& path) {
    return std::tuple(std::ranges::count(path, '/'), std::string_view(path));
  };
  const auto first = std::ranges::min_element(paths, {}, rank);
  return first == paths.end() ? "" : *first;
}

// A whole number of at most four digits.
std::optional<int> NumberIn(std::string_view text, bool may_be_negative) {
  const std::string_view digits = text.substr(may_be_negative && text.starts_with('-') ? 1 : 0);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = !digits.empty() && digits.size() <= 4 && digits[0] != '-' &&
                         error == std::errc() && end == digits.data() + digits.size();
  return is_number ? std::optional(digits.size() < text.size() ? -number : number) : std::nullopt;
}

// Finds the file of a picture. A pack may have several mascots with pictures of the same names: the
// folder of the first picture that is found has all others.
class PictureFinder {
 public:
  explicit PictureFinder(std::span<const std::string> paths) {
    for (const std::string& path : paths) {
      paths_.try_emplace(LowerCase(path), path);
    }
  }

  // Empty when there is none.
  std::string Find(std::string image) {
    std::ranges::replace(image, '\\', '/');
    image.erase(0, image.find_first_not_of('/'));
    const std::string name = LowerCase(image);
    if (name.empty()) {
      return "";
    }
    if (folder_) {
      return PathOf(*folder_ + name);
    }
    std::vector<std::string> candidates;
    for (const auto& [path, as_it_is] : paths_) {
      if (path == name || path.ends_with("/" + name)) {
        candidates.push_back(path);
      }
    }
    const std::string first = LeastDeep(std::move(candidates));
    if (!first.empty()) {
      folder_ = first.substr(0, first.size() - name.size());
    }
    return PathOf(first);
  }

 private:
  std::string PathOf(const std::string& lower) const {
    const auto found = paths_.find(lower);
    return found == paths_.end() ? "" : found->second;
  }

  std::map<std::string, std::string> paths_;  // as they are, by their lower case
  std::optional<std::string> folder_;
};

struct MascotPose {
  PackCell cell;
  int ticks;
};

struct MascotAnimation {
  bool is_usual;  // it has no condition
  std::vector<MascotPose> poses;
};

// The action that is being read.
struct Action {
  std::string name;
  std::string carried_out_by;
  bool has_poses = false;
  std::vector<MascotAnimation> animations;
};

class Planner : public XmlListener {
 public:
  explicit Planner(std::span<const std::string> paths) : finder_(paths) {
    begins = [this](const XmlElement& element, size_t depth) { Begin(element, depth); };
    ends = [this](size_t depth) { End(depth); };
  }
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  // Throws PictureRefused.
  PackPlan Finish() {
    if (!found_.contains("idle")) {
      throw PictureRefused(Text::kPicturePackNoStand);
    }
    for (const Counterpart& one : kCounterparts) {
      const auto found = found_.find(one.animation);
      if (found != found_.end()) {
        plan_.animations[found->first] = AnimationOf(found->second);
      }
    }
    return std::move(plan_);
  }

 private:
  // The elements that lead to a pose are in each other: the mascot, a list, an action, an
  // animation.
  void Begin(const XmlElement& element, size_t depth) {
    constexpr Word kPath[] = {kList, kAction, kAnimation, kPose};
    if (depth != path_ + 1 || depth > 1 + std::size(kPath) ||
        (depth > 1 && !(element.name == kPath[depth - 2]))) {
      return;
    }
    path_ = depth;
    if (depth == 3) {
      action_ = {AttributeOf(element, kName), AttributeOf(element, kClass), false, {}};
    } else if (depth == 4) {
      action_.animations.push_back({AttributeOf(element, kCondition).empty(), {}});
    } else if (depth == 5) {
      action_.has_poses = true;
      AddPose(element);
    }
  }

  void End(size_t depth) {
    if (depth == 3 && path_ == 3 && action_.has_poses) {
      AddAction();
    }
    path_ = std::min(path_, depth - 1);
  }

  // A pose without a picture, a place and a time that can be read is left out.
  void AddPose(const XmlElement& element) {
    const std::string anchor = AttributeOf(element, kAnchor);
    const size_t comma = std::min(anchor.find(','), anchor.size());
    const auto x = NumberIn(std::string_view(anchor).substr(0, comma), true);
    const auto y =
        NumberIn(comma == anchor.size() ? "" : std::string_view(anchor).substr(comma + 1), true);
    const auto ticks = NumberIn(AttributeOf(element, kDuration), false);
    if (!x || !y || !ticks) {
      return;
    }
    const std::string left = finder_.Find(AttributeOf(element, kImage));
    const std::string right = finder_.Find(AttributeOf(element, kImageRight));
    const bool looks_right = !right.empty();
    if (looks_right || !left.empty()) {
      action_.animations.back().poses.push_back(
          {{looks_right ? right : left, *x, *y, looks_right}, std::clamp(*ticks, 1, kTicksMax)});
    }
  }

  void AddAction() {
    const auto is_its = [this](const Counterpart& one) {
      return one.name == action_.name || one.name == action_.carried_out_by ||
             (!one.japanese.empty() && one.japanese == action_.name);
    };
    const auto* const role = std::ranges::find_if(kCounterparts, is_its);
    if (role != std::end(kCounterparts) && !found_.contains(role->animation)) {
      std::vector<MascotPose> poses = role->animation == kHeld ? Swinging() : FirstAnimation();
      poses.erase(poses.begin() + static_cast<ptrdiff_t>(std::min(kPosesMax, poses.size())),
                  poses.end());
      for (MascotPose& pose : poses) {
        pose.cell.hangs = role->animation == kHangs;
      }
      if (!poses.empty()) {
        found_.emplace(role->animation, std::move(poses));
        return;
      }
    }
    std::vector<std::string>& names = plan_.left_out;
    if (!action_.name.empty() && names.size() < kLeftOutMax &&
        std::ranges::find(names, action_.name) == names.end()) {
      names.push_back(action_.name);
    }
  }

  // That with a picture; others are for conditions.
  std::vector<MascotPose> FirstAnimation() const {
    for (const bool must_be_usual : {true, false}) {
      for (const MascotAnimation& animation : action_.animations) {
        if (!animation.poses.empty() && (animation.is_usual || !must_be_usual)) {
          return animation.poses;
        }
      }
    }
    return {};
  }

  // Being held has an animation for each place of the pointer: they are shown one after the other,
  // there and back.
  std::vector<MascotPose> Swinging() const {
    std::vector<MascotPose> poses;
    for (const auto& animation : action_.animations) {
      poses.insert(poses.end(), animation.poses.begin(), animation.poses.end());
    }
    for (size_t i = poses.size(); i-- > 2;) {
      poses.push_back(poses[i - 1]);
    }
    return poses;
  }

  // Each pose for its share of the time. Each cell is there once.
  Animation AnimationOf(const std::vector<MascotPose>& poses) {
    std::vector<PackCell>& cells = plan_.cells;
    std::vector<size_t> shown;
    std::vector<int> delays_ms;
    for (const MascotPose& pose : poses) {
      const auto known = std::ranges::find(cells, pose.cell);
      shown.push_back(static_cast<size_t>(known - cells.begin()));
      if (known == cells.end()) {
        cells.push_back(pose.cell);
      }
      delays_ms.push_back(pose.ticks * kTickMs);
    }
    Animation animation = StepsOf(delays_ms);
    for (uint16_t& frame : animation.frames) {
      frame = static_cast<uint16_t>(shown[frame]);
    }
    return animation;
  }

  PictureFinder finder_;
  size_t path_ = 0;  // the elements of it that are open
  Action action_;
  std::map<std::string, std::vector<MascotPose>, std::less<>> found_;
  PackPlan plan_;
};

}  // namespace

PackPlan PlanOf(std::string_view xml, std::span<const std::string> paths) {
  Planner planner(paths);
  if (!ReadXml(xml, kActionsDepthMax, planner)) {
    throw PictureRefused(Text::kPicturePackBroken);
  }
  return planner.Finish();
}

std::string ActionsIn(std::span<const std::string> paths) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    const std::string name = LowerCase(path.substr(path.find_last_of('/') + 1));
    if (std::ranges::find(kActionsNames, name) != std::end(kActionsNames)) {
      found.push_back(path);
    }
  }
  return LeastDeep(std::move(found));
}

}  // namespace sprites
