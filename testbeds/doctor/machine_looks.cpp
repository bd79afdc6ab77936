// SPDX-License-Identifier: Apache-2.0
// The needs of every testbed: a processor that the program is built for, processors, memory.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "testbeds/doctor/looks.hpp"
#include "testbeds/run/machine_memory.hpp"
#include "testbeds/run/packet_need.hpp"

namespace softspine::testbeds {

namespace {

// x86-64-v3 and pclmulqdq, for which meson.build builds us, in the kernel's words; DPDK asks for less. Without LZCNT
// (abm): Linux 6.18 does not list it where CPUID does, and no processor has BMI1 without it.
constexpr std::string_view kInstructions[] = {"cx16", "lahf_lm", "popcnt", "pni",  "ssse3", "sse4_1", "sse4_2",   "avx",
                                              "avx2", "bmi1",    "bmi2",   "f16c", "fma",   "xsave",  "pclmulqdq"};

void look_at_instructions(const Examination& it, Findings& out) {
  Finding finding{.what = "instruction sets", .fact = {}, .mend = {}};
  const auto flags = it.machine.field("proc/cpuinfo", "flags");
  if (!flags) {
    finding.state = State::kUnknown;
    finding.fact = "/proc/cpuinfo cannot be read";
    return out.push_back(finding);
  }
  const std::string all = " " + *flags + " ";
  std::vector<std::string_view> lacking;
  for (const std::string_view each : kInstructions) {
    if (all.find(fmt::format(" {} ", each)) == std::string::npos) lacking.push_back(each);
  }
  finding.state = lacking.empty() ? State::kOk : State::kMissing;
  finding.fact = lacking.empty() ? "AVX2 and what else the program is built for"
                                 : fmt::format("this processor lacks {}", fmt::join(lacking, ", "));
  if (!lacking.empty()) finding.mend = "a machine of x86-64-v3";
  out.push_back(finding);
}

// "0-3,8": five. 0: not known.
uint32_t count_of(const std::string& list) {
  uint32_t out = 0;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    uint32_t first = 0;
    const char* const end = part.data() + part.size();
    const auto [behind, wrong] = std::from_chars(part.data(), end, first);
    if (wrong != std::errc{}) continue;
    uint32_t last = first;
    if (behind != end) std::from_chars(behind + 1, end, last);
    out += last - first + 1;
  }
  return out;
}

// The quota of a control group, in processors: "150000 100000" is 1.5; "max …" is no limit.
double quota_of(const Machine& machine) {
  double quota = 0;
  double period = 0;
  const bool limited =
      static_cast<bool>(std::istringstream(machine.line_in("sys/fs/cgroup/cpu.max").value_or("")) >> quota >> period);
  return limited && period > 0 ? quota / period : HUGE_VAL;
}

void look_at_processors(const Examination& it, Findings& out) {
  Finding finding{.what = "processors", .fact = {}, .mend = {}};
  const uint32_t there = count_of(it.machine.field("proc/self/status", "Cpus_allowed_list:").value_or(""));
  if (there == 0) {
    finding.state = State::kUnknown;
    finding.fact = "/proc/self/status cannot be read";
    return out.push_back(finding);
  }
  double load = 0;
  std::istringstream(it.machine.line_in("proc/loadavg").value_or("0")) >> load;
  const double ours = std::min(static_cast<double>(there), quota_of(it.machine));
  finding.fact = fmt::format("{:g} for us, {:.1f} busy of late", ours, load);
  if (it.asked.testbed != nullptr) {
    const control::RunConfig& run = it.asked.testbed->run;
    const bool is_wall = run.clock == control::ClockKind::kWall;
    const double free = is_wall ? ours - load : ours;
    finding.fact += fmt::format("; {} worker{}", run.workers, run.workers == 1 ? "" : "s");
    // Half a processor is what a machine at rest shows of itself.
    if (run.workers > free + 0.5) {
      finding.state = State::kShort;
      finding.fact += is_wall ? ": it comes late, and says by how much" : ": slower, to the same result";
      if (run.workers > ours && run.workers > 1)
        finding.mend = fmt::format("--workers {}", std::max(1, static_cast<int>(ours)));
    }
  }
  out.push_back(finding);
}

std::string mebibytes(uint64_t bytes) {
  return fmt::format("{} MiB", (bytes >> 20) + ((bytes & 0xFFFFF) != 0 ? 1 : 0));
}

void look_at_memory(const Examination& it, Findings& out) {
  Finding finding{.what = "memory", .fact = {}, .mend = {}};
  const uint64_t there = available_memory(it.machine.root());
  if (there == UINT64_MAX) {
    finding.state = State::kUnknown;
    finding.fact = "/proc/meminfo cannot be read";
    return out.push_back(finding);
  }
  uint64_t need = uint64_t{it.asked.need.eal_mebibytes} << 20;
  finding.fact = fmt::format("{} available", mebibytes(there));
  if (it.asked.testbed != nullptr) {
    const uint64_t packets = packet_need(*it.asked.testbed).bytes;
    const uint64_t limit = packet_memory_limit(*it.asked.testbed, it.machine.root());
    need += packets;
    finding.fact +=
        fmt::format("; packets may take {} of it, and need {} at most", mebibytes(limit), mebibytes(packets));
    if (packets > limit) {
      finding.state = State::kShort;
      finding.fact += ": should that be too little, the run ends with an error";
    }
  }
  const auto space = it.machine.limit("Max address space");
  if (space && *space < need) {
    finding.state = State::kShort;
    finding.fact += fmt::format("; a process may have {} of address space", mebibytes(*space));
    finding.mend = "ulimit -v unlimited";
  }
  out.push_back(finding);
}

constexpr Look kMachineLooks[] = {{"instruction sets", 0, look_at_instructions},
                                  {"processors", 0, look_at_processors},
                                  {"memory", 0, look_at_memory}};

}  // namespace

std::span<const Look> machine_looks() {
  return kMachineLooks;
}

}  // namespace softspine::testbeds
