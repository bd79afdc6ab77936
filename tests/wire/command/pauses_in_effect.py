# SPDX-License-Identifier: Apache-2.0
"""For how long the pauses of a run's capture were in effect, by the frames alone: from an XOFF and its reaction time to the XON, or until the quanta are over.

It is what ns-3 counts as paused: a frame that is leaving when its pause takes effect is not left out, as paused_ps of the report leaves it out.
"""
from __future__ import annotations

import struct
from pathlib import Path

from storm_captures import read_pcapng


def in_effect_ps(capture: Path, reaction_ps: int, quantum_ps: int) -> int:
    """Of links that are all alike, so that what is between two frames of a link is what is between their arrivals."""
    frames, _ = read_pcapng(capture)
    spans: dict[tuple[str, int], tuple[int, int]] = {}
    total = 0
    for frame in sorted(frames, key=lambda it: it.at_ps):
        _, enable, *quanta = struct.unpack_from('>HH8H', frame.bytes, 14)
        for priority in range(8):
            if not enable >> priority & 1:
                continue
            begun, until = spans.pop((frame.port, priority), (0, 0))
            goes_on = frame.at_ps < until and quanta[priority] != 0
            if not goes_on:
                total += max(min(until, frame.at_ps) - begun - reaction_ps, 0)
            if quanta[priority] != 0:
                spans[frame.port, priority] = begun if goes_on else frame.at_ps, frame.at_ps + quanta[priority] * quantum_ps
    return total + sum(max(until - begun - reaction_ps, 0) for begun, until in spans.values())
