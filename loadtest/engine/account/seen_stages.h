// Stages as the swarm posts them, and what each desktop has seen of its neighbours'.
//
// A stage has one sprite. Its number is the time at which it was posted, in tenths of a millisecond
// of the run, so it rises; where it stands follows from the number. Invariant of a relay that is
// right: the stages that a desktop sees of one neighbour have rising numbers, and stand there.
#ifndef LOADTEST_ENGINE_ACCOUNT_SEEN_STAGES_H_
#define LOADTEST_ENGINE_ACCOUNT_SEEN_STAGES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace swarm {

inline uint32_t StageNumber(int64_t since_start_ns) {
  return static_cast<uint32_t>(since_start_ns / 100'000);
}

inline int64_t StageX(uint64_t number) { return static_cast<int64_t>(number % 1901); }
inline int64_t StageY(uint64_t number) { return static_cast<int64_t>(number * 7 % 1061); }

// The body of a post.
inline void WriteStage(uint32_t number, std::string* to) {
  to->assign("{\"width\":1920,\"height\":1080,\"files\":[\"").append(64, 'a');
  to->append("\"],\"sprites\":[{\"id\":").append(std::to_string(number));
  to->append(",\"x\":").append(std::to_string(StageX(number)));
  to->append(",\"y\":").append(std::to_string(StageY(number))).append("}]}");
}

class SeenStages {
 public:
  // `desktops`: 0 where nobody peeks.
  explicit SeenStages(size_t desktops) : seen_(desktops) {}

  enum class Kind : uint8_t { kNew, kOld, kCorrupted };

  // A stage that desktop `index` sees of the desktop whose id has this fingerprint.
  Kind See(uint32_t index, uint64_t from, uint64_t number, double x, double y) {
    if (index >= seen_.size() || x != static_cast<double>(StageX(number)) ||
        y != static_cast<double>(StageY(number))) {
      return Kind::kCorrupted;
    }
    Seen& seen = seen_[index];
    if (seen.from == from && number <= seen.number) {
      return Kind::kOld;
    }
    seen = {from, number};
    return Kind::kNew;
  }

 private:
  struct Seen {
    uint64_t from = 0;
    uint64_t number = 0;
  };
  std::vector<Seen> seen_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_SEEN_STAGES_H_
