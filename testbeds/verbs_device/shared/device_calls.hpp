// SPDX-License-Identifier: Apache-2.0
// The calls of a verbs program to its device, over a UNIX socket of packets: one request, one reply, which may bring
// descriptors along. All that is not on a message's way goes here; queues and doorbells are shared memory
// (queue_memory.hpp). Numbers are those of <infiniband/verbs.h>. A process that ends closes its socket, and the device
// then forgets all that was its.
#pragma once

#include <cstdint>

namespace softspine::testbeds {

inline constexpr uint32_t kDeviceVersion = 4;
inline constexpr const char* kDeviceName = "softspine";  // and its number
// Sockets of the devices that a program has, by their numbers, with colons between them.
inline constexpr const char* kSocketVariable = "SOFTSPINE_VERBS_DEVICE";
// The number of the device whose address is that of the program's host: rdma_cm is asked there. None: 0.
inline constexpr const char* kOwnVariable = "SOFTSPINE_VERBS_OWN";
// The folder whose empty files and folders are those of /sys/class/infiniband.
inline constexpr const char* kFilesVariable = "SOFTSPINE_VERBS_FILES";
inline constexpr uint32_t kDeviceLimit = 64;    // of a program
inline constexpr uint32_t kGids = 2;            // IPv4, IPv6
inline constexpr uint32_t kCommandBytes = 448;  // of rdma_cm, either way
inline constexpr uint32_t kReadLimit = 16;      // reads and atomics under way at a queue pair

enum class Call : uint32_t {
  kOpen,  // number: kDeviceVersion. Brings the doorbells and the end of the asynchronous events
  kQueryPort,
  kAllocatePd,
  kFreePd,
  kRegisterMemory,
  kForgetMemory,
  kCreateChannel,  // brings the end that is read
  kDestroyChannel,
  kCreateCq,  // brings its memory
  kDestroyCq,
  kCreateSrq,  // brings its memory
  kModifySrq,
  kQuerySrq,
  kDestroySrq,
  kCreateQp,  // brings the send queue's memory and the receive queue's
  kModifyQp,
  kQueryQp,
  kDestroyQp,
  kConnectionCommand,  // handle: the channel of its identifier
  kWake,               // a doorbell was rung while the device slept; the only call without a reply
  kReadFile,  // command: its path below /sys/class/infiniband/DEVICE; the response: what it says. Before kOpen, too
};

struct QueueSizes {
  uint32_t send_slots;
  uint32_t receive_slots;
  uint32_t send_pieces;
  uint32_t receive_pieces;
  uint32_t inline_bytes;
};

// ibv_qp_attr, as far as it means something here.
struct QueuePairAttributes {
  uint32_t state;
  uint32_t path_mtu;
  uint32_t qkey;
  uint32_t receive_psn;
  uint32_t send_psn;
  uint32_t destination_qp;
  uint32_t access;
  uint32_t most_reads;          // that we have under way (max_rd_atomic)
  uint32_t most_reads_of_peer;  // max_dest_rd_atomic
  uint32_t rnr_timer;
  uint32_t timeout;
  uint32_t retries;
  uint32_t rnr_retries;
  uint32_t port;
  uint32_t flow_label;
  uint8_t gid[16];
  uint8_t gid_index;
  uint8_t hop_limit;
  uint8_t traffic_class;
  uint8_t has_address;
};

struct DeviceRequest {
  Call call;
  uint32_t handle;  // of the object that the call is about
  uint32_t number;  // kOpen: version; kCreateCq: slots; kCreateQp: ibv_qp_type; kModifyQp: ibv_qp_attr_mask
  uint32_t pd;
  uint32_t send_cq;
  uint32_t receive_cq;
  uint32_t srq;      // plus one; 0: none
  uint32_t channel;  // plus one; 0: none
  uint32_t access;
  uint32_t signals_all;
  uint64_t address;
  uint64_t length;
  uint64_t remote_address;
  QueueSizes sizes;
  QueuePairAttributes attributes;
  uint32_t command_bytes;
  uint8_t command[kCommandBytes];  // as rdma_user_cm.h has it; kReadFile: a path
};

struct PortFacts {
  uint32_t state;  // ibv_port_state
  uint32_t largest_mtu;
  uint32_t active_mtu;
  uint32_t speed_mbps;
  uint8_t mac[6];
  uint8_t unused[2];
  uint8_t gids[kGids][16];
};

struct DeviceReply {
  int32_t error;  // errno
  uint32_t handle;
  uint32_t number;  // kRegisterMemory: the key; kCreateCq: slots; kCreateSrq: likewise
  uint32_t unused;
  QueueSizes sizes;
  QueuePairAttributes attributes;
  PortFacts port;
  uint32_t response_bytes;
  uint8_t response[kCommandBytes];
};

// What comes out of a channel is the handle of a completion queue (uint32_t); out of the other one this:
struct AsyncEvent {
  uint32_t type;  // ibv_event_type
  uint32_t handle;
};

}  // namespace softspine::testbeds
