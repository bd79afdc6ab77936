// SPDX-License-Identifier: Apache-2.0
// What modify_qp may change, by IBA 1.4 table 91: RESET → INIT → RTR → RTS, anything → ERR or RESET, with the
// attributes that each step needs and allows, as Linux's ib_modify_qp_is_ok has them. SQD is not there.
#pragma once

#include <cstdint>

#include "testbeds/verbs_device/queue_pair.hpp"

namespace softspine::testbeds {

struct QueuePairChange {
  uint32_t mask;  // ibv_qp_attr_mask
  const QueuePairAttributes& attributes;
};

// An errno; 0: it may be carried out.
int error_in(const QueuePair& pair, const QueuePairChange& change, uint32_t largest_mtu) noexcept;
void carry_out(QueuePair& pair, const QueuePairChange& change) noexcept;

}  // namespace softspine::testbeds
