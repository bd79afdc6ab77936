# SPDX-License-Identifier: Apache-2.0
"""softspine storm on several captures of one run: cut apart by port or switch, each by a clock of its own."""
from __future__ import annotations

import random
import struct
import sys
from pathlib import Path

import storm_captures as single
from softspine import Problems, Softspine, main
from storm_captures import Frame, block, option, padded

EPOCH_PS = 1_700_000_000 * 10**12


class Clock:
    """What it shows at a true time: `skew` later, `drift` (ppm) faster."""
    def __init__(self, skew_ps: int, drift_ppm: float) -> None:
        self.skew_ps, self.drift_ppm = skew_ps, drift_ppm

    def shown(self, at_ps: int) -> int:
        return EPOCH_PS + at_ps + self.skew_ps + round(at_ps * self.drift_ppm * 1e-6)


Seen = tuple[int, str, Frame]  # true time, the port that saw it, what


def write(path: Path, seen: list[Seen], peers: dict[str, str], ports: list[str], clock: Clock, names: bool = True) -> Path:
    """dumpcap on `ports` with flags that say which way frames went; nanoseconds."""
    nodes = [port.split(':')[0] for port in peers]
    out = [block(0x0A0D0D0A, struct.pack('<IHHq', 0x1A2B3C4D, 1, 0, -1))]
    for port in ports:
        told = f'link to {peers[port]}, one of {nodes.count(port.split(":")[0])} ports'
        out.append(block(1, struct.pack('<HHI', 1, 0, 262144) + option(2, (port if names else port.split(':')[1]).encode())
                         + (option(3, told.encode()) if names else b'') + option(8, struct.pack('<Q', 10**11)) + option(9, b'\x09')))
    for at_ps, port, frame in seen:
        ticks = clock.shown(at_ps) // 1000
        out.append(block(6, struct.pack('<IIIII', ports.index(port), ticks >> 32, ticks & 0xFFFFFFFF, len(frame.bytes), len(frame.bytes))
                         + padded(frame.bytes) + option(2, struct.pack('<I', 2 if frame.port == port else 1))))
    path.write_bytes(b''.join(out))
    return path


class Run:
    def __init__(self, it: Softspine, name: str) -> None:
        source, self.roots, self.verdict = single.RUNS[name]
        self.testbed = source if isinstance(source, Path) else it.write(f'{name}.yaml', source)
        it('run', self.testbed, '--capture', f'{name}.pcapng', '--snaplen', 64, '--quiet')
        self.frames, self.peers = single.read_pcapng(it.folder / f'{name}.pcapng')
        self.seen = single.seen_at_both_ends(self.frames, self.peers)

    def of(self, ports: list[str]) -> list[Seen]:
        return [it for it in self.seen if it[1] in ports]

    def parts(self, by_switch: bool) -> dict[str, list[str]]:
        out: dict[str, list[str]] = {}
        for port in self.peers:
            out.setdefault(port.split(':')[0] if by_switch else port, []).append(port)
        return out


def clocks(rng: random.Random, count: int) -> list[Clock]:
    """From microseconds to an hour, and what two crystals may differ by."""
    scale = (10**6, 10**9, 10**12, 3600 * 10**12)
    return [Clock(rng.randint(-1000, 1000) * rng.choice(scale) // 1000, rng.uniform(-90, 90)) for _ in range(count)]


def groups_of(report: dict) -> list[dict]:
    return report.get('groups', [report])


def roots_of(report: dict) -> set[str]:
    return {storm['root'] for group in groups_of(report) for storm in group['storms'] if storm['root']}


def cut(it: Softspine, run: Run, name: str, rng: random.Random, by_switch: bool) -> tuple[list[Path], dict[str, Clock]]:
    """A file for each switch or port and host that packets passed, in any order."""
    parts = [(part, ports) for part, ports in run.parts(by_switch).items() if any(not single.is_pause(it[2]) for it in run.of(ports))]
    by = clocks(rng, len(parts))
    files = [write(it.folder / f'{name}-{part.replace(":", "-")}.pcapng', run.of(ports), run.peers, ports, clock)
             for (part, ports), clock in zip(parts, by)]
    known = {file.name: clock for file, clock in zip(files, by)}
    rng.shuffle(files)
    return files, known


def wrong_clocks(name: str, report: dict, known: dict[str, Clock]) -> Problems:
    """Each skew lies within its uncertainty of the true one, taken when that capture begins; so does nothing by luck."""
    for group in groups_of(report):
        for it in group['clocks'][1:]:
            reference = known[group['clocks'][0]['file']]
            its = known[it['file']]
            true_s = (its.skew_ps - reference.skew_ps) * 1e-12
            allowed = it['uncertainty_ps'] * 1e-12 + 10e-3 * 180e-6 + 2e-9  # when it begins: within 10 ms at 180 ppm
            if abs(it['skew_seconds'] - true_s) > allowed:
                yield f'{name}: {it["file"]} is {it["skew_seconds"]} s from {group["clocks"][0]["file"]}, but it is {true_s} ± {allowed}'
            if abs(it['drift_ppm']) > 200.001:
                yield f'{name}: a drift of {it["drift_ppm"]} ppm'


def names_the_same_root(it: Softspine) -> Problems:
    """one capture of each switch, host or port, clocks of their own, any order: the root of the single capture"""
    rng = random.Random(7)
    for name in single.RUNS:
        run = Run(it, name)
        for by_switch in (True, False):
            files, known = cut(it, run, name, rng, by_switch)
            done = it('storm', *files, '--json')
            yield from done.exited(0)
            report = done.json()
            told = f'{name}, by {"switch" if by_switch else "port"}'
            yield from wrong_clocks(told, report, known)
            if roots_of(report) != run.roots or (by_switch and report['verdict'] != run.verdict):
                yield f'{told}: {report["headline"]} ({report["verdict"]}, roots {roots_of(report)}), but it is {run.verdict} by {run.roots}'
            if by_switch and len(groups_of(report)) != 1:
                yield f'{told}: {len(groups_of(report))} time lines: {[group["notes"] for group in groups_of(report)]}'


def never_orders_what_shares_nothing(it: Softspine) -> Problems:
    """captures without a common packet are said to be apart, and are judged apart; the user may know better"""
    run = Run(it, 'storm')
    pauses = [seen for seen in run.seen if single.is_pause(seen[2])]
    h1, tor1 = (write(it.folder / f'{node}.pcapng', [seen for seen in pauses if seen[1].startswith(f'{node}:') and seen[2].port == seen[1]],
                      run.peers, [port for port in run.peers if port.startswith(f'{node}:')], Clock(0, 0)) for node in ('h1', 'tor1'))
    apart = it('storm', tor1, h1)
    yield from apart.exited(0)
    yield from apart.says('h1.pcapng: it shares no packet with the others', 'a time line of its own', 'STORM: root h1',
                          'STORM: from tor1 or from behind it')
    together = it('storm', tor1, h1, '--clocks-within', '1us', '--json').json()
    if roots_of(together) != {'h1'} or len(together['storms']) != 1:
        yield f'--clocks-within: {together["headline"]}, {len(together["storms"])} storms'
    for arguments, said in (((tor1, tor1), 'is given twice'), ((tor1, '-'), 'each has to be a file'), ((tor1, 'none'), 'No such file')):
        done = it('storm', *arguments)
        yield from done.exited(2)
        yield from done.complains(said)


def takes_a_name_once(it: Softspine) -> Problems:
    """tor1=FILE whose interfaces are tor1:Ethernet0 already: these are their names"""
    run = Run(it, 'storm')
    files = by_switch(it, run, 'storm', '', Clock(0, 0))
    plain, named = (it('storm', *which, '--json').json() for which in (files, [f'{file.stem.removeprefix("storm-")}={file}' for file in files]))
    if plain['storms'] != named['storms'] or roots_of(named) != run.roots:
        yield f'{named["headline"]}, but without names {plain["headline"]}'


class SetClock(Clock):
    """Set while it captured: from a true time on by so much more."""
    def __init__(self, from_ps: int, by_ps: int, until_ps: int = 2**63) -> None:
        super().__init__(5 * 10**9, 20)
        self.from_ps, self.by_ps, self.until_ps = from_ps, by_ps, until_ps

    def shown(self, at_ps: int) -> int:
        return super().shown(at_ps) + (self.by_ps if self.from_ps <= at_ps < self.until_ps else 0)


def by_switch(it: Softspine, run: Run, name: str, node: str, clock: Clock) -> list[Path]:
    """A file for each switch or host, all by one clock but the node's."""
    parts = [(part, ports) for part, ports in run.parts(True).items() if any(not single.is_pause(seen[2]) for seen in run.of(ports))]
    return [write(it.folder / f'{name}-{part}.pcapng', run.of(ports), run.peers, ports, clock if part == node else Clock(0, 0)) for part, ports in parts]


def says_whose_clock_was_set(it: Softspine) -> Problems:
    """in the middle, ahead or back: that capture is told of and stands alone; no wrong root, and a deadlock is not called healthy"""
    for name, node in (('storm', 'tor1'), ('two-storms', 'h8'), ('deadlock', 's1'), ('healthy', 'tor1')):
        run = Run(it, name)
        middle = max(seen[0] for seen in run.seen) // 2
        for seconds in (5, -5):
            report = it('storm', *by_switch(it, run, name, node, SetClock(middle, seconds * 10**12)), '--json').json()
            told = f'{name}, {node} set by {seconds} s'
            notes = [note for group in groups_of(report) for note in group['notes']]
            for words in (f'{name}-{node}.pcapng: its clock was set meanwhile', f'the clock was set {"ahead" if seconds > 0 else "back"} by 5 s'):
                if not any(words in note for note in notes):
                    yield f'{told}: no note has "{words}": {notes}'
            if roots_of(report) - run.roots:
                yield f'{told}: roots {roots_of(report)}, but it is {run.roots}'
            if (report['verdict'] in ('storm', 'deadlock')) != (run.verdict in ('storm', 'deadlock')):
                yield f'{told}: {report["verdict"]}, but it is {run.verdict}'


def keeps_a_silence_together(it: Softspine) -> Problems:
    """nothing for five seconds, then the run goes on: one time line and the same root as without, if packets were shared on both sides"""
    for name in ('storm', 'healthy'):
        run = Run(it, name)
        grouped = {}
        for pause in (0, 5 * 10**12):
            begin = max(seen[0] for seen in run.seen) // 20  # before the storm stops all
            seen = run.seen
            run.seen = [(at_ps + (pause if at_ps >= begin else 0), port, frame) for at_ps, port, frame in seen]
            report = it('storm', *by_switch(it, run, name, 'tor1', Clock(10**9, 20)), '--json').json()
            run.seen = seen
            grouped[pause] = sorted(sorted(clock['file'] for clock in group['clocks']) for group in groups_of(report))
            length_ms = groups_of(report)[0]['capture']['length_ps'] / 1e9
            if pause and length_ms > 100:
                yield f'{name}: the silence is a part of the {length_ms} ms'
            if roots_of(report) != run.roots:
                yield f'{name}, {pause} ps: roots {roots_of(report)}, but it is {run.roots}'
        shared = [files for files in grouped[0] if f'{name}-tor1.pcapng' in files]
        if not any(set(files) <= set(group) for files in shared for group in grouped[5 * 10**12]):
            yield f'{name}: with a silence {grouped[5 * 10**12]}, without {grouped[0]}'


def says_steps_that_the_user_knows_better(it: Softspine) -> Problems:
    """--clocks-within, one clock set ahead: on the time line that was asked for, and the step is told with its file"""
    run = Run(it, 'storm')
    middle = max(seen[0] for seen in run.seen) // 2
    report = it('storm', *by_switch(it, run, 'storm', 'tor1', SetClock(middle, 5 * 10**12)), '--clocks-within', '1s', '--json').json()
    notes = groups_of(report)[0]['notes']
    if len(groups_of(report)) != 1 or not any(note.startswith('storm-tor1.pcapng: at ') and 'the clock was set ahead by 5 s' in note for note in notes):
        yield f'{len(groups_of(report))} time lines, {notes}'


def leaves_out_a_frame_of_another_day(it: Softspine) -> Problems:
    """one frame of one capture a day later: the verdict and roots as without it, on one time line, and it is counted"""
    run = Run(it, 'storm')
    times = sorted(seen[0] for seen in run.of(run.parts(True)['tor1']))
    at = times[len(times) // 2]
    report = it('storm', *by_switch(it, run, 'storm', 'tor1', SetClock(at, 86_400 * 10**12, at + 1)), '--json').json()
    if report['verdict'] != run.verdict or roots_of(report) != run.roots or len(groups_of(report)) != 1:
        yield f'{report["verdict"]}, roots {roots_of(report)}, {len(groups_of(report))} time lines: {groups_of(report)[0]["notes"]}'
    notes = groups_of(report)[0]['notes']
    if not any('without a time that can be' in note for note in notes) or groups_of(report)[0]['capture']['frames_without_time'] != 1:
        yield f'does not say what was left out, once: {notes}'
    if any('clock was set' in note for note in notes):
        yield f'takes it for a step of the clock: {notes}'


def tells_equal_names_apart(it: Softspine) -> Problems:
    """Ethernet0 of two switches: by file, until the command line or a list says whose it is"""
    run = Run(it, 'storm')
    files = []
    for node, clock in (('tor1', Clock(0, 0)), ('spine1', Clock(5 * 10**9, 20)), ('h1', Clock(-10**12, -20))):
        ports = [port for port in run.peers if port.startswith(f'{node}:')]
        files.append(write(it.folder / f'{node}.pcapng', run.of(ports), run.peers, ports, clock, names=False))
    report = it('storm', *files, '--json').json()
    names = [port['name'] for node in report['nodes'] for port in node['ports']]
    if 'tor1.pcapng/Ethernet0' not in names or 'spine1.pcapng/Ethernet0' not in names or roots_of(report):
        yield f'names: {names}, roots {roots_of(report)}'
    named = it('storm', *(f'{file.stem}={file}' for file in files), '--json').json()
    if roots_of(named) != {'h1'}:
        yield f'with places: {named["headline"]}'
    if [clock['skew_seconds'] for clock in named['clocks'] if clock['file'] == 'h1.pcapng'][0] > -0.999:
        yield f'clocks: {named["clocks"]}'


if __name__ == '__main__':
    sys.exit(main([names_the_same_root, never_orders_what_shares_nothing, tells_equal_names_apart, takes_a_name_once, says_whose_clock_was_set,
                   keeps_a_silence_together, says_steps_that_the_user_knows_better, leaves_out_a_frame_of_another_day]))
