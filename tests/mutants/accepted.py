# SPDX-License-Identifier: Apache-2.0
"""Mutants that no test need kill, by their key (as the report prints it), each with its reason: it changes no behaviour
that anybody could see (equivalent), or only how fast the program is (performance). What stands where the compiler alone
evaluates cannot be switched on in one build, which says nothing about it: it was put into the source by hand, and the
reason names the test that failed, or says that the compiler refused it (by hand). So it does for what only wire reaches:
threads and waits on the wall clock."""
from __future__ import annotations

TRIED_BY_HAND = 'by hand: '

ACCEPTED: dict[str, str] = {
    'control/load/faults.cpp: row.period > kMaxFlapPeriod → false':
        'equivalent: its table has refused the file, and nobody looks at flaps of it',
    'control/telemetry/snapshot.hpp: first_sent.is_never() → false':
        'equivalent: nothing arrives later than never, so the last clause says the same',
    'analysis/explain/evenness.cpp: weights.size() - 1 → weights.size() + 1':
        'equivalent: a draw is below 1, and its product with the number of links below that',
    'analysis/explain/cures.cpp: !changes.empty() → true':
        'performance: a cure that changes nothing is tried, and cures nothing',
    'analysis/explain/key_hull.cpp: (chance >> (i % 64) & 1) != 0 → (chance >> (i % 64) & 1) == 0':
        'equivalent: keys are drawn by the other side of each coin, which is as likely',
    'dataplane/egress/wred.hpp: rng.below(kCertain) < chance → rng.below(kCertain) <= chance':
        'equivalent: a chance of one in 2^32 more',
    'dataplane/local/local_agent.cpp: meta.vlan == 0 → true':
        'equivalent: a frame of a routed port has no VLAN; tagged ones end before',
    'dataplane/packet/icrc.cpp: version == IpVersion::k4 → version != IpVersion::k4':
        'by hand: unit/packet: Icrc.EqualsTheDefinitionAtEveryLength',
    'dataplane/packet/checksum.hpp: s = (s >> 32) + (s & 0xffffffff); → ;':
        "equivalent: a frame's words sum up to less than 2^48, of which the folds behind it leave nothing",
    'testbeds/hosts/responder.cpp: icmp + icmp::kType → icmp - icmp::kType':
        'equivalent: the type is the first byte, at offset 0',
    'testbeds/hosts/roce_reader.cpp: t[bth::kWriteLastImmediate] = {kImmediateBytes, true, false, true, false}; → ;':
        'by hand: scenario/hosts: RoceReader.ReadsTheOpcodesOfAReliableConnectionAsTheArchitectureHasThem',
    'testbeds/hosts/send_order.hpp: count <= ring_.size() → count < ring_.size()':
        'performance: a ring that is large enough is made anew',
    'dataplane/packet/scratch_packet.hpp: mbuf->buf_len = RTE_PKTMBUF_HEADROOM + kMaxFrameBytes; → ;':
        'equivalent: nothing is appended to a scratch packet',
    'dataplane/packet/scratch_packet.hpp: m.pkt_len = m.data_len; → ;':
        'equivalent: nothing takes a scratch packet for a chain',
    'dataplane/egress/port_scheduler.hpp: port_.shapes() → true':
        'performance: a port without a rate has been open since the start',
    'analysis/storm/tiers.cpp: end < name.size() → true':
        "equivalent: behind a string's last character stands a zero, which is no letter",
    'dataplane/congestion/congestion_control.hpp: notify([=](auto& it) { it.on_timeout(now); }); → ;':
        'equivalent: of the algorithms that there are none does anything at a timeout',
    'dataplane/hashing/crc.hpp: 64 + kWidth → 64 - kWidth':
        'by hand: model/hashing: Crc16.GivesTheCheckValuesOfArcAndKermit',
    'dataplane/hashing/inner_headers.cpp: header_bytes > rest.bytes → header_bytes >= rest.bytes #2':
        'equivalent: behind a GRE header that ends the packet nothing is found either',
    'dataplane/hashing/linux_key.cpp: little<uint32_t>(destination) < little<uint32_t>(source) → little<uint32_t>(destination) <= little<uint32_t>(source)':
        'equivalent: equal addresses change places',
    'dataplane/hashing/linux_key.cpp: little<uint16_t>(key + kDestinationPort) < little<uint16_t>(key + kSourcePort) → little<uint16_t>(key + kDestinationPort) <= little<uint16_t>(key + kSourcePort)':
        'equivalent: equal ports change places',
    'dataplane/hashing/rtag7_blocks.cpp: key.count = 2 * kWords; → ;':
        "equivalent: RTAG7's functions know how long their block is, and only block A's key is shown",
    'dataplane/lacp/lacp_port.cpp: wanted < period_ → wanted <= period_':
        'equivalent: what stays the same has returned before',
    'control/routing/mixed_routes.cpp: own->second == kNone → true #2':
        "equivalent: a host without a route of its own goes by its subnet's, which is the same here",
    'dataplane/egress/departures.cpp: port.drop_from = UINT32_MAX; → ;':
        'performance: a lower bound of an earlier plan lets more packets be compared with the lines of this one',
    'dataplane/egress/priority_group_flow_control.cpp: !owed → true':
        'performance: a port looks once more for what it has to send',
    'dataplane/egress/priority_group_flow_control.cpp: port.credits().owes_frame() → true':
        'performance: a port looks for what it has to send, and finds nothing',
    'dataplane/flow_control/pause_requests.hpp: request.until < at → request.until <= at':
        'equivalent: of a pause that ends as the next begins, the time is added in two parts',
    'dataplane/forwarding/stages.cpp: meta.in_port >= state.plan->ports.size() → meta.in_port > state.plan->ports.size()':
        'equivalent: a packet comes in at a port of the plan, or at kLocalPort',
    'testbeds/hosts/delayed_cnps.hpp: delay > dataplane::Duration{} → delay >= dataplane::Duration{}':
        'performance: room is made before it is needed',
    'testbeds/hosts/roce_host.cpp: set_read_by_run({&config_.mac, &pool_, ports_[0].wire, &queue_pairs_, &flows_, &sinks_, &due_, &counters_, '
    '&counters_.delivered_packets, queue_pairs_.place(), sinks_.place_of_latencies(), port, port + kCacheLine, port + 2 * kCacheLine, sinks, '
    'sinks == nullptr ? nullptr : sinks + kCacheLine}); → ;':
        'performance: what is fetched into the cache before a host runs',
    'testbeds/hosts/roce_host.cpp: !is_cached() → !(!is_cached())':
        'performance: what is fetched into the cache ahead of its use',
    'control/record/series.cpp: add(pools_); → ;':
        "equivalent: the other rows' pieces, which are counted as well, make room for many times what a pool's line has",
    'control/record/series.cpp: add(host_priorities_); → ;':
        "equivalent: the other rows' pieces, which are counted as well, make room for many times what a host priority's line has",
    'control/capture/capture_writer.cpp: order_of(*a.record) < order_of(*b.record) → order_of(*a.record) <= order_of(*b.record)':
        'equivalent: two frames of one interface have two sequence numbers, so that no two records are equal',
    'control/load/job_traffic.cpp: first.size() > 1 → true':
        'equivalent: a permutation of fewer than two hosts is refused, and nobody sees its jobs',
    'analysis/storm/attribution.cpp: span.begin < end → !(span.begin < end)':
        'performance: pauses are compared one by one though none overlaps another',
    'analysis/storm/capture_reader.cpp: !broken_ → true':
        'equivalent: what was not recognised is not recognised the second time either',
    'analysis/storm/pause_timer.hpp: from >= end → from > end':
        'equivalent: from its end on nothing of a pause is left, however that is reckoned',
    'testbeds/run/counter_series.cpp: nodes_.engine().is_wall() → !(nodes_.engine().is_wall())':
        'performance: on the virtual clock another thread writes the samples, and is waited for; on the wall clock none does',
    'testbeds/run/counter_series.cpp: queue.reserved_bytes == 0 → true':
        "equivalent: a series has no counter of a queue's own memory; who holds shared memory has a watermark",
    'testbeds/run/event_log.cpp: note->at < now → true':
        'equivalent: a note of this very instant is handed over a look sooner, and in the same order: nothing of before comes later',
    'testbeds/run/outside_watch.cpp: ended → true':
        'by hand: wire/command_carriers: namespace',
    'testbeds/run/captures.cpp: nodes_.engine().now() + every → nodes_.engine().now() - every':
        'by hand: wire/command_lossless_fabric: captures_live',
    'pipelines/switch.cpp: meta.verdict != Verdict::kForward → meta.verdict == Verdict::kForward #2':
        'performance: the other packets are prefetched for',
    'analysis/identify/mixing_search.cpp: dp::row_of(A).seed == dp::SeedEffect::kMixing → dp::row_of(A).seed != dp::SeedEffect::kMixing':
        'by hand: does not compile',
    'analysis/identify/search.cpp: !goes_on(0) → false':
        'performance: an end is asked for again before the seeds of the next hash are tried, which no linear hash has',
    'analysis/identify/trial.cpp: equations.size() < constants.equations() → equations.size() <= constants.equations()':
        'equivalent: of one equation more than it takes the search takes the first ones',
}


def accepted_as(key: str, verdict: str) -> str:
    """The verdict, or what it is instead. What no program reaches is not known to change nothing: the compiler may have
    evaluated it."""
    reason = ACCEPTED.get(key, '')
    if verdict == 'not reached' and reason.startswith(TRIED_BY_HAND):
        return 'by hand'
    return 'accepted' if verdict == 'survived' and reason and not reason.startswith(TRIED_BY_HAND) else verdict
