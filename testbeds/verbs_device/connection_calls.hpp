// SPDX-License-Identifier: Apache-2.0
// rdma_cm commands of programs, as their librdmacm writes them to a kernel's /dev/infiniband/rdma_cm
// (<rdma/rdma_user_cm.h>), carried out by Connections. Commands may have any length and content: what is missing is
// zero, and a number that is not the caller's finds nothing.
#pragma once

#include <cstdint>
#include <span>

#include "testbeds/verbs_device/connections.hpp"
#include "testbeds/verbs_device/shared/device_calls.hpp"

namespace softspine::testbeds {

class ConnectionCalls {
 public:
  explicit ConnectionCalls(Connections& connections, const RnicGround& ground)
      : connections_(connections), ground_(ground) {}

  // An errno. `request.handle` is the channel, which is the client's.
  int carry_out(uint32_t client, const DeviceRequest& request, uint8_t mtu, DeviceReply& reply);

 private:
  struct Caller {
    uint32_t client;
    uint32_t channel;
    std::span<const uint8_t> body;
    uint8_t mtu;
    DeviceReply& reply;
  };
  int create(const Caller& caller);
  int destroy(const Caller& caller);
  int bind(const Caller& caller);
  int resolve(const Caller& caller);
  int query_route(const Caller& caller);
  int connect(const Caller& caller);
  int accept(const Caller& caller);
  int reject(const Caller& caller);
  int query_attributes(const Caller& caller);
  int take_event(const Caller& caller);
  int set_option(const Caller& caller);
  int move(const Caller& caller);

  Connections& connections_;
  const RnicGround& ground_;
};

}  // namespace softspine::testbeds
