// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/bench_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/packet/huge_heap.hpp"
#include "tools/bench/bench_report.hpp"
#include "tools/bench/pause_flood.hpp"
#include "tools/bench/roce_flows.hpp"

namespace softspine::tools {

namespace {

constexpr uint32_t kEalMib = 512;
constexpr uint32_t kSmallFrame = 64;    // with FCS, as packet rates are usually given
constexpr uint32_t kLargeFrame = 1086;  // RoCEv2 with 1024 bytes of payload

struct BenchArguments {
  bool json = false;
  uint32_t wire_bytes = kSmallFrame;
  ForwardingBench forwarding;
  VirtualBench simulated;
  bool incast = false;
  uint32_t hosts = 64;
  int64_t microseconds = 1000;
  std::string path;
};

template <typename Bench, typename Result>
void print_bench(const Bench& bench, const Result& result, bool as_json) {
  fmt::print("{}\n", as_json ? json_of(bench, result) : text_of(bench, result));
  std::fflush(stdout);
}

// The input as a file that is gone when the bench is over.
class BenchInput {
 public:
  template <typename Write>
  explicit BenchInput(const Write& write)
      : path_((std::filesystem::temp_directory_path() / fmt::format("softspine-bench-{}.pcap", getpid())).string()) {
    write(path_);
  }
  ~BenchInput() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  BenchInput(const BenchInput&) = delete;
  BenchInput& operator=(const BenchInput&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void forward(ForwardingBench bench, uint32_t wire_bytes, bool as_json) {
  bench.frame_bytes = wire_bytes - dataplane::kFcsBytes;
  std::optional<BenchInput> input;
  if (bench.pcap.empty()) {
    const auto write = [&](const std::string& path) { write_roce_pcap(path, {.frame_bytes = bench.frame_bytes}); };
    bench.pcap = input.emplace(write).path();
  }
  print_bench(bench, run_forwarding_bench(bench), as_json);
}

void flood(double seconds, bool as_json) {
  const BenchInput input{write_flood_pcap};
  const ForwardingResult result = run_flood_bench(input.path(), seconds);
  fmt::print("{}\n", as_json ? flood_json(result) : flood_text(result));
}

void simulate(const VirtualBench& bench, bool as_json) {
  dataplane::use_huge_pages_for_heap();
  print_bench(bench, run_virtual_bench(bench), as_json);
}

// The standard set: a few seconds each.
void run_all(const BenchArguments& arguments) {
  for (const uint32_t hops : {1U, 3U}) {
    for (const uint32_t bytes : {kSmallFrame, kLargeFrame}) {
      ForwardingBench bench = arguments.forwarding;
      bench.hops = hops;
      for (const bool lossless : {false, true}) {
        bench.lossless = lossless;
        forward(bench, bytes, arguments.json);
      }
    }
  }
  flood(arguments.forwarding.seconds, arguments.json);
  for (const auto pattern : {VirtualBench::Pattern::kPermutation, VirtualBench::Pattern::kIncast}) {
    for (const uint32_t workers : {1U, 2U}) {
      VirtualBench bench = arguments.simulated;
      bench.pattern = pattern;
      bench.workers = workers;
      simulate(bench, arguments.json);
    }
  }
}

Status run(BenchArguments arguments, const CLI::App& command) {
  if (command.got_subcommand("pcap")) {
    write_roce_pcap(arguments.path, {.frame_bytes = arguments.wire_bytes - dataplane::kFcsBytes});
    return Status::kDone;
  }
  dataplane::start_eal({.memory_mib = kEalMib, .drivers = !command.got_subcommand("virtual")});
  arguments.simulated.simulated = dataplane::Duration::us(arguments.microseconds);
  arguments.simulated.radix = static_cast<uint32_t>(std::lround(std::sqrt(arguments.hosts)));
  if (arguments.incast) arguments.simulated.pattern = VirtualBench::Pattern::kIncast;
  if (command.got_subcommand("forwarding")) {
    forward(arguments.forwarding, arguments.wire_bytes, arguments.json);
  } else if (command.got_subcommand("flood")) {
    flood(arguments.forwarding.seconds, arguments.json);
  } else if (command.got_subcommand("virtual")) {
    simulate(arguments.simulated, arguments.json);
  } else {
    run_all(arguments);
  }
  return Status::kDone;
}

void add_bytes(CLI::App& app, BenchArguments& arguments) {
  app.add_option("--bytes", arguments.wire_bytes, "of a frame, with FCS")
      ->check(CLI::Range(64, 9000))
      ->capture_default_str();
}

}  // namespace

void add_bench_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand("bench", "packet-hops per second, and cycles per packet-hop");
  command->footer(
      "Without a kind: all of it, some seconds each.\n"
      "Examples:\n"
      "  softspine bench\n"
      "  softspine bench forwarding --hops 3 --bytes 1086 --seconds 5 --json\n"
      "  softspine bench forwarding --lossless\n"
      "  softspine bench flood\n"
      "  softspine bench virtual --incast --workers 2\n"
      "  softspine bench virtual --hosts 4096 --microseconds 20\n"
      "  tools/bench/peers           beside dpdk-testpmd and OVS-DPDK, on the same input");
  command->require_subcommand(0, 1);
  command->fallthrough();
  command->add_flag("--json", arguments->json, "one JSON object a line");

  CLI::App* forwarding = command->add_subcommand("forwarding", "one polling core on the wall clock, 4096 RoCEv2 flows");
  forwarding->add_option("--hops", arguments->forwarding.hops, "switches on the way: 1 or 3")
      ->check(CLI::IsMember({1, 3}))
      ->capture_default_str();
  add_bytes(*forwarding, *arguments);
  forwarding->add_flag("--lossless", arguments->forwarding.lossless,
                       "with a shared buffer, PFC, marks, early drops and DWRR, all traffic in a lossless priority");
  forwarding->add_option("--seconds", arguments->forwarding.seconds, "measured, after a warm-up")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  forwarding->add_option("--pcap", arguments->forwarding.pcap, "frames of that size; made if not given");

  CLI::App* flooded = command->add_subcommand("flood", "malformed PFC frames into one port: how many a core takes");
  flooded->add_option("--seconds", arguments->forwarding.seconds, "measured, after a warm-up")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();

  CLI::App* simulated = command->add_subcommand("virtual", "built-in hosts on the virtual clock");
  simulated->add_option("--hosts", arguments->hosts, "on as many leaves and spines as a leaf has hosts")
      ->check(CLI::IsMember({64, 256, 1024, 4096}))
      ->capture_default_str();
  simulated->add_flag("--incast", arguments->incast, "all hosts to one, instead of a permutation");
  simulated->add_flag("--flat", arguments->simulated.flat, "one window for all nodes instead of one for each rack");
  simulated->add_option("--workers", arguments->simulated.workers)->check(CLI::Range(1, 64))->capture_default_str();
  simulated->add_option("--microseconds", arguments->microseconds, "of emulated time")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();

  CLI::App* pcap = command->add_subcommand("pcap", "write the forwarding bench's input to a file");
  pcap->add_option("FILE", arguments->path)->required();
  add_bytes(*pcap, *arguments);
  command->callback([arguments, command, &status] { status = run(*arguments, *command); });
}

}  // namespace softspine::tools
