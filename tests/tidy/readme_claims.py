# SPDX-License-Identifier: Apache-2.0
"""Which test holds which claim of README.md: each sentence (or row of a table) that has a number in it, with `FILE WORD`
places. FILE is there and has WORD in it: a test's name, or what else makes the sentence true."""
from __future__ import annotations

COMMAND = 'tests/wire/command/'
SHIPPED = 'tests/scenario/run/shipped_test.cpp IsAsItExpectsItselfToBe'

CLAIMS: dict[str, list[str]] = {
    'Debian 12 on x86-64 with AVX2.': ['tools/packages Debian 12', 'meson.build -march=x86-64-v3'],
    'A thousand times slower than configured, 20 ms last 20 s:': [COMMAND + 'wall_clock.py slows_down_by_the_dilation'],
    '`softspine bench` says how fast this machine forwards: packet-hops per second and cycles per packet-hop of one polling core, '
    'and of the virtual clock with 64 hosts.': ['tests/bench/instructions.py a permutation of 64 hosts'],
    '| 0 | done, and as expected |': [COMMAND + 'one_run.py exits_as_expected'],
    '| 1 | an expectation failed, or a command of an outside host; a file could not be written; memory for packets ran out; '
    "the run's counters do not add up; something went wrong in the run |":
        [COMMAND + 'one_run.py exits_as_expected', COMMAND + 'one_run.py ends_where_memory_ends', COMMAND + 'run_errors.py keeps_an_old_report'],
    'What goes wrong while a fabric runs (a disk that is full, an interface that is deleted, a capture whose reader leaves) is on stderr '
    'at once, in `show fabric`, in the summary and the report (`errors`) and in `softspine_errors_total`; the fabric runs on, and the '
    'exit status is 1.':
        [COMMAND + 'run_errors.py bears_a_reader_that_leaves', COMMAND + 'run_errors.py says_that_a_disk_is_full',
         COMMAND + 'run_errors.py sees_interfaces_vanish'],
    'Without `duration` a virtual run lasts 10 ms, a wall run until the commands of its outside hosts have ended, or Ctrl-C.':
        ['tests/unit/config/run_test.cpp WithoutADurationAWallRunHasNoEndAndAVirtualOneLastsTenMilliseconds',
         COMMAND + 'one_run.py lasts_until_it_is_stopped'],
    '| 2 | the input was wrong, or nothing could be started |': [COMMAND + 'wrong_input.py names_place_of_errors'],
    '`--strict`: any warning is status 1.': [COMMAND + 'warnings.py is_strict_if_asked'],
    'Without `dscp` a workload takes the least that is lossless on every link that its packets may take while all links are up, and 26 '
    'if there is none.': ['tests/unit/qos/service_test.cpp AWorkloadTakesTheLeastDscpThatIsLosslessOnAllItsWays'],
    "Hosts outside choose themselves: perftest's `--tclass 14` is DSCP 3 and ECT(0) (0 if not given: lossy), `softspine-verbs --dscp "
    "3`; or `nic: {dscp: 3}` writes it for them.": ['tests/unit/qos/service_test.cpp TellsHostsOutsideWhichDscpsAreLossless'],
    '`softspine check` says which lossless ports have too little headroom for their rate, length and MTU, and how often a shared '
    'headroom pool is promised (`--strict`: status 1).':
        [COMMAND + 'readme.py strict_is_a_failure', 'tests/unit/qos/headroom_test.cpp SumsUpWhatASharedHeadroomPoolIsPromised'],
    "`flow_control: credit` of a link (or of `host_link`, `fabric_link`) sends its lossless priorities by credit instead of PFC, as "
    "InfiniBand's links do: no port sends what the other end has no room for, a group's headroom (`xoff`) being that room, and a "
    "built-in host's 128 KiB a priority.":
        ['tests/scenario/hosts/credit_host_test.cpp PromisesAHundredAndTwentyEightKibibytesAPriority'],
    "Hashing the 5-tuple and the QP cost 4 to 14 cycles a packet where it was measured, RTAG7's up to 23; the bench `hashing` allows "
    "three times that.": ['tests/bench/hashing/hashing_bench.cpp kMostUsualCycles', 'tests/bench/hashing/hashing_bench.cpp kMostRtag7Cycles'],
    '`softspine-verbs` sends RDMA writes over 1 to 32 queue pairs between guests, or between hosts with any RoCEv2 device, and looks '
    'at every byte where it arrives.': ['tests/unit/verbs/terms_test.cpp {"qps", 33}'],
    '| two-tier | virtual | 4 racks, 4 spines, 16 hosts, a permutation at 40 Gb/s: nothing dropped, ECMP uneven | |':
        [SHIPPED, COMMAND + 'readme.py tells_the_same_of_two_tier'],
    '| idle-fabric | virtual | 300 switches of which two hosts use three: what is idle costs nothing | |':
        ['tests/scenario/run/shipped_test.cpp IdleFabricIsAsExpectedAndRunsOnlyTheNodesInUse'],
    '| e-ecmp | virtual | 16 queue pairs with one source port: one uplink by the 5-tuple, spread by a UDF on the destination QP;':
        [SHIPPED],
    'QP scaling: 1, 4, 16 give 50, 80, 95 % of the uplinks | |': [SHIPPED],
    '| dcqcn-convergence | virtual | two DCQCN flows on one link come within 5 % of each other | |': [SHIPPED],
}
