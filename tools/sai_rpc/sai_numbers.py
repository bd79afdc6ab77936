# SPDX-License-Identifier: Apache-2.0
"""The numbers that SAI's headers give to what the RPCs name: types of objects, attributes, counters, states.

Counters have their names here as `softspine show counters` prints them. Two that it does not print are sums over a
port's parts: what its priority groups, and what its queues have dropped for want of memory.
"""
from __future__ import annotations

# sai_object_type_t
PORT, QUEUE, SCHEDULER, BUFFER_POOL, INGRESS_PRIORITY_GROUP = 1, 21, 22, 24, 26

# sai_status_t
SUCCESS, NOT_SUPPORTED, INVALID_PARAMETER, ITEM_NOT_FOUND = 0, -2, -5, -7

# Attributes.
SWITCH_PORT_NUMBER, SWITCH_PORT_LIST = 0, 2
PORT_QOS_QUEUE_LIST, PORT_PRIORITY_GROUP_LIST, PORT_ADMIN_STATE, PORT_SCHEDULER_PROFILE, PORT_PKT_TX_ENABLE = 5, 27, 34, 82, 97
SCHEDULER_MAX_BANDWIDTH_RATE = 5

# Sums over parts, by the name of the part's counter.
IN_DROPPED, OUT_DROPPED = 'SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS', 'SAI_QUEUE_STAT_DROPPED_PACKETS'

_PORT = {0: 'IF_IN_OCTETS', 1: 'IF_IN_UCAST_PKTS', 2: 'IF_IN_NON_UCAST_PKTS', 3: 'IF_IN_DISCARDS', 4: 'IF_IN_ERRORS',
         6: 'IF_IN_BROADCAST_PKTS', 7: 'IF_IN_MULTICAST_PKTS', 9: 'IF_OUT_OCTETS', 10: 'IF_OUT_UCAST_PKTS',
         11: 'IF_OUT_NON_UCAST_PKTS', 12: 'IF_OUT_DISCARDS', 14: 'IF_OUT_QLEN', 15: 'IF_OUT_BROADCAST_PKTS',
         16: 'IF_OUT_MULTICAST_PKTS', 70: 'ECN_MARKED_PACKETS'}
_QUEUE = {0: 'PACKETS', 1: 'BYTES', 2: 'DROPPED_PACKETS', 3: 'DROPPED_BYTES', 24: 'CURR_OCCUPANCY_BYTES', 25: 'WATERMARK_BYTES',
          26: 'SHARED_CURR_OCCUPANCY_BYTES', 27: 'SHARED_WATERMARK_BYTES', 34: 'WRED_ECN_MARKED_PACKETS'}
_GROUP = {0: 'PACKETS', 2: 'CURR_OCCUPANCY_BYTES', 4: 'SHARED_CURR_OCCUPANCY_BYTES', 5: 'SHARED_WATERMARK_BYTES',
          6: 'XOFF_ROOM_CURR_OCCUPANCY_BYTES', 7: 'XOFF_ROOM_WATERMARK_BYTES', 8: 'DROPPED_PACKETS'}
_POOL = {0: 'CURR_OCCUPANCY_BYTES', 1: 'WATERMARK_BYTES', 19: 'XOFF_ROOM_CURR_OCCUPANCY_BYTES', 20: 'XOFF_ROOM_WATERMARK_BYTES'}


def _port_counters() -> dict[int, str]:
    out = {number: 'SAI_PORT_STAT_' + name for number, name in _PORT.items()}
    for priority in range(8):
        of_priority = f'SAI_PORT_STAT_PFC_{priority}_'
        out[103 + 2 * priority] = of_priority + 'RX_PKTS'
        out[104 + 2 * priority] = of_priority + 'TX_PKTS'
        out[135 + 2 * priority] = of_priority + 'RX_PAUSE_DURATION_US'
        out[151 + priority] = of_priority + 'ON2OFF_RX_PKTS'
    return out


IN_DROPPED_PKTS, OUT_DROPPED_PKTS = 99, 100
COUNTERS = {PORT: _port_counters(), QUEUE: {number: 'SAI_QUEUE_STAT_' + name for number, name in _QUEUE.items()},
            INGRESS_PRIORITY_GROUP: {number: 'SAI_INGRESS_PRIORITY_GROUP_STAT_' + name for number, name in _GROUP.items()},
            BUFFER_POOL: {number: 'SAI_BUFFER_POOL_STAT_' + name for number, name in _POOL.items()}}


def is_level(name: str) -> bool:
    """A level or a watermark: no count that starts at zero when it is cleared."""
    return 'CURR_OCCUPANCY' in name or name.endswith('_QLEN') or is_watermark(name)


def is_watermark(name: str) -> bool:
    return name.endswith('WATERMARK_BYTES')
