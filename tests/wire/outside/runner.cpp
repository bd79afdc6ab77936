// SPDX-License-Identifier: Apache-2.0
// outside_runner TESTBED RUN_FOLDER [SECONDS]: runs a testbed of outside hosts and prints how each command went.
// Says "up" when all have been started. A program of its own, so that a test can kill it.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "tests/wire/outside/wall_testbed.hpp"

namespace {

using namespace softspine;

std::string text_of(const char* file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void print_switch(const pipelines::Switch& node) {
  for (size_t port = 0; port < node.counters().size(); ++port) {
    const auto& counters = node.counters()[port];
    std::printf("%s:%zu received %lu dropped %lu transmitted %lu\n", node.name().c_str(), port, counters.rx_packets,
                counters.dropped_packets(),
                node.transmitter(dataplane::PortNo{static_cast<uint16_t>(port)}).counters().packets);
    for (int reason = 0; reason < dataplane::kDropReasons; ++reason) {
      const uint64_t count = counters.drops[static_cast<size_t>(reason)];
      if (count > 0) std::printf("  %s %lu\n", name_of(static_cast<dataplane::DropReason>(reason)).data(), count);
    }
  }
}

int run(int argc, char** argv) {
  testbeds::WallTestbed testbed(text_of(argv[1]), argv[2]);
  testbed.start();
  std::puts("up");
  std::fflush(stdout);
  const bool in_time = testbed.run(argc > 3 ? std::atoi(argv[3]) : 60);
  testbed.hosts().stop(std::chrono::seconds{5});
  int failed = in_time ? 0 : 1;
  for (const auto& outcome : testbed.hosts().outcomes()) {
    if (!outcome.succeeded()) failed = 1;
    std::printf("%s exit %d%s after %.1f s %s\n", outcome.host.c_str(), outcome.exit_status.value_or(-1),
                outcome.timed_out ? " (out of time)" : "", outcome.seconds, outcome.problem.c_str());
  }
  for (const auto* node : testbed.switches()) print_switch(*node);
  const auto stats = testbed.engine().stats();
  std::printf("windows %lu lateness p50 %.1f us p99 %.1f us\n", stats.windows,
              static_cast<double>(stats.lateness.quantile(0.5)) * 1e-6,
              static_cast<double>(stats.lateness.quantile(0.99)) * 1e-6);
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    return run(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 2;
  }
}
