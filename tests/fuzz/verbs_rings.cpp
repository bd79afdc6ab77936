// SPDX-License-Identifier: Apache-2.0
// What a verbs program may write to us: a send queue's memory and indices, at any time; and answers of a peer in any
// order. What the requester makes of them keeps its promises: a packet's payload lies within its work, which names no
// more pieces than its queue has, and no work is done twice. And a frame of any bytes.
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "dataplane/units/check.hpp"
#include "testbeds/verbs_device/rdma_frame.hpp"
#include "testbeds/verbs_device/requester.hpp"
#include "tests/fuzz/fuzz_target.hpp"

using namespace softspine::testbeds;
using softspine::dataplane::Duration;
using softspine::dataplane::Instant;

namespace {

constexpr uint32_t kSlots = 8;
constexpr QueueSizes kSizes{.send_slots = kSlots, .send_pieces = 2, .inline_bytes = 64};

class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  uint8_t next() {
    if (bytes_.empty()) return 0;
    const uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }
  uint32_t psn() { return uint32_t{next()} << 16 | uint32_t{next()} << 8 | next(); }
  void fill(uint8_t* to, size_t count) {
    const size_t there = std::min(count, bytes_.size());
    std::memcpy(to, bytes_.data(), there);
    bytes_ = bytes_.subspan(there);
  }

 private:
  std::span<const uint8_t> bytes_;
};

void check_packet(const RequestPacket& packet) {
  const SendWork& work = *packet.work;
  const bool is_inline = (work.slot.flags & IBV_SEND_INLINE) != 0;
  SOFTSPINE_CHECK(uint64_t{packet.offset} + packet.bytes <= std::max(work.bytes, packet.offset), packet.offset,
                  work.bytes);
  SOFTSPINE_CHECK(is_inline || work.slot.pieces <= kSizes.send_pieces, work.slot.pieces, 0);
  SOFTSPINE_CHECK(!is_inline || work.bytes <= kSizes.inline_bytes, work.bytes, 0);
}

void drive(uint32_t type, Bytes& bytes) {
  WorkRing ring;
  if (!ring.open(kSlots, send_slot_bytes(kSizes.send_pieces, kSizes.inline_bytes))) return;
  Requester requester;
  requester.open({.type = type, .sizes = kSizes});
  requester.use({.path_mtu = 1U + bytes.next() % 5, .most_reads = 2, .timeout = 1, .retries = 3, .rnr_retries = 3});
  requester.start(bytes.psn());
  Instant now;
  uint32_t done = 0;
  while (!bytes.empty()) {
    now = now + Duration::us(1);
    switch (bytes.next() % 8) {
      case 0: bytes.fill(ring.memory().place() + sizeof(QueueHead) + size_t{bytes.next() % kSlots} * 152, 152); break;
      case 1: reinterpret_cast<QueueHead*>(ring.memory().place())->produced += bytes.next(); break;
      case 2: requester.fetch(ring); break;
      case 3:
        for (int i = 0; i < 20; ++i) {
          if (const auto packet = requester.next(now)) check_packet(*packet);
        }
        break;
      case 4: {
        const uint32_t psn = bytes.psn();
        if (requester.is_sent(psn)) requester.acknowledged(psn, now);
        break;
      }
      case 5: {
        const uint32_t psn = bytes.psn();
        const uint8_t syndrome = bytes.next();
        if (requester.is_sent(psn) && !requester.refused(psn, syndrome, now)) return;
        break;
      }
      case 6: {
        const uint32_t psn = bytes.psn();
        if (requester.is_sent(psn) && requester.expects_response(psn, now) != nullptr) requester.responded(psn, now);
        break;
      }
      default:
        now = now + Duration::us(bytes.next());
        if (requester.timer() <= now && !requester.expire(now)) return;
        break;
    }
    while (requester.take_done() != nullptr) ++done;
    SOFTSPINE_CHECK(done <= ring.taken(), done, ring.taken());
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  std::vector<uint8_t> frame(data, data + size);
  const FrameBytes bytes{frame.data(), static_cast<uint32_t>(size), static_cast<uint32_t>(size)};
  if (claims_roce(bytes)) {
    if (const auto read = read_rdma(bytes)) {
      SOFTSPINE_CHECK(read->payload + read->payload_bytes + 4 <= frame.data() + size, read->payload_bytes, size);
    }
  }
  Bytes rest({data + 1, size - 1});
  drive(data[0] % 3 == 0 ? IBV_QPT_RC : data[0] % 3 == 1 ? IBV_QPT_UC : IBV_QPT_UD, rest);
  return 0;
}
