# SPDX-License-Identifier: Apache-2.0
"""Edges over devices that DPDK makes itself: `edge: {dpdk: …}`."""
from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from one_run import tshark
from outside_testbeds import need_programs
from softspine import TESTBEDS, Problems, Skip, Softspine, main, need_xdp


# One fabric of two processes: a rack here, a rack there, and a memif in between. MACs are given, for each process
# counts its own from the same first one.
RACK = '''name: {name}
run: {{clock: wall, duration: 5min}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
    {host}: {{kind: host, address: 10.0.1.{number}, mac: "02:00:00:00:aa:{number}", namespace: {{timeout: 5min, run: "{run}"}}}}
    peer: {{kind: host, address: 10.0.1.1{number}, mac: "02:00:00:00:bb:{number}", edge: {{dpdk: "net_memif0,role={role},socket={socket},socket-abstract=no"}}}}
  links:
    - {{endpoints: [tor1, {host}], rate: 10Gbps}}
    - {{endpoints: [tor1, peer], rate: 10Gbps}}
'''
# Says so each time the other end of the memif has come, or gone.
WATCH = ('see() { until ping -n -c 3 -i 0.05 -W 1 10.0.1.22; do :; done; ping -n -c 3 -i 0.05 -M do -s 1472 -W 5 10.0.1.22 || exit 1; touch seen.$1; }; '
         'see first; while ping -n -c 1 -W 1 10.0.1.22; do :; done; touch missed; see again')


def await_file(path: Path, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > until:
            raise AssertionError(f'{path.name} did not happen within {seconds} s')
        time.sleep(0.05)


def memif(it: Softspine) -> Problems:
    """a memif joins two fabrics; the one that stays finds the other again after it was killed"""
    need_programs('ip', 'ping')
    if os.geteuid() != 0:
        raise Skip('namespaces need root')
    socket = it.folder / 'm.sock'
    here = it.write('here.yaml', RACK.format(name='here', host='h1', number=11, role='server', socket=socket, run=WATCH))
    there = it.write('there.yaml', RACK.format(name='there', host='h2', number=22, role='client', socket=socket, run='sleep 300'))
    h1 = it.folder / 'o' / 'h1'
    with it.running(here, '--folder', it.folder / 'o', '--report', 'here.json') as staying:
        with it.running(there) as gone:
            await_file(h1 / 'seen.first', 60)
            gone.end(signal.SIGKILL)
        await_file(h1 / 'missed', 60)
        with it.running(there):
            await_file(h1 / 'seen.again', 60)
            ended = staying.end(signal.SIGCONT, timeout=60)  # by itself, its command being over
    yield from ended.exited(0)


def pcap_device(it: Softspine) -> Problems:
    """frames come in by DPDK's own pcap device; a fabric in which nothing more happens ends in time"""
    came = it.folder / 'came.pcap'
    shutil.copy(TESTBEDS / 'replay' / 'in.pcap', it.folder)
    file = it.write('pcap.yaml', (TESTBEDS / 'replay.yaml').read_text().split('\nexpect:')[0]
                    .replace('clock: virtual, duration: 1s', 'clock: wall, duration: 3s')
                    .replace('{pcap: {in: replay/in.pcap}}', f'{{dpdk: "net_pcap0,rx_pcap={it.folder}/in.pcap,tx_pcap={it.folder}/back.pcap"}}')
                    .replace('replay/out.pcap', str(came)))
    done = it('run', file)
    yield from done.exited(0)
    if not 3 <= done.seconds < 10:
        yield f'3 s took {done.seconds:.1f} s'
    wanted, found = (sorted(tshark('-r', capture, '-T', 'fields', '-e', 'udp.payload').split()) for capture in (it.folder / 'in.pcap', came))
    if wanted != found or not wanted:
        yield f'{len(wanted)} frames went in, {len(found)} came out, {len(set(wanted) & set(found))} of them the same\n{done.out}'


# h1 is the kernel of the run's own network namespace, behind a veth.
XDP = '''name: xdp
run: {clock: wall, duration: 60s}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    h1: {kind: host, address: 10.0.1.11, mac: "02:00:00:00:aa:01", edge: {dpdk: "net_af_xdp0,iface=xdp0"}}
    h2: {kind: host, address: 10.0.1.12, namespace: {run: "ping -n -c 20 -i 0.02 10.0.1.11 && ping -n -c 20 -i 0.02 -s 2972 -M do 10.0.1.11; ping -n -c 2 -i 0.1 -W 1 -s 3600 -M do 10.0.1.11; echo $? >alone"}}
  links:
    - {endpoints: [tor1, h1], rate: 10Gbps, mtu: 4000}
    - {endpoints: [tor1, h2], rate: 10Gbps, mtu: 4000}
expect:
  - {value: edges.h1.out_packets, at_least: 40}
  - {value: edges.h1.out_drops.oversize, equal: 2}
'''
VETH = ('ip link set lo up && ip link add xdp0 type veth peer name peer && ip link set peer address 02:00:00:00:aa:01 && '
        'ip addr add 10.0.1.11/24 dev peer && ip link set xdp0 mtu 3000 up && ip link set peer mtu 3000 up && exec "$0" "$@"')


def af_xdp(it: Softspine) -> Problems:
    """an AF_XDP edge takes frames up to what the kernel takes, and the rest is counted and said"""
    need_programs('ip', 'ping')
    if os.geteuid() != 0:
        raise Skip('namespaces need root')
    need_xdp()
    done = subprocess.run(['unshare', '--net', 'sh', '-c', VETH, it.binary, 'run', it.write('xdp.yaml', XDP), '--folder', it.folder / 'o', '--report',
                           'report.json'], env=it.env, cwd=it.folder, capture_output=True, text=True, timeout=120, check=False)
    pings = (it.folder / 'o' / 'h2' / 'stdout').read_text() if (it.folder / 'o' / 'h2').exists() else ''
    if done.returncode != 0 or pings.count(' 0% packet loss') != 2 or '100% packet loss' not in pings:
        yield f'ended with {done.returncode}; h2 said {pings[-900:]}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}'
    if 'the device takes an MTU of ' not in done.stderr:
        yield f'nobody says that the link has a larger MTU: {done.stderr[-900:]}'


def af_xdp_without_interface(it: Softspine) -> Problems:
    """an AF_XDP edge on an interface that is not there: its name, and those that are"""
    done = it('run', it.write('xdp.yaml', XDP.replace('iface=xdp0', 'iface=nosuch')))
    yield from done.exited(2)
    yield from done.complains('h1: ', 'there is no interface nosuch; there are: lo')
    if 'Operation not permitted' in done.err:
        yield f'DPDK speaks for itself: {done.err}'


PCI = '''name: pci
run: {clock: wall, duration: 100ms}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    h1: {kind: host, edge: {dpdk: "DEVICE"}}
  links: [{endpoints: [tor1, h1], rate: 10Gbps}]
'''


def free_hugepage_bytes() -> int:
    sizes = Path('/sys/kernel/mm/hugepages').glob('hugepages-*kB')
    return sum(int((size / 'free_hugepages').read_text()) * (int(size.name[10:-2]) << 10) for size in sizes)


def without_hugepages(it: Softspine) -> Problems:
    """a PCI device without hugepages: how much is wanted, how much is free, and the command that makes them"""
    if free_hugepage_bytes() >= 256 << 20:
        raise Skip('there are hugepages here')
    done = it('run', it.write('pci.yaml', PCI.replace('DEVICE', '0000:ff:1f.7')))
    yield from done.exited(2)
    yield from done.complains('a PCI device needs ', ' MiB of hugepages, and ', 'as root: echo ', '/nr_hugepages')
    if 'Permission denied' in done.err or 'EAL' in done.err:
        yield f'DPDK speaks for itself: {done.err}'


def drivers_by_need(it: Softspine) -> Problems:
    """DPDK's drivers are loaded for its devices: built-in hosts alone load none, which is half of a small run's start"""
    loaded = {}
    for name, file in (('null', it.write('null.yaml', PCI.replace('DEVICE', 'net_null0'))), ('built-in', TESTBEDS / 'two-tier.yaml')):
        words = it.folder / f'{name}.loaded'
        done = subprocess.run([it.binary, 'run', file, '--duration', '10us', '--quiet', '--no-server'], cwd=it.folder, capture_output=True, text=True,
                              timeout=60, check=False, env={**it.env, 'LD_DEBUG': 'files', 'LD_DEBUG_OUTPUT': str(words)})
        if done.returncode not in (0, 1):
            yield f'{name} exits with {done.returncode}: {done.stderr[-300:]}'
        text = ''.join(path.read_text() for path in it.folder.glob(f'{words.name}.*'))
        loaded[name] = 'librte_net_null.so' in text
    if loaded != {'null': True, 'built-in': False}:
        yield f'net_null is loaded: {loaded}'


def without_memory(it: Softspine) -> Problems:
    """too little memory is called that, with the limit and the command that lifts it, however little there is"""
    file = it.write('null.yaml', PCI.replace('DEVICE', 'net_null0'))
    seen = set()
    for mebibytes in range(150, 800, 25):
        limits = [resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20)]
        done = subprocess.run([it.binary, 'run', file], env=it.env, cwd=it.folder, capture_output=True, text=True, timeout=60,
                              check=False, preexec_fn=lambda: resource.setrlimit(*limits))
        seen.add(done.returncode)
        if done.returncode not in (0, 2) or (done.returncode == 2 and 'ulimit -v unlimited' not in done.stderr):
            yield f'with {mebibytes} MiB it exits with {done.returncode}: {done.stderr[-300:]}'
    if seen != {0, 2}:
        yield f'all ended with {seen}: the limits are not those between too little and enough'


if __name__ == '__main__':
    sys.exit(main([memif, pcap_device, af_xdp, af_xdp_without_interface, without_hugepages, drivers_by_need, without_memory]))
