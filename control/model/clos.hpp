// SPDX-License-Identifier: Apache-2.0
// Three-stage Clos networks (Clos, BSTJ 1953) and the crossbar that they are compared with: which calls they can carry.
//
//   (m, n, r)   r ingress switches with n inputs each, m middle switches, r egress switches with n outputs each; each
//               link between stages carries `channels` calls at a time: its rate by that of an input
//   strict sense: a free input always reaches a free output, whatever calls there are. The other calls of its
//               ingress switch fill at most floor((n-1) / channels) middle switches, as do those of the egress
//               switch: m >= 2 floor((n-1) / channels) + 1, which is m >= 2n - 1 with one channel
//   rearrangeable: it does if other calls may be moved: m channels >= n (Slepian, Duguid), which is m >= n
//
// Crosspoints: a crossbar has inputs x outputs, a Clos network r n m + m r r + r m n.
#pragma once

#include <cstdint>
#include <string>

namespace softspine::control {

enum class Blocking : uint8_t { kBlocking, kRearrangeable, kStrict };

struct StagedFabric {
  std::string name;     // in `fabrics`; empty: the only one
  uint32_t inputs = 0;  // of the whole fabric
  uint32_t outputs = 0;
  uint32_t m = 0;  // 0: a crossbar
  uint32_t n = 0;
  uint32_t r = 0;
  uint32_t channels = 1;

  bool is_crossbar() const { return m == 0; }
  uint64_t least_strict() const { return channels == 0 ? 0 : uint64_t{2} * ((n - 1) / channels) + 1; }
  uint64_t least_rearrangeable() const { return channels == 0 ? 0 : (uint64_t{n} + channels - 1) / channels; }
  Blocking blocking() const {
    if (is_crossbar()) return Blocking::kStrict;
    if (channels == 0) return Blocking::kBlocking;  // a link between stages is slower than an input
    if (m >= least_strict()) return Blocking::kStrict;
    return m >= least_rearrangeable() ? Blocking::kRearrangeable : Blocking::kBlocking;
  }
  uint64_t crosspoints() const {
    if (is_crossbar()) return uint64_t{inputs} * outputs;
    return uint64_t{2} * r * n * m + uint64_t{m} * r * r;
  }
};

}  // namespace softspine::control
