# SPDX-License-Identifier: Apache-2.0
"""DCQCN's reaction point against a second one, written from the paper and the adapter's documentation.

The second one is eager: a queue of timers, each expiry an event of its own, rates as whole numbers, the
estimate as a Fraction of 2^20 rounded where the header says so. Seeded sequences of CNPs and frames go
through both, by the two sets that have names and by sets in which every parameter is drawn, and every rate after
every event must be the same.
"""
import heapq
import os
import random
import subprocess
import sys
from fractions import Fraction
from math import ceil, floor

US = 1_000_000
MBPS = 1_000_000
ONE = 1 << 20

PAPER = dict(g=Fraction(1, 256), alpha=ONE, alpha_timer=55 * US, timer=55 * US, byte_counter=10_000_000, f=5,
             ai=40 * MBPS, hai=400 * MBPS, scales=True, least=1 * MBPS, most_cut=Fraction(1), monitor=0, clamp=True,
             clamp_after_time=True)
CONNECTX = dict(g=Fraction(1024 - 1019, 1024), alpha=1023 * 1024, alpha_timer=1 * US, timer=300 * US,
                byte_counter=32767 * 64, f=1, ai=5 * MBPS, hai=50 * MBPS, scales=True, least=1 * MBPS,
                most_cut=Fraction(1, 2), monitor=4 * US, clamp=False, clamp_after_time=True)


def drawn(rng):
    """A set of its own: every parameter somewhere within its limits, about where rates of a network can tell."""
    return dict(g=Fraction(rng.randint(1, 64), rng.choice([64, 256, 1000])), alpha=0, initial=Fraction(rng.randint(1, 7), 7),
                alpha_timer=rng.randint(US // 10, 200 * US), timer=rng.randint(US, 400 * US),
                byte_counter=rng.choice([64 * 500, 1_000_000, rng.randint(100_000, 20_000_000)]), f=rng.randint(0, 6),
                ai=rng.randint(1, 100) * MBPS, hai=rng.randint(100, 2000) * MBPS, scales=rng.random() < 0.5,
                least=rng.randint(1, 2000) * MBPS, most_cut=Fraction(rng.randint(1, 9), 9),
                monitor=rng.choice([0, 4 * US, 60 * US]), clamp=rng.random() < 0.5, clamp_after_time=rng.random() < 0.5,
                receivers_interval=rng.randint(1, 100 * US), receivers_delay=rng.randint(0, 100 * US))


def as_keys(p):
    """In the order of ReactionPoint::kKeys. No rate follows from the last two, which are the receiver's."""
    parts = (p["g"], p["initial"], p["alpha_timer"], p["timer"], p["byte_counter"], p["f"], p["ai"], p["hai"], p["scales"],
             p["least"], p["most_cut"], p["monitor"], p["clamp"], p["clamp_after_time"],
             p["receivers_interval"], p["receivers_delay"])
    return " ".join(f"{v.numerator} {v.denominator}" if isinstance(v, Fraction) else str(int(v)) for v in parts)


class Reference:
    def __init__(self, p, line):
        self.p, self.line = p, line
        self.rc = self.rt = line
        self.alpha = p["alpha"]
        self.t = self.b = self.bytes = 0
        self.last_cut = None
        self.limited = False
        self.queue = []  # (instant, kind, generation)
        self.generation = {"alpha": 0, "rate": 0}

    def start(self, kind, at):
        self.generation[kind] += 1
        heapq.heappush(self.queue, (at, kind, self.generation[kind]))

    def until(self, now):
        while self.queue and self.queue[0][0] <= now:
            at, kind, generation = heapq.heappop(self.queue)
            if generation != self.generation[kind]:
                continue
            if kind == "alpha":
                self.alpha = floor(self.alpha * (1 - self.p["g"]))
                if self.alpha:
                    self.start("alpha", at + self.p["alpha_timer"])
            elif self.limited:
                self.t += 1
                self.increase()
                self.start("rate", at + self.p["timer"])

    def increase(self):
        f = self.p["f"]
        if self.t > f and self.b > f:
            self.rt += (min(self.t, self.b) - f if self.p["scales"] else 1) * self.p["hai"]
        elif self.t > f or self.b > f:
            self.rt += self.p["ai"]
        self.rt = min(self.rt, self.line)
        self.rc = ceil(Fraction(self.rt + self.rc, 2))
        self.limited = self.rc < self.line

    def cnp(self, now):
        self.until(now)
        if self.last_cut is None or now - self.last_cut >= self.p["monitor"]:
            if self.p["clamp"] or not self.limited or self.b or (self.t and self.p["clamp_after_time"]):
                self.rt = self.rc
            cut = min(floor(Fraction(self.rc * self.alpha, 2 * ONE)), floor(self.rc * self.p["most_cut"]))
            self.rc = max(self.rc - cut, self.p["least"])
            self.limited = self.rc < self.line
            self.t = self.b = self.bytes = 0
            self.last_cut = now
            self.start("rate", now + self.p["timer"])
        self.alpha = min(ONE, floor(self.alpha * (1 - self.p["g"])) + floor(ONE * self.p["g"]))
        self.start("alpha", now + self.p["alpha_timer"])

    def sent(self, now, size):
        self.until(now)
        if not self.limited:
            return
        self.bytes += size
        while self.limited and self.bytes >= self.p["byte_counter"]:
            self.bytes -= self.p["byte_counter"]
            self.b += 1
            self.increase()


def sequence(rng, line):
    """Bursts of CNPs, frames at about the line rate, quiet times: all in one."""
    now = 0
    for _ in range(400):
        mood = rng.random()
        if mood < 0.35:
            for _ in range(rng.randint(1, 12)):
                now += rng.choice([0, 1, US, 4 * US, 50 * US, rng.randint(1, 80 * US)])
                yield ("cnp", now, 0)
        elif mood < 0.7:
            for _ in range(rng.randint(1, 40)):
                size = rng.choice([84, 1106, 4178, 1_000_000, 2_500_000])
                now += size * 8 * 10**12 // line
                yield ("sent", now, size)
        else:
            now += rng.choice([55 * US, 300 * US, rng.randint(1, 3000 * US)])
            yield ("ask", now, 0)


def main(program):
    seed = int(os.environ.get("SOFTSPINE_SEED", "1"))
    compared = 0
    for name in ("paper", "connectx", "own"):
        for line in (10_000 * MBPS, 40_000 * MBPS, 400_000 * MBPS):
            for round_ in range(12 if name == "own" else 4):
                rng = random.Random(f"{seed} {name} {line} {round_}")
                parameters = {"paper": PAPER, "connectx": CONNECTX}.get(name) or drawn(rng)
                keys = ""
                if name == "own":
                    keys = " " + as_keys(parameters)
                    parameters["alpha"] = floor(ONE * parameters["initial"])
                compared += compare(program, f"seed {seed} {name} {line} {round_}", f"new {name} {line}{keys}",
                                    Reference(parameters, line), list(sequence(rng, line)))
    print(f"{compared} rates are the reference's")


def compare(program, what, first, reference, events):
    text = first + "\n" + "".join(
        f"{kind} {at} {size}\n" if kind == "sent" else f"{kind} {at}\n" for kind, at, size in events)
    out = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
    found = [tuple(map(int, row.split())) for row in out.splitlines()]
    assert len(found) == len(events), (len(found), len(events))
    for event, rates in zip(events, found):
        kind, at, size = event
        reference.until(at)
        if kind == "cnp":
            reference.cnp(at)
        elif kind == "sent":
            reference.sent(at, size)
        expected = (reference.rc, reference.rt)
        assert rates == expected, f"{what} after {event}: {rates}, not {expected}"
        assert reference.p["least"] <= rates[0] <= rates[1] <= reference.line
    return len(events)


if __name__ == "__main__":
    main(sys.argv[1])
