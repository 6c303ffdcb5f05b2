// Runs programs on `core128`: reads them from the file `programs`, writes what is committed to the file `commits`.
//
// Written before this text: the constants CodeBase, CodeBytes, DataBase, DataBytes.  A program is: the number of its
// registers, of bytes of code and of cycles at most; registers, each a number and 16 bytes; the code; the data.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace {

#pragma pack(push, 1)
struct Head {
  uint32_t registers, code_bytes, cycles, data_bytes;
  uint64_t stop;
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
    code_.assign(CodeBytes, 0);
    data_.assign(DataBytes, 0);
    if (!taken(programs, registers.data(), registers.size()) || !taken(programs, code_.data(), head.code_bytes) ||
        !taken(programs, data_.data(), head.data_bytes)) {
      return false;
    }
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
    core_.set_valid_i = 0;
    cycle();
    core_.run_i = 1;
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
    std::fwrite(data_.data(), 1, head.data_bytes, ends);
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
    if (fetch - CodeBase < CodeBytes) std::memcpy(&word, &code_[fetch - CodeBase & ~uint64_t{3}], 4);
    core_.fetch_word_i = word;
    if (reads) {
      const uint8_t* row = address - CodeBase < CodeBytes ? &code_[address - CodeBase] : &data_[address - DataBase];
      std::memcpy(&core_.access_data_i, row, 16);
    }
    core_.eval();
  }

  void store(uint64_t address) {
    uint8_t bytes[16];
    std::memcpy(bytes, &core_.access_data_o, 16);
    for (int k = 0; k < 16; ++k) {
      if (core_.access_enable_o >> k & 1) data_[address - DataBase + k] = bytes[k];
    }
  }

  Vtop core_;
  std::vector<uint8_t> code_, data_;
};

}  // namespace

double sc_time_stamp() { return 0; }

int main() {
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
