// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/cut.hpp"

#include <algorithm>
#include <bit>

namespace softspine::control {
namespace {

constexpr uint32_t kBufferSteps = 8;
constexpr uint64_t kCellTraffic = 32U << 10U;
constexpr uint64_t kPairPart = 4U << 10U;
constexpr uint64_t kPairChunk = 128U << 10U;

uint64_t divide_up(uint64_t bytes, uint64_t by) {
  return bytes / by + (bytes % by != 0 ? 1 : 0);
}

uint64_t step_bytes(CollectiveProtocol protocol) {
  switch (protocol) {
    case CollectiveProtocol::kLl: return 32U << 10U;
    case CollectiveProtocol::kLl128: return 576'000;
    default: return 512U << 10U;
  }
}

uint64_t traffic_per_byte(const CollectiveShape& shape) {
  const bool low_latency = shape.protocol == CollectiveProtocol::kLl;
  uint64_t traffic = 1;
  if (shape.collective == Collective::kAllReduce) traffic = 2;
  if (shape.collective == Collective::kAllGather || shape.collective == Collective::kReduceScatter)
    traffic = shape.ranks;
  return low_latency ? traffic * 4 : traffic;
}

uint64_t block_of(const CollectiveShape& shape) {
  switch (shape.collective) {
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll: return shape.bytes / shape.ranks;
    default: return shape.bytes;
  }
}

uint64_t part_of(const CollectiveShape& shape, uint64_t block_bytes) {
  const uint64_t cell = shape.algorithm == CollectiveAlgorithm::kDirect
                            ? kPairPart
                            : divide_up(divide_up(kCellTraffic, traffic_per_byte(shape)), 16) * 16;
  return divide_up(divide_up(block_bytes, cell), shape.channels) * cell;
}

}  // namespace

Cut::Cut(const CollectiveShape& shape)
    : shape_(shape), block_bytes_(block_of(shape)), part_bytes_(part_of(shape, block_bytes_)) {
  channels_ = part_bytes_ == 0 ? 0 : static_cast<uint32_t>(divide_up(block_bytes_, part_bytes_));
  const uint32_t slice_steps = in_steps_of_four() ? 2 : 1;
  slices_ = shape.slices != 0 ? shape.slices : slice_steps;
  slots_ = std::max(slices_, shape.slots != 0 ? shape.slots : kBufferSteps / slice_steps);
  const uint64_t chunk =
      shape.chunk_bytes != 0 ? shape.chunk_bytes : step_bytes(shape.protocol) * (in_steps_of_four() ? 4 : 1);
  least_slice_bytes_ = chunk / slices_ / 32;
}

bool Cut::in_steps_of_four() const {
  const bool has_ring =
      shape_.algorithm == CollectiveAlgorithm::kRing || shape_.algorithm == CollectiveAlgorithm::kHierarchical;
  if (shape_.algorithm == CollectiveAlgorithm::kPlan) return shape_.protocol == CollectiveProtocol::kSimple;
  return has_ring && shape_.protocol == CollectiveProtocol::kSimple && shape_.collective != Collective::kBroadcast &&
         shape_.collective != Collective::kReduce;
}

ByteRange Cut::part(uint32_t channel) const {
  const uint64_t offset = std::min(block_bytes_, part_bytes_ * channel);
  return {offset, std::min(part_bytes_, block_bytes_ - offset)};
}

uint64_t Cut::chunk_bytes(uint64_t part_bytes) const {
  if (shape_.chunk_bytes != 0) return shape_.chunk_bytes;
  if (shape_.algorithm == CollectiveAlgorithm::kDirect) return pair_chunk();
  if (shape_.algorithm == CollectiveAlgorithm::kTree) return tree_chunk(part_bytes);
  return step_bytes(shape_.protocol) * (in_steps_of_four() ? 4 : 1);
}

uint64_t Cut::pair_chunk() const {
  if (block_bytes_ < kPairChunk) return kPairChunk / 4;
  return block_bytes_ < 8 * kPairChunk ? kPairChunk / 2 : kPairChunk;
}

uint64_t Cut::tree_chunk(uint64_t part_bytes) const {
  struct Halving {
    double chunks;
    uint64_t least_bytes;
  };
  const auto halve = [&](uint64_t chunk, Halving rule) {
    while (static_cast<double>(part_bytes / chunk) < rule.chunks && chunk > rule.least_bytes) chunk /= 2;
    return chunk;
  };
  const uint32_t servers = shape_.ranks / shape_.per_server;
  const double depth = std::bit_width(servers) - 1.0 + (shape_.per_server - 1);  // as NCCL counts it
  const uint64_t step = step_bytes(shape_.protocol);
  if (shape_.protocol == CollectiveProtocol::kSimple) {
    return halve(halve(halve(step, {depth * 8, 131072}), {depth * 4, 65536}), {depth, 32768});
  }
  if (shape_.protocol == CollectiveProtocol::kLl128) {
    return halve(halve(step, {(1.1 + depth) * 64, 131072}), {(1.1 + depth) * 16, 32768}) / 16 * 16;
  }
  return step;
}

ByteRange Cut::slice(uint64_t chunk_bytes, uint32_t slice) const {
  if (slices_ == 1) return {0, chunk_bytes};
  const uint64_t each = std::max(divide_up(chunk_bytes, uint64_t{16} * slices_) * 16, least_slice_bytes_);
  const uint64_t offset = std::min(chunk_bytes, each * slice);
  return {offset, std::min(each, chunk_bytes - offset)};
}

uint64_t wire_bytes(CollectiveProtocol protocol, uint64_t data_bytes) {
  switch (protocol) {
    case CollectiveProtocol::kLl: return divide_up(data_bytes, 8) * 16;
    case CollectiveProtocol::kLl128: return divide_up(data_bytes, 120) * 128;
    default: return data_bytes;
  }
}

}  // namespace softspine::control
