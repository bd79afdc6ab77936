// SPDX-License-Identifier: Apache-2.0
#include "dataplane/dpdk/device_facts.hpp"

#include <rte_bus.h>
#include <rte_ethdev.h>

#include <array>

namespace softspine::dataplane {

namespace {

std::vector<std::string> names_of(uint64_t offloads, const char* (*name_of)(uint64_t)) {
  std::vector<std::string> out;
  for (uint64_t left = offloads; left != 0; left &= left - 1) out.emplace_back(name_of(left & (~left + 1)));
  return out;
}

std::string firmware_of(uint16_t port) {
  std::array<char, 256> text{};
  return rte_eth_dev_fw_version_get(port, text.data(), text.size()) == 0 ? text.data() : "";
}

}  // namespace

DeviceFacts read_device_facts(uint16_t port) {
  DeviceFacts out;
  rte_eth_dev_info info{};
  if (rte_eth_dev_info_get(port, &info) != 0) return out;
  out.driver = info.driver_name;
  out.bus = rte_bus_name(rte_dev_bus(info.device));
  out.firmware = firmware_of(port);
  out.numa_node = rte_eth_dev_socket_id(port);
  out.rx.offered = names_of(info.rx_offload_capa, rte_eth_dev_rx_offload_name);
  out.tx.offered = names_of(info.tx_offload_capa, rte_eth_dev_tx_offload_name);
  // The port itself is configured without any. A driver that does not report its queues got them with its defaults.
  uint64_t rx_used = info.default_rxconf.offloads;
  uint64_t tx_used = info.default_txconf.offloads;
  if (rte_eth_rxq_info queue{}; rte_eth_rx_queue_info_get(port, 0, &queue) == 0) {
    out.rx_descriptors = queue.nb_desc;
    rx_used = queue.conf.offloads;
  }
  if (rte_eth_txq_info queue{}; rte_eth_tx_queue_info_get(port, 0, &queue) == 0) {
    out.tx_descriptors = queue.nb_desc;
    tx_used = queue.conf.offloads;
  }
  out.rx.used = names_of(rx_used, rte_eth_dev_rx_offload_name);
  out.tx.used = names_of(tx_used, rte_eth_dev_tx_offload_name);
  return out;
}

}  // namespace softspine::dataplane
