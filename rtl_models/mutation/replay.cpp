// Scenarios on every mutant, each up to the first thing that is wrong.
//
// Arguments: a file of scenarios as rtl_models.mutation.scenarios.scenario writes them, and the numbers of mutants, 0
// being the module itself.  Prints for each: "SCENARIO STEP RULE" of what is wrong, or "- - -".

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <type_traits>
#include <vector>

#include "Vtop.h"

namespace {

using Inputs = std::remove_reference_t<decltype(Vtop::inputs_i)>;
using Outputs = std::remove_reference_t<decltype(Vtop::outputs_o)>;

struct Row {
  Inputs inputs;
  Outputs outputs, known;
  uint32_t silent;
};

struct Counts {
  int32_t cycles, beats, decisions, broken_off, latency, reset_edges, drained;
};

struct Scenario {
  Counts counts;
  std::vector<Row> cycles, beats;
  std::vector<uint8_t> decisions;
};

struct Wrong {
  size_t step;
  const char* rule;
};

template <typename Item>
std::vector<Item> read(std::FILE* file, size_t count) {
  std::vector<Item> items(count);
  if (std::fread(items.data(), sizeof(Item), count, file) != count) std::exit(2);
  return items;
}

std::vector<Scenario> scenarios_in(const char* name) {
  std::vector<Scenario> all;
  std::FILE* file = std::fopen(name, "rb");
  if (!file) std::exit(2);
  for (Counts counts; std::fread(&counts, sizeof counts, 1, file) == 1;) {
    std::vector<Row> cycles = read<Row>(file, counts.cycles), beats = read<Row>(file, counts.beats);
    all.push_back({counts, std::move(cycles), std::move(beats), read<uint8_t>(file, counts.decisions)});
  }
  std::fclose(file);
  return all;
}

bool same(const Outputs& given, const Row& row) {
  uint32_t differing = 0;
  for (size_t word = 0; word < sizeof(Outputs) / sizeof(uint32_t); ++word) {
    differing |= (given[word] ^ row.outputs[word]) & row.known[word];
  }
  return !differing;
}

void settle(Vtop& top) {
  top.clk_i = 0;
  top.eval();
}

void edge(Vtop& top) {
  top.clk_i = 1;
  top.eval();
}

void reset(Vtop& top, int edges) {
  top.valid_i = top.ready_i = 0;
  top.rst_ni = 1;
  settle(top);
  top.rst_ni = 0;
  for (int cycle = 0; cycle < edges; ++cycle) {
    settle(top);
    edge(top);
  }
  settle(top);
  top.rst_ni = 1;
  settle(top);
}

// The cycles with given inputs; the number of those that agree.
size_t agreeing(Vtop& top, const std::vector<Row>& cycles) {
  for (size_t at = 0; at < cycles.size(); ++at) {
    top.inputs_i = cycles[at].inputs;
    settle(top);
    if (!same(top.outputs_o, cycles[at])) return at;
    edge(top);
  }
  return cycles.size();
}

// A source that offers the rows in turn, those without a beat for one cycle, and a sink that takes results.
class Stream {
 public:
  Stream(Vtop& top, const Scenario& scenario) : top_(top), scenario_(scenario), rows_(scenario.beats) {}

  // What rule is broken, or none.
  const char* run() {
    const char* wrong = nullptr;
    const int32_t drained = scenario_.counts.drained;
    for (; cycle_ < scenario_.decisions.size() && idle_ < drained && !wrong; ++cycle_) wrong = one_cycle();
    const bool unfinished = sent_ < rows_.size() || !inside_.empty();
    return wrong ? wrong : unfinished && !scenario_.counts.broken_off ? "lost" : nullptr;
  }

  // The row of the result that is due.
  size_t row() const { return inside_.empty() ? sent_ : inside_.front().row; }

 private:
  struct Accepted {
    size_t row, cycle;
  };

  const char* one_cycle() {
    const bool waiting = sent_ < rows_.size(), silent = waiting && rows_[sent_].silent;
    const uint8_t decision = scenario_.decisions[cycle_];
    offered_ = waiting && !silent && (offered_ || (decision & 1));
    if (offered_ || silent) top_.inputs_i = rows_[sent_].inputs;
    idle_ = waiting || !inside_.empty() ? 0 : idle_ + 1;
    top_.valid_i = offered_;
    top_.ready_i = idle_ || (decision & 2);
    settle(top_);
    const char* wrong = result();
    if (offered_ && top_.ready_o) {
      inside_.push_back({sent_, cycle_});
      offered_ = false;
      ++sent_;
    }
    sent_ += silent;
    edge(top_);
    return wrong;
  }

  const char* result() {
    if (waits_ && !(top_.valid_o && !std::memcmp(&held_, &top_.outputs_o, sizeof held_))) return "changed";
    waits_ = top_.valid_o && !top_.ready_i;
    std::memcpy(&held_, &top_.outputs_o, sizeof held_);
    if (!top_.valid_o) return nullptr;
    if (inside_.empty()) return "invented";
    if (!same(top_.outputs_o, rows_[inside_.front().row])) return "result";
    if (waits_) return nullptr;
    const int64_t latency = cycle_ - inside_.front().cycle;
    if (scenario_.counts.latency >= 0 && latency != scenario_.counts.latency) return "latency";
    inside_.pop_front();
    return nullptr;
  }

  Vtop& top_;
  const Scenario& scenario_;
  const std::vector<Row>& rows_;
  std::deque<Accepted> inside_;
  size_t cycle_ = 0, sent_ = 0;
  int32_t idle_ = 0;
  bool offered_ = false, waits_ = false;
  Outputs held_;
};

Wrong wrong_in(Vtop& top, const Scenario& scenario) {
  reset(top, scenario.counts.reset_edges);
  const size_t agree = agreeing(top, scenario.cycles);
  if (agree < scenario.cycles.size()) return {agree, "cycle"};
  Stream stream(top, scenario);
  const char* rule = stream.run();
  return {stream.row(), rule};
}

void print_first_wrong(Vtop& top, const std::vector<Scenario>& scenarios) {
  for (size_t at = 0; at < scenarios.size(); ++at) {
    const Wrong wrong = wrong_in(top, scenarios[at]);
    if (!wrong.rule) continue;
    std::printf("%zu %zu %s\n", at, wrong.step, wrong.rule);
    return;
  }
  std::printf("- - -\n");
}

}  // namespace

double sc_time_stamp() { return 0; }

int main(int count, char** arguments) {
  const std::vector<Scenario> scenarios = scenarios_in(arguments[1]);
  for (int mutant = 2; mutant < count; ++mutant) {
    const std::unique_ptr<Vtop> top(new Vtop);  // what one leaves in its registers is not for the next
    top->mutant_i = std::atoi(arguments[mutant]);
    print_first_wrong(*top, scenarios);
  }
}
