# SPDX-License-Identifier: Apache-2.0
"""Mutants chosen by hand: each breaks a rule of the product, which `why` names. `before` stands once in the file, or once in
`within`, which does; a text that ends with ; is a statement, all else an expression."""
from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    path: str
    before: str
    after: str
    why: str
    within: str = ''


BY_HAND = [
    Row('dataplane/egress/pauses.cpp', 'obeyed.enable &= plan.pfc_enabled;', ';', 'pauses of priorities not enabled are obeyed'),
    Row('dataplane/egress/pauses.cpp', 'side.pause.clear(now);', ';', 'a pause outlives the link that it came by'),
    Row('testbeds/hosts/roce_host.cpp', 'out.pause.clear(now);', ';', "at a host, a pause outlives the link that it came by"),
    Row('dataplane/edge/nic.cpp', 'pause_.clear(now);', ';', 'at a NIC, a pause outlives the link that it came by'),
    Row('dataplane/egress/pauses.cpp', 'plan.pfc_enabled & ~side_[in_port].ignored', 'plan.pfc_enabled',
        'the watchdog forwards, and its port still pauses its neighbour'),
    Row('dataplane/egress/watch.cpp', 'side.pfc.let_go(bit);', ';', 'the watchdog forwards, and the neighbour stays paused'),
    Row('dataplane/egress/pfc_watchdog.hpp', '(now.paused - seen_.paused) * 5 > since * 4', '(now.paused - seen_.paused) * 5 > since * 2',
        'stuck from 40 % of the time, not 80 %'),
    Row('dataplane/egress/pfc_watchdog.hpp', '(stormed_ ? plan.restoration : plan.detection)', 'plan.detection',
        'restored after the detection time'),
    Row('dataplane/egress/pfc_watchdog.hpp', 'goes_on ? held_ + since : Duration{}', 'goes_on ? held_ + since : held_',
        'polls need not follow each other'),
    Row('dataplane/egress/pfc_watchdog.hpp', '++(stormed_ ? storms_ : restored_);', 'if (stormed_) ++storms_;',
        'restored storms are not counted'),
    Row('control/telemetry/totals.cpp', 'watchdog_restored += pause.restored;', ';', 'restored storms are not in the totals'),
    Row('dataplane/buffer/mmu.cpp', 'raise(group.pool->headroom_watermark, group.pool->headroom);', ';',
        "a headroom pool's watermark is never raised"),
    Row('dataplane/buffer/mmu.cpp', 'pools[i].headroom_watermark = before[i].headroom_watermark;', ';',
        "a new plan forgets a headroom pool's watermark"),
    Row('dataplane/buffer/mmu.cpp', 'pools[i].least_free -= static_cast<int32_t>(before[i].watermark());', ';',
        "a new plan forgets a pool's watermark"),
    Row('dataplane/egress/egress.cpp', 'if (mmu_.settle(i, g)) let_sender_go(Mmu::number_of_group(i, g), now);', ';',
        'no XON after a new plan'),
    Row('dataplane/egress/turns.hpp', 'if (empty && credit_[queue] > 0) credit_[queue] = 0;', ';', 'an empty queue keeps its credit'),
    Row('control/compile/compile.cpp', 'groups_.mode == GroupMode::kInPort && ports != whole', 'false',
        'in_port without a fall-back to the hash'),
    Row('dataplane/forwarding/bridge.cpp', 'destination <= kReservedFirst + 0x0f', 'destination < kReservedFirst + 0x0f',
        '01-80-C2-00-00-0F is flooded'),
    Row('dataplane/buffer/headroom.hpp', '2 * uint64_t{q.cell.cells_of(q.largest_frame)}', 'uint64_t{q.cell.cells_of(q.largest_frame)}',
        'headroom one largest frame short'),
    Row('dataplane/egress/egress.cpp', 'ecn == kCe', '(ecn & 1) != 0', 'ECT(1) is taken for CE by who marks'),
    Row('testbeds/hosts/roce_reader.cpp', '(network.traffic_class & ip::kEcnMask) == ip::kCe', '(network.traffic_class & 1) != 0',
        'ECT(1) is taken for CE by a host'),
    Row('dataplane/edge/nic_congestion.cpp', '(packet.meta().dscp_ecn & ip::kEcnMask) != ip::kCe', '(packet.meta().dscp_ecn & 1) == 0',
        'ECT(1) is taken for CE by a NIC'),
    Row('testbeds/hosts/receive_buffer.hpp', 'bytes_ <= slow_.xon_bytes', 'bytes_ <= slow_.xoff_bytes',
        "a slow receiver's XON at its XOFF threshold"),
    Row('dataplane/congestion/rate_limiter.hpp', 'out >= most ? -kMostCredit : held_ - static_cast<int64_t>(static_cast<uint64_t>(out))',
        'held_ - static_cast<int64_t>(static_cast<uint64_t>(out))', "a rate limiter's credit has no limit"),
    Row('dataplane/edge/nic.cpp', '(free & cnp_bit_) != 0 && !cnps_.empty()', '!cnps_.empty()', "a NIC's CNPs ignore a pause"),
    Row('testbeds/hosts/control_queue.hpp', 'waiting_ & ~unsigned{paused}', 'waiting_',
        "a host's CNPs ignore a pause", within='waiting_ & ~unsigned{paused};\n    auto'),
    Row('testbeds/hosts/reliable_sender.cpp', 'since_asked_ = 0;', ';', 'the ask counter goes on after a go-back'),
    Row('tools/storm/storm_analysis.cpp', 'free > run.length() / 10 * kFreeTenths', 'true', 'a root need not be free for 20 % of its pause'),
    Row('tools/storm/storm_analysis.cpp', '(storm.end - storm.begin) / kVictimParts', '(storm.end - storm.begin) / 2',
        'a victim is one that was paused for half of the storm'),
    Row('tools/storm/pause_graph.cpp', 'return std::tuple{pause(place).span.begin, active_[place]};',
        'return std::tuple{pause(place).span.begin, ~active_[place]};', 'of two roots of one instant the later in the log'),
    Row('tools/storm/pause_graph.cpp', 'pause(place).span.begin', 'dataplane::Instant{} + (dataplane::Instant{} - pause(place).span.begin)',
        'what has two roots goes to the youngest', within='std::tuple{pause(place).span.begin'),
    Row('tools/storm/attribution.cpp', 'std::max(pause.span.begin, root.span.begin)', 'pause.span.begin',
        'a link is paused before its root is'),
    Row('testbeds/run/fault_control.cpp', 'found->second != number', 'false', 'an older host fault ends a newer one',
        within='found->second != number) return;'),
    Row('testbeds/run/fault_control.cpp', 'found->second != number', 'false', 'an older port fault ends a newer one',
        within='found->second != number) continue;'),
    Row('testbeds/run/fault_control.cpp', '(uint64_t{port.node} << 32) | (uint64_t{port.port} << 16)', '(uint64_t{port.port} << 16)',
        'the same loss stream at every node'),
    Row('dataplane/link/transmitter.cpp', 'tap_->frame(Direction::kTransmitted, packet, left, text_of(packet.meta().remark));',
        'tap_->frame(Direction::kTransmitted, packet, left - rate_.time_of_frame(packet.frame_bytes()), text_of(packet.meta().remark));',
        'a transmitted frame is stamped with its first bit'),
    Row('testbeds/run/link_control.cpp', '++route_changes_;', ';', 'route changes are not counted'),
    # Not named by anybody: rules that a network engineer would look up.
    Row('dataplane/buffer/pause_timing.hpp', 'rate.time_of_bytes(kQuantumBytes)', 'rate.time_of_bytes(kQuantumBytes / 2)', 'a quantum of 256 bit times'),
    Row('dataplane/buffer/pause_timing.hpp', 'rate <= row.up_to', 'rate < row.up_to', "the response of the next higher rate's row"),
    Row('dataplane/egress/pfc_sender.hpp', 'now + quantum * (pfc::kLongest / 2)', 'now + quantum * pfc::kLongest', 'a refresh when the pause has lapsed'),
    Row('testbeds/hosts/pause_source.hpp', 'now + quantum * (dataplane::pfc::kLongest / 2)', 'now + quantum * dataplane::pfc::kLongest',
        "a host's refresh when the pause has lapsed"),
    Row('dataplane/egress/egress.hpp', 'std::bit_width(strict) - 1', 'std::countr_zero(strict)', 'the lowest strict queue first'),
    Row('dataplane/egress/shaper.hpp', 'due_ - burst_', 'due_', 'a shaper without a burst'),
    Row('dataplane/egress/wred.hpp', 'max_probability * (queue_bytes - min_bytes) / (max_bytes - min_bytes)', 'max_probability',
        'between min and max the same probability everywhere'),
    Row('dataplane/forwarding/stages.cpp', 'ttl <= 1', 'ttl == 0', 'a TTL of 1 is forwarded'),
    Row('dataplane/congestion/reaction_point.hpp', 'now >= next_cut_', 'true', 'a cut for every CNP, whatever the cut period'),
    Row('dataplane/congestion/notification_point.hpp', 'next_ = now + interval;', ';', 'a CNP for every mark'),
    Row('testbeds/hosts/receive_queue.hpp', 'if (has_complained_) return {Reply::kNone, 0, kNothing};', ';', 'a NAK for every packet that is ahead'),
    Row('testbeds/hosts/reliable_sender.cpp', 'retries_ == retry_count_', 'retries_ > retry_count_', 'one retry more than configured'),
    Row('dataplane/buffer/mmu.cpp', 'group.shared > std::max<uint64_t>(group.xon, below)', 'false', 'XON as soon as the headroom is free'),
    Row('control/compile/qos_plan.cpp', 'profile->holds_headroom() ? headroom : 0', 'headroom', 'a shared headroom pool is reserved once more'),
]
