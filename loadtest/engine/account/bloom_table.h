// An invertible Bloom lookup table (Goodrich and Mitzenmacher, 2011): what one collection of
// numbers has that another one does not have, without sending or comparing either.
//
// A number is added to three cells, whose sums tell it apart again when it is the only one that is
// left in a cell (report/bloom_table.ts). A machine of a fleet adds its throws that nobody here has
// caught, and takes away what it catches of others, so the sum of all machines' tables has what was
// lost and what arrived twice. Some 2,500 numbers can be told apart; of more, only how many.
#ifndef LOADTEST_ENGINE_ACCOUNT_BLOOM_TABLE_H_
#define LOADTEST_ENGINE_ACCOUNT_BLOOM_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace swarm {

class BloomTable {
 public:
  static constexpr size_t kParts = 3;  // each number is in one cell of each
  static constexpr size_t kPartCells = 1024;

  void Add(uint64_t number) { Change(number, 1); }
  void TakeAway(uint64_t number) { Change(number, -1); }
  void Merge(const BloomTable& other);
  // Of each cell its three sums, each as 16 hex digits.
  std::string ToHex() const;

 private:
  // Sums modulo 2^64.
  struct Cell {
    uint64_t count = 0;
    uint64_t numbers = 0;
    uint64_t checks = 0;
  };

  void Change(uint64_t number, int64_t by);

  std::array<Cell, kParts * kPartCells> cells_{};
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_BLOOM_TABLE_H_
