// Every pair of operands of an operator, on its lanes and by its semantics.
//
// Written before this text: the types First, Second and Result; FirstBits, SecondBits and Lanes; the macros FIRST,
// SECOND, RESULT and SATURATED, which name the ports; and the function expected().  Prints "compared PAIRS" where all
// agree, else "differs FIRST SECOND GIVEN SATURATED EXPECTED SATURATED" of the first pair that does not.

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace {

using Word = std::vector<uint8_t>;

// Numbers side by side, the first in the low bits.
Word packed(const std::vector<uint64_t>& numbers, int bits) {
  Word word((numbers.size() * bits + 7) / 8);
  for (size_t at = 0; at < numbers.size() * bits; ++at) {
    word[at / 8] |= (numbers[at / bits] >> (at % bits) & 1) << (at % 8);
  }
  return word;
}

std::vector<Word> all_second_operands() {
  std::vector<Word> words;
  for (uint64_t number = 0; number < uint64_t{1} << SecondBits; number += Lanes) {
    std::vector<uint64_t> numbers;
    for (uint64_t lane = 0; lane < Lanes; ++lane) numbers.push_back(number + lane);
    words.push_back(packed(numbers, SecondBits));
  }
  return words;
}

struct Expected {
  Result result[Lanes];
  uint64_t saturated;
};

Expected expected_of(uint64_t first, uint64_t second) {
  Expected all;
  uint8_t clamped[Lanes];
  for (uint64_t lane = 0; lane < Lanes; ++lane) all.result[lane] = expected(first, second + lane, &clamped[lane]);
  all.saturated = 0;
  for (uint64_t lane = 0; lane < Lanes; ++lane) all.saturated |= uint64_t{clamped[lane]} << lane;
  return all;
}

void print_difference(uint64_t first, uint64_t second, const Expected& given, const Expected& all) {
  for (uint64_t lane = 0; lane < Lanes; ++lane) {
    const int saturated = given.saturated >> lane & 1, clamps = all.saturated >> lane & 1;
    if (given.result[lane] == all.result[lane] && saturated == clamps) continue;
    std::printf("differs %" PRId64 " %" PRId64 " %" PRId64 " %d %" PRId64 " %d\n", int64_t{First(first)},
                int64_t{Second(second + lane)}, int64_t{given.result[lane]}, saturated, int64_t{all.result[lane]}, clamps);
    return;
  }
}

// The number of pairs that agree before the first that does not.
uint64_t compare_all(Vtop& lanes) {
  const std::vector<Word> words = all_second_operands();
  for (uint64_t first = 0; first < uint64_t{1} << FirstBits; ++first) {
    const Word same = packed(std::vector<uint64_t>(Lanes, first), FirstBits);
    std::memcpy(&lanes.FIRST, same.data(), same.size());
    for (uint64_t at = 0; at < words.size(); ++at) {
      std::memcpy(&lanes.SECOND, words[at].data(), words[at].size());
      lanes.eval();
      Expected given;
      std::memcpy(given.result, &lanes.RESULT, sizeof given.result);
      given.saturated = lanes.SATURATED;
      const Expected all = expected_of(first, at * Lanes);
      if (std::memcmp(given.result, all.result, sizeof all.result) || given.saturated != all.saturated) {
        print_difference(first, at * Lanes, given, all);
        return first * words.size() * Lanes + at * Lanes;
      }
    }
  }
  return uint64_t{1} << (FirstBits + SecondBits);
}

}  // namespace

double sc_time_stamp() { return 0; }

int main() {
  const std::unique_ptr<Vtop> lanes(new Vtop);
  std::printf("compared %" PRIu64 "\n", compare_all(*lanes));
}
