// SPDX-License-Identifier: Apache-2.0
// In which order a channel's ring goes through the ranks: servers one after the other, and in each server all of its
// GPUs. Rank r is GPU r mod k of server r / k, k GPUs a server. Pure arithmetic; k = 1: 0, 1, 2 … n − 1.
//
// A ring comes into a server at one GPU and leaves it at another, each by its own NIC. It stays on one rail between two
// servers: what leaves by the NIC of GPU g comes in at GPU g. So channel c goes
//
//   server    0          1          2          3       …
//   GPUs      c … c+1    c+1 … c    c … c+1    c+1 … c      modulo k
//
// as NCCL's rings do where they may alternate between two NICs (NCCL_CROSS_NIC 1, or 2 and its search finds it). Of an
// odd number of servers the last three turn: c … c+1, c+1 … c+2, c+2 … c. With two GPUs that cannot be, and the last
// hop of such a ring changes the rail. Between a server's ends the other GPUs come in ascending order.
// k channels use each NIC of each server once in and once out.
#pragma once

#include <cstdint>

#include "control/model/collective.hpp"

namespace softspine::control {

class RingOrder {
 public:
  RingOrder(const CollectiveShape& shape, uint32_t channel)
      : gpus_(shape.per_server), servers_(shape.ranks / shape.per_server), first_(channel % shape.per_server) {}

  uint32_t position_of(uint32_t rank) const {
    const uint32_t server = rank / gpus_;
    const uint32_t ahead = (rank % gpus_ + gpus_ - in(server)) % gpus_;
    const uint32_t last = way(server);
    if (ahead == last) return server * gpus_ + gpus_ - 1;
    return server * gpus_ + (ahead < last ? ahead : ahead - 1);
  }
  uint32_t rank_at(uint32_t position) const {
    const uint32_t server = position / gpus_;
    const uint32_t place = position % gpus_;
    const uint32_t last = way(server);
    uint32_t ahead = place < last ? place : place + 1;
    if (place == gpus_ - 1) ahead = last;
    return server * gpus_ + (in(server) + ahead) % gpus_;
  }

 private:
  bool turns(uint32_t server) const { return servers_ % 2 == 1 && servers_ > 1 && gpus_ > 2 && server + 3 >= servers_; }
  // The GPU at which the ring comes into the server, and how many GPUs further on, in a circle, it leaves.
  uint32_t in(uint32_t server) const {
    const uint32_t step = turns(server) ? server + 3 - servers_ : server % 2;
    return (first_ + step) % gpus_;
  }
  uint32_t way(uint32_t server) const {
    if (servers_ == 1) return gpus_ - 1;
    const uint32_t next =
        server + 1 == servers_ ? (turns(server) || server % 2 == 1 ? first_ : first_ + 1) : in(server + 1);
    return (next + gpus_ - in(server)) % gpus_;
  }

  uint32_t gpus_;
  uint32_t servers_;
  uint32_t first_;
};

}  // namespace softspine::control
