// SPDX-License-Identifier: Apache-2.0
// One end's reliable connections: its buffers, one completion queue, N queue pairs on an RDMA port.
//
//   client  →  RDMA write with immediate (the message's number) into the part's buffer  →  server
//   client  ←  empty send, once every byte of the part was looked at: the buffer is free again  ←  server
//
// So no receiver is ever without a receive request (no RNR NAK), and no buffer is written before it was read.
// Waiting is done in the kernel (a completion channel), so that a guest's only processor is not spent on polling.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/verbs/terms.hpp"

namespace softspine::tools {

class QueuePairs {
 public:
  // The port must outlive it.
  static std::expected<QueuePairs, std::string> make(const RdmaPort& port, const Terms& terms);

  // The parameters that the peer needs.
  End end() const;
  // Ready to receive and to send; every receive request is posted.
  std::expected<void, std::string> connect(const Terms& terms, const End& peer);

  std::span<uint8_t> buffer(uint32_t queue_pair, uint64_t slot);
  // The part in this buffer, to the same buffer of the peer. `id` comes back with its completion.
  std::expected<void, std::string> write(uint32_t queue_pair, uint64_t slot, uint64_t bytes, uint32_t immediate,
                                         uint64_t id);
  std::expected<void, std::string> send_credit(uint32_t queue_pair);
  std::expected<void, std::string> post_receive(uint32_t queue_pair);

  struct Completion {
    uint32_t queue_pair;
    bool is_receive;
    bool is_write_from_peer;  // a part has arrived; else, if received, a credit
    uint64_t id;              // of what was sent
    uint32_t immediate;
    uint32_t bytes;
  };
  // All there are now; the first failure ends it, with a sentence.
  std::expected<void, std::string> complete(
      const std::function<std::expected<void, std::string>(const Completion&)>& see);
  // Readable when there may be completions.
  int descriptor() const { return channel_->fd; }

 private:
  explicit QueuePairs(const RdmaPort& port) : port_(&port) {}
  std::expected<void, std::string> make_queue_pair();
  std::expected<void, std::string> make_ready(uint32_t index, const Terms& terms, const End& peer);
  std::string failed(const char* what) const;
  std::string failure_of(const ibv_wc& completion) const;

  const RdmaPort* port_;
  uint32_t depth_ = 0;
  uint64_t slot_bytes_ = 0;
  std::vector<uint8_t> memory_;
  uint64_t peer_address_ = 0;
  uint32_t peer_key_ = 0;
  ProtectionDomain domain_;
  MemoryRegion region_;
  CompletionChannel channel_;
  CompletionQueue completions_;
  std::vector<QueuePair> queue_pairs_;
  std::vector<uint32_t> first_psns_;
};

}  // namespace softspine::tools
