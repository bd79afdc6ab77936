// SPDX-License-Identifier: Apache-2.0
// The last parts of a key, which few switches have: fields inside of tunnels (inner_headers.hpp), then SAI's
// fine-grained fields. They cost more than those before, and nothing where there are none.
//
//   INNER_SRC_MAC 6 · INNER_DST_MAC 6 · INNER_ETHERTYPE 2 · INNER_SRC_IP 16 · INNER_DST_IP 16 · INNER_IP_PROTOCOL 1 ·
//   INNER_L4_SRC_PORT 2 · INNER_L4_DST_PORT 2 · INNER_SRC_IPV4 4 · INNER_DST_IPV4 4 · INNER_SRC_IPV6 16 ·
//   INNER_DST_IPV6 16, each once, whatever the inner packet is: an IPv4 address in 16 bytes is followed by zeros
// A fine-grained field has its usual length. Fine-grained fields stand in the order of their sequence, equal ones as
// listed. Fields that share a sequence other than 0 begin at one place and are XORed: so a source and a destination of
// one sequence hash alike in both directions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/hashing/key_part.hpp"

namespace softspine::dataplane {

class ExtraParts {
 public:
  ExtraParts() = default;
  // The parts begin at byte `at` of the key. `in_words`: KeyShape::kWords.
  ExtraParts(const HashConfig& config, bool is_ipv6, uint32_t at, bool in_words);

  const std::vector<KeyPart>& parts() const { return parts_; }
  bool empty() const { return parts_.empty(); }
  // The mask of a fine-grained field of the configuration.
  const std::array<uint8_t, 16>& mask_of(uint8_t fine) const { return masks_[fine]; }
  uint32_t end() const { return end_; }
  bool has(const KeyPart& part, const HeaderView& view) const noexcept;
  // Adds the parts to a key whose bytes are zeros there.
  void add(const HeaderView& view, uint8_t* key) const noexcept;

 private:
  using Mask = std::array<uint8_t, 16>;
  uint32_t place(HashField field, bool is_ipv6, uint32_t at, bool in_words, uint8_t fine);

  std::vector<KeyPart> parts_;
  std::vector<Mask> masks_;  // of fine-grained fields
  uint32_t end_ = 0;
  bool symmetric_ = false;
  bool has_inner_ = false;
};

// For a symmetric hash: whether source and destination change places. The first pair that differs decides: addresses,
// then ports, then MACs.
bool is_turned(const HeaderView& view, bool has_ethernet) noexcept;

}  // namespace softspine::dataplane
