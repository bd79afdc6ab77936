// SPDX-License-Identifier: Apache-2.0
#include "dataplane/dpdk/eal.hpp"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_version.h>
#include <sched.h>

#include <cerrno>
#include <optional>
#include <stdexcept>

#include "dataplane/dpdk/driver_search.hpp"
#include "dataplane/packet/memory_shortage.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

namespace {

bool started = false;
bool has_drivers = false;

// "0,0," for node 2: DPDK wants each node's.
std::string none_before(int numa_node) {
  std::string out;
  for (int n = 0; n < numa_node; ++n) out += "0,";
  return out;
}

std::vector<std::string> arguments_of(const EalConfig& config) {
  std::vector<std::string> args{"softspine", "--no-shconf", "--no-telemetry", "--lcores",
                                "0@" + std::to_string(sched_getcpu())};
  const std::string memory = std::to_string(config.memory_mib);
  if (config.numa_node == kNoNumaNode) {
    args.insert(args.end(), {"-m", memory});
  } else {
    args.insert(args.end(), {"--socket-mem", none_before(config.numa_node) + memory});
  }
  if (config.pci.empty()) {
    args.insert(args.end(), {"--no-huge", "--no-pci"});
  } else {
    args.emplace_back("--in-memory");  // hugepages, without files of their own
    for (const std::string& address : config.pci) args.insert(args.end(), {"-a", address});
  }
  if (config.quiet)
    args.insert(args.end(),
                {"--log-level", "lib.*:error", "--log-level", "pmd.*:error", "--log-level", "bus.*:error",
                 "--log-level", "lib.vhost.*:critical"});  // a bad peer would write here as much as it likes
  args.insert(args.end(), config.extra.begin(), config.extra.end());
  return args;
}

uint64_t memory_bytes(const EalConfig& config) {
  return uint64_t{config.memory_mib} << 20;
}

// DPDK's error is "Permission denied" when there are no hugepages.
void need_hugepages(const EalConfig& config) {
  if (config.pci.empty()) return;
  const std::string shortage =
      hugepage_shortage(memory_bytes(config), read_hugepages(hugepage_folder(config.numa_node)), config.numa_node);
  if (!shortage.empty()) throw std::runtime_error(shortage);
}

std::string cause_of(int error, const EalConfig& config) {
  if (error == ENOMEM) return memory_shortage(memory_bytes(config), read_memory_limits());
  return rte_strerror(error);
}

}  // namespace

std::string dpdk_version() {
  return rte_version();
}

void start_eal(const EalConfig& config) {
  if (started) {
    SOFTSPINE_CHECK(has_drivers || !config.drivers, has_drivers, config.drivers);
    return;
  }
  need_hugepages(config);
  cpu_set_t before;
  CPU_ZERO(&before);
  sched_getaffinity(0, sizeof before, &before);
  std::vector<std::string> args = arguments_of(config);
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  std::optional<NoDriverSearch> without;
  if (!config.drivers) without.emplace();
  if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0) {
    throw std::runtime_error("DPDK's environment layer did not start: " + cause_of(rte_errno, config));
  }
  sched_setaffinity(0, sizeof before, &before);  // EAL pins its caller; where workers run is not its business
  started = true;
  has_drivers = config.drivers;
}

void register_worker_thread() {
  if (rte_lcore_id() == LCORE_ID_ANY && rte_thread_register() != 0) {
    throw std::runtime_error(std::string{"too many workers for DPDK: "} + rte_strerror(rte_errno));
  }
}

void unregister_worker_thread() {
  if (rte_lcore_id() != rte_get_main_lcore()) rte_thread_unregister();
}

}  // namespace softspine::dataplane
