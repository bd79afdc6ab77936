# SPDX-License-Identifier: Apache-2.0
"""Which class of sonic-mgmt's QoS tests runs with which of its published parameters, and which does not apply.

A case's parameters are those of the yaml file of the platform, as that project's own runner hands them on; the
ports are ours. One figure is not taken over: `pkts_num_leak_out`, how many frames a chip still sends after TX of a port
was disabled. Ours sends none: it has no FIFO behind its queues.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import platforms
import yaml
from platforms import ALPHA_8TH, Platform

SOURCE, SINKS = 20, (24, 25, 26)  # ports by their place; below 32, and in one slice of four

DSCP_TO_QUEUE = {8: 0, 0: 1, 5: 2, 3: 3, 4: 4, 46: 5, 48: 6}
INGRESS_POOL, EGRESS_LOSSY_POOL = 'ingress_lossless_pool', 'egress_lossy_pool'

NOT_APPLICABLE = {
    'LosslessVoq, LossyQueueVoqTest, LossyQueueVoqMultiSrcTest, VoqWatchdogTest': 'virtual output queues of a chassis',
    'OqWatchdogTest': "a chip's own watchdog, read from the switch's syslog",
    'FullMeshTrafficSanity, TrafficSanityTest': 'a chassis, or several ASICs',
    'DscpToPgMappingIPIP, TunnelDscpToPgMapping, PCBBPFCTest': 'IP-in-IP tunnels between two ToRs: the switch has none',
    'Dot1pToQueueMapping, Dot1pToPgMapping': 'storage backends, whose parameters only a backend topology has',
    'PfcStormTestWithSharedHeadroom, PtfFillBuffer, PtfReleaseBuffer, PtfEnableDstPorts': 'steps of a test on Mellanox, with its own tools',
    'HdrmPoolSizeTest_withDynamicBufferCacl': 'Mellanox; sonic-mgmt computes its parameters on the switch',
    'SharedResSizeTest, PGDropTest, XonHysteresisTest, QWatermarkAllPortTest, PgMinThresholdTest': 'no parameters for td2, th and th2',
    'DscpEcnSend': 'configures WRED over SSH on the switch, with the wredparams file of its vendor',
    'ARPpopulate, ARPpopulateIPv6, ARPpopulatePTF, ReleaseAllPorts, PacketTransmit': 'steps that prepare others, no tests',
}


@dataclass(frozen=True)
class Case:
    platform: Platform
    name: str                    # of its parameters, or what it is about
    test: str                    # module.Class
    parameters: dict
    used: list[int]              # ports with a TAP
    tables: str
    weights: tuple[int, int] | None = None
    pool: str = ''               # whose id the test needs
    environment: dict[str, str] = field(default_factory=dict)
    published: int | None = None  # what a probe should find
    overcounts: int = 0           # how much more than there is a probe finds by its own way of counting
    hours: int = 0                # how long it takes, if it is hours


def _published(mgmt: Path, platform: Platform) -> dict:
    """All of the platform's, those of its rate and length before those of every rate."""
    text = (mgmt / 'tests' / 'qos' / 'files' / f'qos_params.{platform.name}.yaml').read_text()
    of_all = yaml.safe_load(text)['qos_params'][platform.name]['topo-any']
    return {**of_all, **{key: value for key, value in of_all[platform.speed].items()}}


def _common(platform: Platform) -> dict:
    out = {'testbed_type': 't1-lag', 'topo': 't1', 'sonic_version': '20231110', 'sonic_asic_type': 'broadcom', 'platform_asic': 'broadcom',
           'dut_asic': platform.name, 'hwsku': platform.hwsku, 'src_dst_asic_diff': False, 'src_dut_index': 0, 'dst_dut_index': 0,
           'pkts_num_leak_out': 0, 'cell_size': 208, 'src_port_id': SOURCE, 'src_port_ip': platforms.address(SOURCE), 'src_port_vlan': None}
    for place, number in enumerate(SINKS):
        suffix = '' if place == 0 else f'_{place + 1}'
        out |= {f'dst_port{suffix}_id': number, f'dst_port{suffix}_ip': platforms.address(number)}
    return out


class _Maker:
    def __init__(self, platform: Platform, mgmt: Path) -> None:
        self.platform = platform
        self.published = _published(mgmt, platform)

    def case(self, name: str, test: str, more: dict, *, pool: str = '', used: list[int] | None = None,
             weights: tuple[int, int] | None = None) -> Case:
        tables = self.platform.profile
        # th2's file: what does not begin pausing where the first table does is of the other one.
        if self.platform.other_profiles and more.get('pkts_num_trig_pfc') != self.published['xoff_1']['pkts_num_trig_pfc']:
            tables = self.platform.other_profiles[ALPHA_8TH]
        module = test if '.' in test else 'sai_qos_tests.' + test
        return Case(self.platform, name, module, _common(self.platform) | more, used or [SOURCE, *SINKS], tables, weights, pool)

    def thresholds(self) -> Iterator[Case]:
        for name in ('xoff_1', 'xoff_2'):
            yield self.case(name, 'PFCtest', self.published[name])
        for name in ('xon_1', 'xon_2'):
            yield self.case(name, 'PFCXonTest', self.published[name])
        yield self.case('lossy_queue_1', 'LossyQueueTest', self.published['lossy_queue_1'])

    def headroom_pool(self) -> Iterator[Case]:
        if 'hdrm_pool_size' not in self.published:
            return
        wanted = self.published['hdrm_pool_size']
        more = wanted | {'src_port_ips': [platforms.address(each) for each in wanted['src_port_ids']],
                         'dst_port_ip': platforms.address(wanted['dst_port_id'])}
        used = [*wanted['src_port_ids'], wanted['dst_port_id']]
        yield self.case('hdrm_pool_size', 'HdrmPoolSizeTest', more, used=used)
        pool = {'hdrm_pool_wm_multiplier': self.published['hdrm_pool_wm_multiplier'], 'max_headroom': 4 * 208 * (
            wanted['pkts_num_hdrm_full'] * (wanted['pgs_num'] - 1) + wanted['pkts_num_hdrm_partial'])}
        yield self.case('hdrm_pool_size, watermark', 'HdrmPoolSizeTest', more | pool, used=used, pool=INGRESS_POOL)

    def watermarks(self) -> Iterator[Case]:
        published = self.published
        shared = published['wm_pg_shared_lossless']
        yield self.case('wm_pg_shared_lossless', 'PGSharedWatermarkTest', shared | {'pkts_num_fill_shared': shared['pkts_num_trig_pfc']})
        shared = published['wm_pg_shared_lossy']
        yield self.case('wm_pg_shared_lossy', 'PGSharedWatermarkTest', shared | {'pkts_num_fill_shared': shared['pkts_num_trig_egr_drp'] - 1})
        yield self.case('wm_pg_headroom', 'PGHeadroomWatermarkTest', published['wm_pg_headroom'])
        for name, trigger in (('wm_q_shared_lossless', 'pkts_num_trig_ingr_drp'), ('wm_q_shared_lossy', 'pkts_num_trig_egr_drp')):
            yield self.case(name, 'QSharedWatermarkTest', published[name] | {'pkts_num_trig_drp': published[name][trigger]})

    def pools(self) -> Iterator[Case]:
        lossless, lossy = self.published['wm_buf_pool_lossless'], self.published['wm_buf_pool_lossy']
        yield self.case('wm_buf_pool_lossless', 'BufferPoolWatermarkTest', lossless | {
            'pkts_num_margin': 0, 'queue': 0, 'pkts_num_fill_min': lossless['pkts_num_fill_ingr_min'],
            'pkts_num_fill_shared': lossless['pkts_num_trig_pfc']}, pool=INGRESS_POOL)
        yield self.case('wm_buf_pool_lossy', 'BufferPoolWatermarkTest', lossy | {
            'pkts_num_margin': 0, 'pg': 0, 'pkts_num_fill_min': lossy['pkts_num_fill_egr_min'],
            'pkts_num_fill_shared': lossy['pkts_num_trig_egr_drp']}, pool=EGRESS_LOSSY_POOL)

    def mappings(self) -> Iterator[Case]:
        yield self.case('DSCP to queue', 'DscpMappingPB', {'dual_tor': False, 'leaf_downstream': False})
        yield self.case('DSCP to priority group', 'DscpToPgMapping', {})

    def schedulers(self) -> Iterator[Case]:
        yield self.case('wrr', 'WRRtest', self.published['wrr'])
        changed = self.published['wrr_chg']
        yield self.case('wrr_chg', 'WRRtest', changed, weights=(changed['lossy_weight'], changed['lossless_weight']))

    def probe(self, module: str, test: str, ports: list[int], more: dict, published: int, overcounts: int = 0) -> Case:
        """A threshold probe: it searches for the point by itself, and holds what it finds against the published one."""
        sizes = {'ingress_lossless_pool_size': self.platform.ingress_pool, 'egress_lossy_pool_size': self.platform.egress_lossy_pool}
        where = {'probing_port_ids': ports, 'test_port_ips': {0: {0: {port: {'peer_addr': platforms.address(port)} for port in ports}}}}
        made = self.case('probe', f'{module}.{test}', sizes | where | more, used=ports)
        return replace(made, environment={'POINT_PROBING_LIMIT': '200'}, published=published, overcounts=overcounts)

    def probes(self) -> Iterator[Case]:
        limits, xon = self.published['xoff_1'], self.published['xon_1']
        yield self.probe('pfc_xoff_probing', 'PfcXoffProbing', [SOURCE, SINKS[0]], limits, limits['pkts_num_trig_pfc'])
        yield self.probe('ingress_drop_probing', 'IngressDropProbing', [SOURCE, SINKS[0]], limits, limits['pkts_num_trig_ingr_drp'])
        yield self.probe('pfc_xon_probing', 'PfcXonProbing', [SOURCE, *SINKS[:2]], xon, xon['pkts_num_dismiss_pfc'])
        lossy = self.published['lossy_queue_1'] | {'queue': 0}
        yield self.probe('egress_drop_probing', 'EgressDropProbing', [SOURCE, SINKS[0]], lossy, lossy['pkts_num_trig_egr_drp'])
        if 'hdrm_pool_size' in self.published:
            pool = self.published['hdrm_pool_size']
            # One source more than fill the pool: the probe ends when it finds a group without headroom.
            sources = [*pool['src_port_ids'], max(pool['src_port_ids']) + 1]
            size = pool['pkts_num_hdrm_full'] * (pool['pgs_num'] - 1) + pool['pkts_num_hdrm_partial']
            # It takes two cells less of each group's headroom than it counts (POINT_PROBING_STEP_SIZE).
            made = self.probe('headroom_pool_probing', 'HeadroomPoolProbing', [*sources, pool['dst_port_id']], pool, size,
                              2 * pool['pgs_num'])
            yield replace(made, hours=pool['pgs_num'] // 7)  # a group takes seven minutes and more

    def all(self) -> Iterator[Case]:
        for part in (self.thresholds, self.headroom_pool, self.watermarks, self.pools, self.mappings, self.schedulers, self.probes):
            yield from part()


def cases_of(platform: Platform, mgmt: Path) -> list[Case]:
    return list(_Maker(platform, mgmt).all())
