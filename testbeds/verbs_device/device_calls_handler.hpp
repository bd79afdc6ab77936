// SPDX-License-Identifier: Apache-2.0
// The calls of one device's programs, carried out (shared/device_calls.hpp). Each argument is checked: a handle must be
// the caller's own, a size within its maximum, a change of state one that IBA allows. Called between packets, by the
// worker that has the device.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "testbeds/verbs_device/connection_calls.hpp"
#include "testbeds/verbs_device/rnic.hpp"
#include "testbeds/verbs_device/shared/device_calls.hpp"

namespace softspine::testbeds {

struct CallResult {
  DeviceReply reply{};
  std::array<int, 2> fds{-1, -1};           // to go with it; who sends it does not close them
  std::array<dataplane::OwnedFd, 1> owned;  // those that are only the program's
  SealedMemory* sent_memory = nullptr;      // whose descriptors are not needed afterwards
  SealedMemory* sent_memory_too = nullptr;
};

class DeviceCallsHandler {
 public:
  DeviceCallsHandler(Rnic& rnic, const PortFacts& port)
      : rnic_(rnic),
        objects_(rnic.ground().objects),
        connection_calls_(rnic.connections(), rnic.ground()),
        port_(port) {}

  // A process has connected; none: there are too many.
  std::optional<uint32_t> add_client(pid_t process);
  void handle(uint32_t client, const DeviceRequest& request, CallResult& out);
  void set_link(bool up) { port_.state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN; }

 private:
  int open(uint32_t client, const DeviceRequest& request, CallResult& out);
  int allocate_pd(uint32_t client, CallResult& out);
  int free_pd(uint32_t client, const DeviceRequest& request);
  int register_memory(uint32_t client, const DeviceRequest& request, CallResult& out);
  int forget_memory(uint32_t client, const DeviceRequest& request);
  int create_channel(uint32_t client, CallResult& out);
  int destroy_channel(uint32_t client, const DeviceRequest& request);
  int create_cq(uint32_t client, const DeviceRequest& request, CallResult& out);
  int destroy_cq(uint32_t client, const DeviceRequest& request);
  int create_srq(uint32_t client, const DeviceRequest& request, CallResult& out);
  int modify_srq(uint32_t client, const DeviceRequest& request);
  int query_srq(uint32_t client, const DeviceRequest& request, CallResult& out);
  int destroy_srq(uint32_t client, const DeviceRequest& request);
  int create_qp(uint32_t client, const DeviceRequest& request, CallResult& out);
  int open_rings(QueuePair& pair, CallResult& out);
  int modify_qp(uint32_t client, const DeviceRequest& request);
  int query_qp(uint32_t client, const DeviceRequest& request, CallResult& out);
  int destroy_qp(uint32_t client, const DeviceRequest& request);
  int carry_out_connection_command(uint32_t client, const DeviceRequest& request, CallResult& out);
  int read_file(const DeviceRequest& request, CallResult& out) const;

  bool has_pd(uint32_t client, uint32_t pd) const { return objects_.clients[client]->pds.contains(pd); }
  bool has_slots(uint64_t slots) const { return objects_.slots + slots <= kWorkLimit; }
  // The client's own object; else null.
  template <typename Table>
  static auto* own(const Table& table, uint32_t handle, uint32_t client) {
    auto* const object = table.find(handle);
    return object != nullptr && object->client == client ? object : nullptr;
  }

  Rnic& rnic_;
  VerbsObjects& objects_;
  ConnectionCalls connection_calls_;
  PortFacts port_;
  uint32_t next_pd_ = 1;
};

}  // namespace softspine::testbeds
