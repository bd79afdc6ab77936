// SPDX-License-Identifier: Apache-2.0
// A collective operation between ranks, as a testbed asks for it and as NCCL runs it.
#pragma once

#include <cstdint>
#include <memory>

namespace softspine::control {

enum class Collective : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kSendRecv,
};

// kAuto: NCCL's choice of the least time. kTree: double binary. kHalvingDoubling: recursive.
// kHierarchical: in each server, by rail, in each server. kPlan: as a file has it.
enum class CollectiveAlgorithm : uint8_t { kAuto, kRing, kTree, kHalvingDoubling, kHierarchical, kDirect, kPlan };
// NCCL's: LL puts a flag beside every 4 bytes, LL128 8 bytes of flags into 128.
enum class CollectiveProtocol : uint8_t { kAuto, kSimple, kLl, kLl128 };

// kReceiver: each message waits until its receiver has said that there is a place for it (NCCL's clear-to-send). kOpen:
// none does.
enum class Admission : uint8_t { kOpen, kReceiver };

struct CollectivePlan;  // control/model/collective_plan.hpp

inline constexpr uint64_t kMaxCollectiveBytes = 1ULL << 34;

// What one collective is; ranks ≥ 2. Once everything is chosen there is no kAuto.
struct CollectiveShape {
  Collective collective = Collective::kAllReduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kRing;
  CollectiveProtocol protocol = CollectiveProtocol::kSimple;
  uint32_t ranks = 2;
  uint32_t per_server = 1;  // ranks in one server, one behind the other; divides `ranks`
  uint64_t bytes = 0;  // nccl-tests' size: AllGather: of the output, ReduceScatter: of the input, AllToAll: of a rank's
  uint32_t root = 0;   // Broadcast, Reduce
  uint32_t channels = 1;
  bool pxn = false;  // kDirect: a message to another server's GPU on another rail goes by the local GPU on that rail
  // 0: as NCCL has it (control/collectives/cut.hpp)
  uint64_t chunk_bytes = 0;                    // of data
  uint32_t slices = 0;                         // messages a chunk
  uint32_t slots = 0;                          // messages under way on one connection
  std::shared_ptr<const CollectivePlan> plan;  // of kPlan
};

}  // namespace softspine::control
