// SPDX-License-Identifier: Apache-2.0
// One vhost-user message on its way through the gate: gathered from one socket, then sent whole into another.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::dataplane {

class VhostMessage {
 public:
  static constexpr uint32_t kMaxPayload = 4096;  // the protocol's largest is a memory table, below 300 bytes
  static constexpr uint32_t kMaxFds = 8;

  enum class Step : uint8_t {
    kWaits,    // nothing more to read or no room to send now
    kWhole,    // gathered: ready to be sent
    kSent,     // gone: ready for the next
    kClosed,   // the other side has left, in good order
    kOffends,  // not vhost-user
  };
  Step gather(int from) noexcept;
  Step send(int to) noexcept;
  bool whole() const { return whole_; }

  struct Header {
    uint32_t request;
    uint32_t flags;
    uint32_t size;
  };
  // The header of a whole message. A 64-bit payload is 0 where the message has none.
  Header header() const noexcept;
  std::span<const uint8_t> payload() const noexcept { return {bytes_.data() + sizeof(Header), header().size}; }
  uint64_t number() const noexcept;
  void set_number(uint64_t number) noexcept;
  OwnedFd take_first_fd() noexcept { return std::move(fds_[0]); }
  std::span<const OwnedFd> fds() const noexcept { return {fds_.data(), fd_count_}; }
  // Descriptors came that this process had no room for: not the sender's fault.
  bool lost_fds() const noexcept { return lost_fds_; }
  // A whole message of our own, without descriptors; `payload` has at most kMaxPayload bytes.
  static VhostMessage made(uint32_t request, uint32_t flags, std::span<const uint8_t> payload) noexcept;

 private:
  uint32_t wanted() const noexcept;
  bool keep_fds(const void* message_header) noexcept;
  void unblock_call() noexcept;

  std::array<uint8_t, sizeof(Header) + kMaxPayload> bytes_{};
  uint32_t have_ = 0;
  std::array<OwnedFd, kMaxFds> fds_;
  uint32_t fd_count_ = 0;
  bool lost_fds_ = false;
  bool whole_ = false;
};

}  // namespace softspine::dataplane
