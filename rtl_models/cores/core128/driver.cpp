// Runs programs on `core128`: reads them from the file `programs`, writes what is committed to the file `commits`.
//
// A program is: the number of its registers, of bytes of code, of cycles at most and of regions of data, where it stops
// and where its code is; registers, each a number and 16 bytes; the code; regions, each address, size and bytes.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "Vtop.h"

namespace {

#pragma pack(push, 1)
struct Head {
  uint32_t registers, code_bytes, cycles, regions;
  uint64_t stop, code_base;
};

struct Register {
  uint32_t number;
  uint32_t value[4];
};

struct Commit {
  uint64_t pc;
  uint32_t word, issue, ready;
  uint8_t first_register, second_register, base_register, flags;  // flags: 16 where written, 32 where QC is set
  uint32_t first[4], second[4];
  uint64_t base;
};

struct End {
  uint32_t commits, error, done, cycles;
};
#pragma pack(pop)

template <typename T>
bool taken(FILE* file, T* into, size_t count) {
  return std::fread(into, sizeof(T), count, file) == count;
}

class Bench {
 public:
  bool run(FILE* programs, FILE* commits, FILE* ends) {
    Head head;
    if (!taken(programs, &head, 1)) return false;
    std::vector<Register> registers(head.registers);
    regions_.assign(head.regions + 1, Region{});
    regions_[0].address = head.code_base;
    regions_[0].bytes.resize(head.code_bytes);
    if (!taken(programs, registers.data(), registers.size())) return false;
    if (!taken(programs, regions_[0].bytes.data(), head.code_bytes)) return false;
    uint64_t low = ~uint64_t{0}, high = 0;
    for (uint32_t k = 1; k <= head.regions; ++k) {
      uint64_t place[2];
      if (!taken(programs, place, 2)) return false;
      regions_[k].address = place[0];
      regions_[k].bytes.resize(place[1]);
      if (!taken(programs, regions_[k].bytes.data(), place[1])) return false;
      low = std::min(low, place[0]);
      high = std::max(high, place[0] + place[1]);
    }
    core_.code_base_i = head.code_base;
    core_.code_bytes_i = head.code_bytes;
    core_.data_base_i = low;
    core_.data_bytes_i = high - low;
    core_.rst_ni = 0;
    core_.run_i = 0;
    core_.stop_i = head.stop;
    cycle();
    core_.rst_ni = 1;
    for (const Register& one : registers) {
      core_.set_valid_i = 1;
      core_.set_register_i = one.number;
      std::memcpy(&core_.set_data_i, one.value, 16);
      cycle();
    }
    // Nothing is set where it is not valid, nor while it runs: else the program would begin elsewhere.
    core_.set_valid_i = 0;
    core_.set_register_i = 65;
    core_.set_data_i[0] = ~core_.set_data_i[0];
    cycle();
    core_.run_i = 1;
    core_.set_valid_i = 1;
    End end{};
    uint32_t idle = 0;
    // After the last instruction the stages are emptied.
    while (end.cycles < head.cycles && idle < 64) {
      core_.eval();
      if (core_.commit_valid_o) {
        commit(commits);
        ++end.commits;
      }
      ++end.cycles;
      cycle();
      idle = core_.done_o || core_.error_o ? idle + 1 : 0;
    }
    end.error = core_.error_o;
    end.done = core_.done_o;
    std::fwrite(&end, sizeof end, 1, ends);
    for (uint32_t k = 1; k <= head.regions; ++k) std::fwrite(regions_[k].bytes.data(), 1, regions_[k].bytes.size(), ends);
    return true;
  }

 private:
  void commit(FILE* file) {
    Commit one;
    one.pc = core_.commit_pc_o;
    one.word = core_.commit_word_o;
    one.issue = core_.commit_issue_o;
    one.ready = core_.commit_ready_o;
    one.first_register = core_.commit_first_register_o;
    one.second_register = core_.commit_second_register_o;
    one.base_register = core_.commit_base_register_o;
    one.flags = core_.commit_flags_o | core_.commit_flags_valid_o << 4 | core_.commit_saturated_o << 5;
    std::memcpy(one.first, &core_.commit_first_o, 16);
    std::memcpy(one.second, &core_.commit_second_o, 16);
    one.base = core_.commit_base_o;
    std::fwrite(&one, sizeof one, 1, file);
  }

  // A rising edge; what memory reads for it is there after it.
  void cycle() {
    core_.clk_i = 0;
    core_.eval();
    const uint64_t fetch = core_.fetch_address_o, address = core_.access_address_o;
    const bool reads = core_.access_valid_o && !core_.access_write_o;
    if (core_.access_valid_o && core_.access_write_o) store(address);
    core_.clk_i = 1;
    core_.eval();
    uint32_t word = 0;
    for (int k = 0; k < 4; ++k) {
      if (const uint8_t* byte = at(fetch + k)) word |= uint32_t{*byte} << 8 * k;
    }
    core_.fetch_word_i = word;
    if (reads) {
      uint8_t rows[48] = {};
      for (int k = 0; k < 48; ++k) {
        if (const uint8_t* byte = at(address + k)) rows[k] = *byte;
      }
      std::memcpy(&core_.access_data_i, rows, 48);
    }
    core_.eval();
  }

  void store(uint64_t address) {
    uint8_t bytes[48];
    std::memcpy(bytes, &core_.access_data_o, 48);
    for (int k = 0; k < 48; ++k) {
      if (core_.access_enable_o >> k & 1) {
        if (uint8_t* byte = at(address + k)) *byte = bytes[k];
      }
    }
  }

  // The byte at an address, in the region that had the last one if it can be; nullptr where there is none.
  uint8_t* at(uint64_t address) {
    for (size_t tries = 0; tries <= regions_.size(); ++tries) {
      Region& region = regions_[last_ % regions_.size()];
      if (address - region.address < region.bytes.size()) return &region.bytes[address - region.address];
      ++last_;
    }
    return nullptr;
  }

  struct Region {
    uint64_t address = 0;
    std::vector<uint8_t> bytes;
  };

  Vtop core_;
  std::vector<Region> regions_;  // the code is the first
  size_t last_ = 0;
};

}  // namespace

double sc_time_stamp() { return 0; }

int main(int argc, char** argv) {
  Verilated::commandArgs(argc, argv);
  FILE* programs = std::fopen("programs", "rb");
  FILE* commits = std::fopen("commits", "wb");
  FILE* ends = std::fopen("ends", "wb");
  const std::unique_ptr<Bench> bench(new Bench);
  uint32_t count = 0;
  while (bench->run(programs, commits, ends)) ++count;
  std::fclose(commits);
  std::fclose(ends);
  std::printf("ran %u\n", count);
}
