// SPDX-License-Identifier: Apache-2.0
// A guest without a guest: another process that takes the driver's side of a vhost-user socket (DPDK's
// net_virtio_user), sends back every frame it gets, and says so on standard output. Killed by the test.
//
//   vhost_peer SOCKET [deaf | vanish]      deaf: comes up and never takes a frame
//                                          vanish: after one frame, its memory is cut off under our feet
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

constexpr uint16_t kBurst = 32;

uint16_t start_port(const char* socket, rte_mempool* pool) {
  const std::string args = "net_virtio_user0,path=" + std::string{socket} + ",queues=1,mrg_rxbuf=1,in_order=0";
  uint16_t port = 0;
  rte_eth_conf conf{};
  if (rte_dev_probe(args.c_str()) != 0 || rte_eth_dev_get_port_by_name("net_virtio_user0", &port) != 0 ||
      rte_eth_dev_configure(port, 1, 1, &conf) != 0 || rte_eth_rx_queue_setup(port, 0, 256, 0, nullptr, pool) != 0 ||
      rte_eth_tx_queue_setup(port, 0, 256, 0, nullptr) != 0 || rte_eth_dev_start(port) != 0) {
    std::fprintf(stderr, "vhost_peer: the port did not start\n");
    std::exit(1);
  }
  return port;
}

// DPDK's memory without hugepages is one memfd, which the port's other side has mapped. Touches none of it afterwards.
void cut_memory() {
  for (const auto& fd : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    std::error_code gone;
    if (!std::filesystem::read_symlink(fd.path(), gone).string().starts_with("/memfd:nohuge")) continue;
    if (ftruncate(std::stoi(fd.path().filename()), 0) == 0) std::puts("cut");
  }
  std::fflush(stdout);
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::string eal[] = {"vhost_peer", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m",
                       "64",         "-l",        "0",        "--log-level", "*:error"};
  char* arguments[std::size(eal)];
  for (size_t i = 0; i < std::size(eal); ++i) arguments[i] = eal[i].data();
  if (rte_eal_init(std::size(eal), arguments) < 0) return 1;
  rte_mempool* pool = rte_pktmbuf_pool_create("peer", 2047, 0, 0, 2048 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
  if (pool == nullptr) return 1;
  const uint16_t port = start_port(argv[1], pool);
  const std::string manner = argc > 2 ? argv[2] : "";
  const bool deaf = manner == "deaf";
  std::puts("up");
  std::fflush(stdout);
  for (;;) {
    rte_mbuf* frames[kBurst];
    const uint16_t got = deaf ? uint16_t{0} : rte_eth_rx_burst(port, 0, frames, kBurst);
    if (got > 0 && manner == "vanish") cut_memory();
    uint16_t sent = 0;
    while (sent < got)
      sent = static_cast<uint16_t>(sent + rte_eth_tx_burst(port, 0, frames + sent, static_cast<uint16_t>(got - sent)));
    if (got == 0) rte_delay_us_sleep(50);
  }
}
