# SPDX-License-Identifier: Apache-2.0
"""The switches under test: a chip with SONiC's tables, all its ports linked, a TAP behind those that a test uses.

The tests name ports by their place in PTF, which here is their place at the switch. Ports that a test does not use lead
to a second switch, so that memory reserved for them is reserved.
"""
from __future__ import annotations

from dataclasses import dataclass

SUBNET, GATEWAY = '10.0.1.', '10.0.1.1'
LANES = 4  # Ethernet0, Ethernet4, …

TOMAHAWK2 = """    base: azure
    platform: tomahawk2
    BUFFER_POOL: {{ingress_lossless_pool: {{type: ingress, size: {pool}B, xoff: 7827456B}},
      egress_lossless_pool: {{type: egress, size: 42349632B}}, egress_lossy_pool: {{type: egress, size: 26663272B}}}}
    BUFFER_PROFILE:
      ingress_lossy_profile: {{pool: ingress_lossless_pool, size: 0B, static_th: 44302336B}}
      egress_lossless_profile: {{pool: egress_lossless_pool, size: 0B, static_th: 42349632B}}
      egress_lossy_profile: {{pool: egress_lossy_pool, size: 1664B, dynamic_th: -1}}
      pg: {{pool: ingress_lossless_pool, size: 1248B, xon: 2288B, xon_offset: 2288B, xoff: {xoff}B, dynamic_th: {alpha}}}
    BUFFER_PG: {{0: {{profile: ingress_lossy_profile}}, 3-4: {{profile: pg}}}}
    BUFFER_QUEUE: {{0-2: {{profile: egress_lossy_profile}}, 3-4: {{profile: egress_lossless_profile}}, 5-6: {{profile: egress_lossy_profile}}}}
"""


@dataclass(frozen=True)
class Platform:
    name: str        # of sonic-mgmt's file of parameters
    hwsku: str
    speed: str       # the key of the parameters of this rate and length
    rate: str
    ports: int
    ingress_pool: int       # ingress_lossless_pool and egress_lossy_pool of the tables, in bytes
    egress_lossy_pool: int
    profile: str     # the tables, as a testbed has them
    other_profiles: dict[str, str]  # by the value of alpha that a test's parameters need


def _tomahawk2(pool: int, xoff: int, alpha: int) -> str:
    return TOMAHAWK2.format(pool=pool, xoff=xoff, alpha=alpha)


# The file of th2 has parameters of two tables: XOFF at 19,939 cells is alpha 1; at 4,457 cells, alpha 1/8 and a larger
# pool, with headroom for 300 m at 50G.
ALPHA_8TH = 'alpha 1/8'
PLATFORMS = {
    'td2': Platform('td2', 'Arista-7050-QX-32S', '40000_300m', '40Gbps', 32, 12766208, 7326924, '    base: sonic-trident2-40g-300m\n', {}),
    'th': Platform('th', 'Arista-7060CX-32S-C32', '100000_300m', '100Gbps', 64, 10875072, 9243812, '    base: sonic-tomahawk-100g-300m\n', {}),
    'th2': Platform('th2', 'Arista-7260CX3-C64', '100000_300m', '100Gbps', 64, 33169344, 26663272,
                    _tomahawk2(33169344, 100880, 0),
                    {ALPHA_8TH: _tomahawk2(33329088, 141856, -3)}),
}


def port_name(number: int) -> str:
    return f'Ethernet{number * LANES}'


def tap_name(number: int) -> str:
    return f'eth{number}'


def mac(number: int) -> str:
    return f'06:00:00:00:00:{number:02x}'  # the fabric plans addresses that begin with 02


def address(number: int) -> str:
    return f'{SUBNET}{number + 10}'


def testbed(platform: Platform, used: list[int], tables: str, weights: tuple[int, int] | None) -> str:
    """`used`: the ports with a TAP. `weights`: of lossy and of lossless queues, if not SONiC's."""
    nodes = ['    dut: {kind: switch, role: tor, profile: it}', '    other: {kind: switch, role: aggregation}']
    links = []
    for number in range(platform.ports):
        peer = f'p{number}' if number in used else 'other'
        links.append(f'    - {{endpoints: ["dut:{port_name(number)}", {peer}], rate: {platform.rate}, length: 300m}}')
        if number in used:
            nodes.append(f'    p{number}: {{kind: host, mac: "{mac(number)}", address: {address(number)}, nic: {{pfc_enable: []}}, '
                         f'edge: {{tap: {{name: {tap_name(number)}}}}}}}')
    scheduler = '' if weights is None else (f'    SCHEDULER: {{scheduler.0: {{type: DWRR, weight: {weights[0]}}}, '
                                            f'scheduler.1: {{type: DWRR, weight: {weights[1]}}}}}\n')
    return '\n'.join(['name: sonic-tests', 'run: {clock: wall}', 'profiles:', '  it:', tables + scheduler + 'topology:', '  nodes:', *nodes,
                      '  links:', *links, ''])
