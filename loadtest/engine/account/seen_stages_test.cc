#include "account/seen_stages.h"

#include <doctest/doctest.h>

namespace swarm {

TEST_CASE(
    "seen stages: an older stage of the same neighbour is old, one that stands elsewhere "
    "corrupted") {
  SeenStages stages(2);
  const auto see = [&](uint32_t index, uint64_t from, uint64_t number) {
    return stages.See(index, from, number, static_cast<double>(StageX(number)),
                      static_cast<double>(StageY(number)));
  };
  CHECK_EQ(see(0, 7, 2000), SeenStages::Kind::kNew);
  CHECK_EQ(see(0, 7, 2001), SeenStages::Kind::kNew);
  CHECK_EQ(see(0, 7, 2001), SeenStages::Kind::kOld);
  CHECK_EQ(see(0, 7, 1999), SeenStages::Kind::kOld);
  CHECK_EQ(see(1, 7, 1999), SeenStages::Kind::kNew);
  CHECK_EQ(see(0, 8, 1500), SeenStages::Kind::kNew);  // of another neighbour
  CHECK_EQ(stages.See(0, 8, 1600, 3, 4), SeenStages::Kind::kCorrupted);
  CHECK_EQ(see(0, 8, 1600), SeenStages::Kind::kNew);
  CHECK_EQ(SeenStages(0).See(0, 8, 0, 0, 0), SeenStages::Kind::kCorrupted);
}

TEST_CASE("seen stages: a stage is a body of the protocol") {
  std::string body;
  WriteStage(StageNumber(250'000'000), &body);
  CHECK_EQ(body, "{\"width\":1920,\"height\":1080,\"files\":[\"" + std::string(64, 'a') +
                     "\"],\"sprites\":[{\"id\":2500,\"x\":599,\"y\":524}]}");
}

}  // namespace swarm
