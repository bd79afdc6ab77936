// SPDX-License-Identifier: Apache-2.0
// Ports' counts of pauses, credit and memory, copied into control's plain structs: for a snapshot of the whole
// fabric, and for each sample of counters over time. From engine actions, or while nothing runs.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "control/model/qos.hpp"
#include "control/telemetry/snapshot.hpp"
#include "dataplane/buffer/mmu.hpp"
#include "dataplane/egress/egress.hpp"

namespace softspine::testbeds {

using PauseSnapshots = std::array<control::PauseSnapshot, dataplane::kPriorities>;

// All but what storms have passed on and dropped, which takes longer: copy_storms().
void copy_pauses(const dataplane::Egress& egress, dataplane::PortNo port, dataplane::Instant now, PauseSnapshots& out);
void copy_storms(const dataplane::PfcWatchdogs& watchdogs, dataplane::PortNo port, PauseSnapshots& out);
// The queues that the port's pauses hold: a mask.
uint8_t pausable_queues(const dataplane::PortQosPlan& plan);
control::HostPauses pauses_of(const dataplane::PortFlowControl& flow, dataplane::Instant now);
control::LinkPauseSnapshot link_pause_of(const dataplane::PortFlowControl& flow, dataplane::Instant now);
std::optional<control::CreditSnapshot> credit_of(const dataplane::CreditLink& link, dataplane::Instant now);

control::PriorityGroupSnapshot priority_group_of(const dataplane::Mmu& mmu, dataplane::PortNo port, uint32_t group);
// For a memory in slices: summed over them; the watermark is that of the fullest.
control::QueueBufferSnapshot queue_of(const dataplane::Mmu& mmu, dataplane::PortNo port, uint32_t queue);
control::PortBufferSnapshot buffers_of(const dataplane::Mmu& mmu, dataplane::PortNo port);
// In the order of the plan: each direction's as the tables have them.
std::vector<control::PoolSnapshot> pools_of(const control::QosConfig& config, const dataplane::Mmu& mmu);
// Updates all of such a copy but the names. False: it is of other pools.
bool update_pools(const control::QosConfig& config, const dataplane::Mmu& mmu, std::vector<control::PoolSnapshot>& out);

}  // namespace softspine::testbeds
