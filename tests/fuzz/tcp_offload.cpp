// SPDX-License-Identifier: Apache-2.0
// A super-frame of any bytes is cut into frames, one byte of them is changed, and they are joined again: whatever was
// joined is cut a second time, and must be the frames that came, in their order.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/edge/frame_cutter.hpp"
#include "dataplane/edge/frame_joiner.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/units/check.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace {

using namespace softspine;
using namespace softspine::dataplane;
using Frame = std::vector<uint8_t>;

// What stands before the super-frame.
struct Order {
  uint16_t segment_bytes;
  uint16_t changed_byte;
  uint8_t changed_frame;
  uint8_t change;   // 0: none
  uint8_t repairs;  // 1: all frames get right checksums, 2: the changed one gets them again
  uint8_t l4;       // where the kernel says that TCP begins; 0: where it does
};
static_assert(sizeof(Order) == 8);

PacketPool& pool() {
  static PacketPool pool{"fuzz", 2'047, kMaxFrameBytes};
  return pool;
}

std::vector<Frame> cut(const VirtioHeader& header, const Frame& super) {
  FrameCutter cutter;
  if (!cutter.begin(header, super.data(), static_cast<uint32_t>(super.size()))) return {};
  const uint32_t most = cutter.most_bytes();
  std::vector<Frame> frames;
  while (cutter.has_more() && most <= kMaxFrameBytes) {
    frames.emplace_back(cutter.next_bytes());
    SOFTSPINE_CHECK(frames.back().size() <= most, frames.back().size(), most);
    cutter.cut(frames.back().data());
  }
  return frames;
}

VirtioHeader header_for(const Frame& super, const Order& order) {
  VirtioHeader header{};
  const uint32_t l3 = l3_offset_of(super.data(), static_cast<uint32_t>(super.size()));
  if (l3 == 0) return header;
  const bool is_ipv4 = load16(super.data() + l3 - 2) == ethernet::kTypeIpv4;
  header.flags = VirtioHeader::kNeedsChecksum;
  header.segments = is_ipv4 ? VirtioHeader::kTcp4 : VirtioHeader::kTcp6;
  header.segment_bytes = order.segment_bytes;
  const uint32_t l4 = l3 + (is_ipv4 ? ipv4::kMinBytes : ipv6::kBytes);
  header.checksum_start = static_cast<uint16_t>(order.l4 != 0 ? order.l4 : l4);
  header.checksum_offset = tcp::kChecksum;
  return header;
}

void repair(Frame& frame) {
  const auto segment = tcp_segment_in(frame.data(), static_cast<uint32_t>(frame.size()));
  if (!segment) return;
  uint8_t* const l3 = frame.data() + segment->l3;
  uint8_t* const l4 = frame.data() + segment->l4;
  if (segment->is_ipv4) {
    store16(l3 + ipv4::kChecksum, 0);
    store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, ipv4::kMinBytes));
  }
  const uint32_t bytes = segment->frame_bytes() - segment->l4;
  store16(l4 + tcp::kChecksum, 0);
  const uint16_t sum = ChecksumSum{}.add_word(pseudo_sum(frame.data(), *segment, bytes)).add(l4, bytes).checksum();
  store16(l4 + tcp::kChecksum, sum);
}

// Joins frames, and cuts what was joined.
class Kernel {
 public:
  void give(const Frame& frame) {
    Packet packet = pool().make(static_cast<uint32_t>(frame.size()));
    std::memcpy(packet.data(), frame.data(), frame.size());
    const bool is_held = joiner_->take(packet, {});
    take_closed();
    if (is_held) return;
    frames_.emplace_back(packet.data(), packet.data() + packet.stored_bytes());
    PacketPool::release(std::move(packet));
  }
  std::vector<Frame> end() {
    joiner_->close_all();
    take_closed();
    SOFTSPINE_CHECK(joiner_->frames() == 0, joiner_->frames(), 0);
    return std::move(frames_);
  }

 private:
  void take_closed() {
    while (FrameRun* const run = joiner_->next_closed()) {
      run->write(out_);
      Frame super;
      for (int i = 1; i < out_.count; ++i) {
        const iovec& part = out_.parts[static_cast<size_t>(i)];
        const auto* const bytes = static_cast<const uint8_t*>(part.iov_base);
        super.insert(super.end(), bytes, bytes + part.iov_len);
      }
      std::vector<Frame> parts{super};
      if (run->frames() > 1) parts = cut(out_.header, super);
      SOFTSPINE_CHECK(parts.size() == run->frames(), parts.size(), run->frames());
      frames_.insert(frames_.end(), parts.begin(), parts.end());
      for (uint32_t i = 0; i < run->frames(); ++i) PacketPool::release(run->take_frame(i));
      joiner_->reuse(*run);
    }
  }

  std::unique_ptr<FrameJoiner> joiner_ = std::make_unique<FrameJoiner>(FrameJoiner::Patience{});
  FrameRun::ForKernel out_;
  std::vector<Frame> frames_;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  start_eal({.memory_mib = 256});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Order order;
  constexpr size_t kMostBytes = 65'549;  // of a super-frame, with its Ethernet header
  if (size <= sizeof order || size > sizeof order + kMostBytes) return 0;
  std::memcpy(&order, data, sizeof order);
  Frame super{data + sizeof order, data + size};
  std::vector<Frame> frames = cut(header_for(super, order), super);
  if (frames.empty() || frames.size() > 1'000) return 0;
  if (order.repairs & 1) std::ranges::for_each(frames, repair);  // the super-frame need not have had a good sum
  Frame& changed = frames[order.changed_frame % frames.size()];
  changed[order.changed_byte % changed.size()] ^= order.change;
  if (order.repairs & 2) repair(changed);
  Kernel kernel;
  for (const Frame& frame : frames) kernel.give(frame);
  std::vector<Frame> came = kernel.end();
  SOFTSPINE_CHECK(came.size() == frames.size(), came.size(), frames.size());
  // The changed frame may be another flow's, and then pass the others.
  const auto where = std::ranges::find(came, changed);
  SOFTSPINE_CHECK(where != came.end(), order.changed_frame, order.changed_byte);
  came.erase(where);
  frames.erase(std::ranges::find(frames, changed));
  // Where TCP is said to begin elsewhere, some frames are no segments, and pass those that are held.
  if (order.l4 != 0) {
    std::ranges::sort(came);
    std::ranges::sort(frames);
  }
  SOFTSPINE_CHECK(came == frames, came.size(), size);
  SOFTSPINE_CHECK(pool().in_use() == 0, pool().in_use(), size);
  return 0;
}
