// SPDX-License-Identifier: Apache-2.0
// A DPDK device whose outside is two rings in this process: the test is the outside.
#pragma once

#include <rte_eth_ring.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/dpdk/device.hpp"

namespace softspine::dataplane {

class RingDevice {
 public:
  // `room`: how many frames the outside takes before it must be emptied (a power of two, less one).
  RingDevice(std::string name, uint32_t ring_size)
      : name_(std::move(name)), to_fabric_(make_ring("in", ring_size)), from_fabric_(make_ring("out", ring_size)) {
    rte_eth_from_rings(name_.c_str(), &to_fabric_, 1, &from_fabric_, 1, 0);
  }
  ~RingDevice() {
    while (auto frame = take()) continue;
    rte_mbuf* m = nullptr;
    while (rte_ring_dequeue(to_fabric_, reinterpret_cast<void**>(&m)) == 0) rte_pktmbuf_free(m);
    rte_ring_free(to_fabric_);
    rte_ring_free(from_fabric_);
  }
  RingDevice(const RingDevice&) = delete;
  RingDevice& operator=(const RingDevice&) = delete;

  // rte_eth_from_rings prefixes the name.
  std::string devargs() const { return "net_ring_" + name_; }

  // The outside sends a frame; in several buffers if `pieces` says so.
  bool bring(PacketPool& pool, const std::vector<uint8_t>& bytes, uint32_t pieces = 1) {
    rte_mbuf* head = nullptr;
    const size_t step = (bytes.size() + pieces - 1) / pieces;
    for (size_t at = 0; at < bytes.size() || head == nullptr; at += step) {
      const size_t n = std::min(step, bytes.size() - at);
      rte_mbuf* m = rte_pktmbuf_alloc(pool.raw());
      std::copy_n(bytes.data() + at, n, rte_pktmbuf_append(m, static_cast<uint16_t>(n)));
      if (head == nullptr) {
        head = m;
      } else {
        rte_pktmbuf_chain(head, m);
      }
    }
    return rte_ring_enqueue(to_fabric_, head) == 0;
  }
  uint32_t untaken() const { return rte_ring_count(to_fabric_); }
  // What the fabric sent, oldest first.
  std::optional<std::vector<uint8_t>> take() {
    rte_mbuf* m = nullptr;
    if (rte_ring_dequeue(from_fabric_, reinterpret_cast<void**>(&m)) != 0) return std::nullopt;
    const auto* data = rte_pktmbuf_mtod(m, const uint8_t*);
    std::vector<uint8_t> bytes(data, data + m->data_len);
    rte_pktmbuf_free(m);
    return bytes;
  }

 private:
  rte_ring* make_ring(const char* side, uint32_t size) {
    return rte_ring_create((name_ + side).c_str(), size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
  }
  std::string name_;
  rte_ring* to_fabric_;
  rte_ring* from_fabric_;
};

}  // namespace softspine::dataplane
