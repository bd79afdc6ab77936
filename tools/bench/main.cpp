// SPDX-License-Identifier: Apache-2.0
// The benches as a program of their own: for tools/bench/peers and for profilers.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>

#include "dataplane/dpdk/eal.hpp"
#include "tools/bench/report.hpp"
#include "tools/bench/roce_flows.hpp"

namespace {

using namespace softspine;
using namespace softspine::tools;

constexpr uint32_t kEalMib = 512;

template <typename Bench, typename Result>
void print(const Bench& bench, const Result& result, bool as_json) {
  fmt::print("{}\n", as_json ? json_of(bench, result) : text_of(bench, result));
}

// A pcap of its own when none was given, gone when the bench is over.
void forward(ForwardingBench bench, bool as_json) {
  dataplane::start_eal({.memory_mib = kEalMib});
  const bool make = bench.pcap.empty();
  if (make) {
    bench.pcap = (std::filesystem::temp_directory_path() / fmt::format("softspine-bench-{}.pcap", getpid())).string();
    write_roce_pcap(bench.pcap, {.frame_bytes = bench.frame_bytes});
  }
  const ForwardingResult result = run_forwarding_bench(bench);
  if (make) std::filesystem::remove(bench.pcap);
  print(bench, result, as_json);
}

int run(int argc, char** argv) {
  CLI::App app{"softspine's benches"};
  app.require_subcommand(1);
  app.fallthrough();
  bool as_json = false;
  uint32_t wire_bytes = 64;  // with FCS, as packet rates are usually given
  app.add_flag("--json", as_json, "One JSON object");

  ForwardingBench forwarding;
  CLI::App* forward_app = app.add_subcommand("forwarding", "One polling core on the wall clock");
  forward_app->add_option("--hops", forwarding.hops, "Switches on the way")->check(CLI::IsMember({1, 3}));
  forward_app->add_option("--bytes", wire_bytes, "Of a frame, with FCS")->check(CLI::Range(64, 9000));
  forward_app->add_option("--seconds", forwarding.seconds)->check(CLI::PositiveNumber);
  forward_app->add_option("--pcap", forwarding.pcap, "Of such frames; made when not given");

  VirtualBench simulated;
  bool incast = false;
  int64_t microseconds = 1000;
  CLI::App* virtual_app = app.add_subcommand("virtual", "64 built-in hosts on the virtual clock");
  virtual_app->add_flag("--incast", incast, "63 hosts to one, instead of a permutation");
  virtual_app->add_option("--workers", simulated.workers)->check(CLI::Range(1, 64));
  virtual_app->add_option("--microseconds", microseconds, "Simulated")->check(CLI::PositiveNumber);

  std::string path;
  CLI::App* pcap_app = app.add_subcommand("pcap", "Write the forwarding bench's input");
  pcap_app->add_option("file", path)->required();
  pcap_app->add_option("--bytes", wire_bytes, "Of a frame, with FCS")->check(CLI::Range(64, 9000));
  CLI11_PARSE(app, argc, argv);

  const uint32_t frame_bytes = wire_bytes - dataplane::kFcsBytes;
  if (*forward_app) {
    forwarding.frame_bytes = frame_bytes;
    forward(forwarding, as_json);
  } else if (*virtual_app) {
    if (incast) simulated.pattern = VirtualBench::Pattern::kIncast;
    simulated.simulated = dataplane::Duration::us(microseconds);
    dataplane::start_eal({.memory_mib = kEalMib});
    print(simulated, run_virtual_bench(simulated), as_json);
  } else {
    write_roce_pcap(path, {.frame_bytes = frame_bytes});
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "softspine-bench: {}\n", e.what());
    return 2;
  }
}
