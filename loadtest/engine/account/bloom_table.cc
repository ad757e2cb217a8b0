#include "account/bloom_table.h"

#include "account/mixed_bits.h"
#include "account/sprite_tag.h"

namespace swarm {
namespace {

// The checks of a cell are the hashes of its numbers with this one; the places are those before.
constexpr uint64_t kCheck = BloomTable::kParts;

uint64_t HashOf(uint64_t number, uint64_t nth) { return Mixed(number ^ Mixed(nth)); }

}  // namespace

void BloomTable::Merge(const BloomTable& other) {
  for (size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].count += other.cells_[i].count;
    cells_[i].numbers += other.cells_[i].numbers;
    cells_[i].checks += other.cells_[i].checks;
  }
}

std::string BloomTable::ToHex() const {
  std::string text(cells_.size() * 48, '0');
  char* to = text.data();
  for (const Cell& cell : cells_) {
    to = WriteHex(WriteHex(WriteHex(to, cell.count, 16), cell.numbers, 16), cell.checks, 16);
  }
  return text;
}

void BloomTable::Change(uint64_t number, int64_t by) {
  const auto times = static_cast<uint64_t>(by);
  for (uint64_t part = 0; part < kParts; ++part) {
    Cell& cell = cells_[part * kPartCells + HashOf(number, part) % kPartCells];
    cell.count += times;
    cell.numbers += times * number;
    cell.checks += times * HashOf(number, kCheck);
  }
}

}  // namespace swarm
