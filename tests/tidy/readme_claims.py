# SPDX-License-Identifier: Apache-2.0
"""Which test holds which claim of README.md and docs/: for each page, each sentence (or row of a table) that has a number in it, with
`FILE WORD` places. FILE is there and has WORD in it: a test's name, or what else makes the sentence true."""
from __future__ import annotations

from lab_claims import LAB_CLAIMS

COMMAND = 'tests/wire/command/'
TOPOLOGY = 'tests/unit/topology/'
SHIPPED = 'tests/scenario/run/shipped_test.cpp IsAsItExpectsItselfToBe'
EXIT = [COMMAND + 'one_run.py exits_as_expected']
DILATION = [COMMAND + 'wall_clock.py slows_down_by_the_dilation']
IDENTIFY = 'tests/model/identify/'
REPRODUCED = [COMMAND + 'reproduce.py is_what_the_page_says']
THRESHOLDS = 'tests/unit/qos/thresholds_test.cpp '
NS3 = [COMMAND + 'readme.py is_beside_ns3_what_the_page_says']

CLAIMS: dict[str, dict[str, list[str]]] = {
    'README.md': {
        'You need Debian 12 on x86-64 with AVX2.': ['tools/packages Debian 12', 'meson.build -march=x86-64-v3'],
        'At a thousandth of its speed, the 20 ms of this testbed take 20 s.': DILATION,
    },
    **LAB_CLAIMS,
    'docs/recording.md': {
        "- Samples are taken at the multiples of `--record-interval`: a thousandth of the run's duration, at least 10 us, if it is not given; 1 ms if the run has no duration.":
            ['tests/scenario/run/recording_test.cpp IsAThousandthOfTheDuration'],
        'What a killed run has recorded is readable: rows are committed in batches of 16,384, or of half a second of emulated time, and SQLite takes back a batch that was cut off.':
            ['control/record/sqlite_recording.hpp kBatchRows = 1 << 14', 'control/record/sqlite_recording.hpp kOldest = dataplane::Duration::ms(500)',
             COMMAND + 'recording.py leave_a_readable_file'],
        'On a full disk the run goes on, says so, and ends with status 1.': ['tests/scenario/run/recording_test.cpp ThatFindsTheDiskFullSaysSoAndKeepsWhatItHas'],
        'The longest time without any change of flow_id 4, and the fullest queue at the end of it.': [COMMAND + 'recording.py full_queue'],
        'After 4,000,000 members no more are recorded, and a row of `hash_tables` without a switch says so.':
            ['tests/scenario/run/recorded_changes_test.cpp SayWhichGroupsAreTheLast'],
        "Of ranks' steps 5,000,000 are recorded;": ['tests/scenario/run/recorded_changes_test.cpp EndWhereThereAreTooMany'],
        'Every list has an end and large tiers are folded: the page of a pod of 15,360 hosts is less than 5 MB.':
            [COMMAND + 'report_page.py a_large_fabric_is_a_small_page'],
    },
    'docs/tutorial-pfc-storm.md': {
        'Ten thousand times slower than in the network, its 10 ms take 100 s:': DILATION,
        'Open http://127.0.0.1:8643 in a browser; if the fabric runs on another machine, reach it by `ssh -L 8643:127.0.0.1:8643 MACHINE`. h1 storms after 10 s.': DILATION,
        "tshark -i softspine:storm:tor1:Ethernet0 -f 'ether proto 0x8808' -c 5": [COMMAND + 'extcap.py obeys_its_options'],
    },
    'docs/perfetto.md': {
        "- The interval of occupancies is that of a recording if `--trace-interval` does not set one: a thousandth of the run's duration, at least 10 us.":
            ['tests/scenario/run/recording_test.cpp IsAThousandthOfTheDuration', 'tools/softspine/run_files.cpp usual_record_interval'],
        'On a full disk the run goes on, says so, and ends with status 1.':
            ['tests/scenario/run/trace_test.cpp ThatFindsTheDiskFullSaysSoOnceAndIsReadableUpToThere', COMMAND + 'perfetto_trace.py ends_well_on_a_full_disk'],
    },
    'docs/failures.md': {
        "| the receiver | the sender, by timeouts alone: the receiver's ToR drops as `neighbour_incomplete` | `path_change_after` × 4.096 µs × 2^`ack_timeout`, then the sender takes its other port | dual-tor-failure-receiver |":
            ['tests/scenario/run/planes_test.cpp dual-tor-failure-receiver'],
        'If nothing is set, the second is 2 × 67.1 ms = 134.2 ms; with `path_change_after: 1` half of that, with `ack_timeout: 8` 2.1 ms.':
            ['tests/scenario/run/planes_test.cpp dual-tor-failure-receiver'],
        'NCCL sets a timeout of 20 (4.29 s) and 7 retries, and its port failover (off by default, since 2.30) begins only when the queue pair has failed, after 34 s:':
            ['testbeds/dual-tor-failure-receiver.yaml NCCL\'s timeout (20) and retries (7)'],
        '`path_change_after: 7` comes nearest (30.1 s).':
            ['tests/scenario/run/planes_test.cpp dual-tor-failure-receiver'],
    },
    'docs/running.md': {
        'The path is that of error messages; items of a list have numbers from 0, and `*` is every entry.':
            ['tests/unit/config/setting_test.cpp ReachesItemsOfLists'],
        '| `--over PATH` | mean, its 95 % confidence (Student\'s t), deviation, least and most over that path, usually `run.seed` |':
            ['tests/unit/sweep/sweep_table_test.cpp HasMeansOverARepeatedPath'],
        'A combination that fails is a row with its error, and the exit status is then 1.': [COMMAND + 'sweep.py has_what_single_runs_have'],
        'Percentiles are by nearest rank: those of completion times are exact, those of latencies within 0.4 % (they are kept in histograms of 128 buckets to each doubling; the least, the mean and the greatest are exact).':
            ['tests/unit/units/histogram_test.cpp QuantilesAreWithinA256thOfTheSortedSamples',
             'tests/scenario/run/latency_test.cpp PercentilesAreThoseOfThePackets'],
        '| 0 | The run was done, and everything was as expected. |': EXIT,
        '| 1 | An expectation or the command of an outside host failed.':
            [*EXIT, COMMAND + 'one_run.py ends_where_memory_ends', COMMAND + 'run_errors.py keeps_an_old_report',
             COMMAND + 'run_errors.py sees_interfaces_vanish'],
        '| 2 | The input was wrong, or nothing could be started. |': [COMMAND + 'wrong_input.py names_place_of_errors'],
        'The exit status is 0 if nothing that is asked is missing or unknown, and with `--strict` nothing short either; else 1.':
            [COMMAND + 'doctor.py agrees_with_run', COMMAND + 'doctor.py is_strict_if_asked'],
        'With `softspine check --strict` a warning, or too little headroom, is exit status 1.':
            [COMMAND + 'check_warnings.py is_strict_if_asked', COMMAND + 'readme.py strict_is_a_failure'],
        'At a thousandth of its speed this one lasts 20 s:': DILATION,
    },
    'docs/captures.md': {
        "tshark -D tshark -i softspine:two-tier:tor1:Ethernet0 tshark -i softspine:two-tier -f 'ether proto 0x8808' tshark -i softspine:two-tier -o 'extcap.softspine_two_tier.ports:tor1 spine*:*'":
            [COMMAND + 'extcap.py lists_fabrics', COMMAND + 'extcap.py obeys_its_options'],
        'The list has no ports of a fabric with more than 128: choose them in the fabric\'s options.':
            [COMMAND + 'extcap.py lists_no_more_ports_than_wireshark_asks_for'],
        'A frame that was captured in two places, with the same source and content and at most 10 us apart, counts once, and the report has their number.':
            ['tests/unit/storm/sender_ends_test.cpp FramesThatAreTooFarApartAreNoCopies',
             'tests/unit/storm/sender_ends_test.cpp OnlyCopiesAreLeftOutAndTheyAreCounted'],
        "| a fabric without loops deadlocks: a ToR floods lossless packets for dead hosts | Guo et al., SIGCOMM 2016, section 4.2 | arp-mac-deadlock | four switches pause each other in a circle, long after all senders could have ended |": [SHIPPED],
        "| a NIC's receive side stops, its own watchdog ends its pauses | Guo et al., section 4.3 | nic-watchdog | its ToR is paused for the watchdog's time; without one to the end |": [SHIPPED],
        "| a new ToR's default alpha makes pauses of bursts | Guo et al., section 6 | alpha | the same burst is buffered, or pauses each sender |": [SHIPPED],
        "| the switch's watchdog flaps while one storm goes on | sonic-net/sonic-buildimage issue 29203 | watchdog-flapping | storms found and restored again and again where all lossless priorities of a port storm: every 624 ms, as there |": [SHIPPED],
        'The 624 ms are three polls of 208 ms:': [SHIPPED],
        "SONiC's watchdog there polls every 200 ms (its default), and each poll takes a little longer.":
            ['testbeds/watchdog-flapping.yaml SONiC\'s default of the'],
        'The issue counts 170 such cycles, which are 106 s of 20 minutes; the rest is not explained there.':
            ['testbeds/watchdog-flapping.yaml 170 cycles of about 624 ms'],
        '| 100 Gb/s to 25 Gb/s by a Trident 3 whose lossless groups have 400, 1,625 and 20 cells | none was found, but PicOS and SONiC document what such figures can mean | trident3-speed-mismatch | three readings of them: two pause for three quarters of the time and lose nothing, one loses five frames a pause |':
            [SHIPPED],
        "| the watchdog drops, and the switch goes on pausing | sonic-net/sonic-buildimage issues 23444, 26248 | pauses-despite-watchdog | nothing is dropped, and who is paused can reach nobody |": [SHIPPED],
        "| WRED rejects what PFC ought to have paused | sonic-net/sonic-buildimage issue 27606 | wred-before-pfc | lossless frames are lost, and no pause is sent |": [SHIPPED],
        'A clock has to be known to 25 us.': ['tests/unit/storm/clock_groups_test.cpp LeaveACaptureApartWhoseClockIsNotKnownTo25us'],
    },
    'docs/hashing.md': {
        '`ecmp_hash_ipv4`, `_ipv6`, `_ipnip`, `_ipv4_rdma` and `_ipv6_rdma` (SONiC PR 2100) are hash objects of these packets alone:':
            ['tests/unit/qos/config_db_words_test.cpp RoceHasAHashObjectOfItsOwn'],
        'The `config` command sets them by `--packet-type ipv4-rdma`, with `--action add` or `del` (sonic-utilities PR 4539), or by `packet-type ipv4-rdma add`, as the design has it.':
            ['tests/unit/config/vendor_lines_test.cpp OfSonicsPacketTypesIsAHashObjectOfTheirOwn'],
        '`fields udp dst-port 4791 payload bytes 5-7` are user-defined fields: bytes of the UDP payload from 0 on, so 5-7 are the destination QP, 13 bytes behind the start of UDP.':
            ['tests/unit/config/vendor_lines_test.cpp OfAristasSandProfilesIsWhatIsInForce'],
        '- **rotation**: an offset rotates a hash of w bits, which multiplies it modulo 2^w − 1.':
            ['tests/scenario/explain/polarization_test.cpp OfFiveMembersIsNotCuredByAnOffsetAlone'],
        'That number is a multiple of 3, 5, 17 and 257, so groups of 3, 5, 15 or 17 members are renamed as well, and those of a multiple modulo that.':
            ['tests/scenario/explain/polarization_test.cpp OfMembersThatDivideAllOnesIsRenamedByAnOffset'],
        '`ip load-sharing fm6000` 0 to 39, `trident` 0 to 5, `arad` and `petraA` 0 to 2, zero without a line (EOS User Manual, "IPv4": ip load-sharing).':
            ['tests/unit/config/vendor_hash_test.cpp OfAristaHasTheSeedsOfItsChips'],
        "An example with SONiC\'s shipped values: a leaf (seed 10, offset 10) over a ToR (seed 0) with 60 links each reaches 2,400 of the 3,600 pairs "
        'of links; with the offset alone it would be 240.':
            ['tests/model/hashing/linearity_test.cpp OfSonicsLeafOverAToRUsesTwoThirdsOfSixtyBySixty'],
        '`model: LINUX` is the multipath hash of a Linux kernel that forwards (6.11 or later, where the seed can be set), so that a lab of switches and Linux routers can be explained as a whole:':
            ['tests/wire/command/linux_multipath.py agrees_with_the_kernel_for_ipv6'],
        "MurmurHash3's steps, or CRC-32C if the compiler was allowed SSE 4.2 (`-msse4.2`, `-march=native`), which are SYM_L4_CRC32C and L4_CRC32C here.":
            ['tests/model/hashing/ovs_test.cpp IsThatOfOvsCompiledForIt', 'tests/model/hashing/ovs_test.cpp IsWhatOvsShowed'],
        'A group has a table of hash values, dealt out to its buckets by their weights: 16 of them, or the next power of two that is enough for four to each bucket and for the lightest one, 256 at most.':
            ['tests/model/hashing/ovs_test.cpp DealsValuesOutAsItsSourceDoes', 'tests/unit/config/hash_test.cpp RefuseToBeTooLarge'],
        '| 0 | addresses; for IPv6 also flow label and protocol |':
            ['tests/wire/command/linux_multipath.py agrees_with_the_kernel_for_ipv6'],
        '| 1 | addresses, protocol, ports |':
            ['tests/wire/command/linux_multipath.py agrees_with_the_kernel_for_ipv6'],
        '| 2 | as the first one, but for the packet inside of GRE or IP in IP |':
            ['tests/wire/command/linux_multipath.py agrees_with_the_kernel_for_ipv6'],
        '| 3 | `fields`, as fib_multipath_hash_fields has them; none of those of inner packets |':
            ['tests/wire/command/linux_multipath.py agrees_with_the_kernel_for_ipv6'],
        "| rxe | 17, 18, 19 … in each host | Linux, drivers/infiniband/sw/rxe: a pool's cyclic index from 16, which is the management queue pair's; erdma counts up, too |":
            ['tests/scenario/hosts/workload_test.cpp QueuePairNumbersOfAHostFollowEachOtherFromSeventeenOrFromWhereAWorkloadBegins'],
        '| mlx5 | one after the other, from another place in each host | firmware chooses by a rule that nobody published; perftest prints such numbers: 0x66e … 0x671 in one host, 0x12f … 0x132 in the other |':
            ['tests/scenario/hosts/workload_test.cpp QueuePairNumbersOfMlx5FollowEachOtherFromAPlaceOfTheHostsOwn'],
        '| hns | (n << 3) \\| bank; with one completion queue two banks take turns: 8, 9, 16, 17 … | Linux, drivers/infiniband/hw/hns: hns_roce_qp.c |':
            ['tests/scenario/hosts/workload_test.cpp QueuePairNumbersAreThoseOfTheNamedDriver'],
        '| ionic | two halves take turns: 2, 0x800, 3, 0x801 … | Linux, drivers/infiniband/hw/ionic: ionic_controlpath.c; perftest prints the same |':
            ['tests/scenario/hosts/workload_test.cpp QueuePairNumbersAreThoseOfTheNamedDriver'],
        "This is the result for [e-ecmp](../testbeds/e-ecmp.yaml)'s eight hosts, which send over 1, 4 or 16 queue pairs each to eight uplinks.":
            ['tests/scenario/explain/polarization_test.cpp OfShippedEEcmpIsWhatNumbersAndLinearHashGive'],
        '| rxe | 50, 80, 94 % | 41, 58, 74 % |':
            ['tests/scenario/explain/polarization_test.cpp OfShippedEEcmpIsWhatNumbersAndLinearHashGive'],
        '| mlx5 | 41, 63, 76 % | 41, 58, 74 % |':
            ['tests/scenario/explain/polarization_test.cpp OfShippedEEcmpIsWhatNumbersAndLinearHashGive'],
        '| hns, ionic | 50, 100, 100 % | 41, 58, 74 % |':
            ['tests/scenario/explain/polarization_test.cpp OfShippedEEcmpIsWhatNumbersAndLinearHashGive'],
        '| random | 41, 58, 74 % | 41, 58, 74 % |':
            ['tests/scenario/explain/polarization_test.cpp OfShippedEEcmpIsWhatNumbersAndLinearHashGive'],
        'Some observations may be wrong: for any hash that is looked for, with a likely seed and 8 to 64 members, 64 probes are enough if all are right, and 512 if 5 % are wrong.':
            [IDENTIFY + 'identify_test.cpp FindsAnyHashBySixtyFourProbes',
             IDENTIFY + 'identify_test.cpp FindsAnyHashThoughFivePercentOfTheObservationsAreWrong'],
        'The seed of a CRC, XOR or Toeplitz hash only renames the members of a group of 2^k.':
            [IDENTIFY + 'parts_test.cpp LeavesOutWhatOnlyRenames'],
        'JENKINS and XXH3, and the hashes of Linux and Open vSwitch, are not linear: their seeds are tried one by one, from 0 to 65,535 and some that people often choose;':
            [IDENTIFY + 'switch_under_test.hpp 65\'536', IDENTIFY + 'identify_test.cpp FindsAnyHashBySixtyFourProbes'],
    },
    'docs/fabrics.md': {
        '| `star` | one switch, one layer 2 | a few racks on one switch; no figures | Meta, SIGCOMM 2024: its first generation, RoCEv1 |':
            [TOPOLOGY + 'published_test.cpp IsAStarOrACrossbar'],
        '| `ai-zone`, `size: published` | RTSW and CTSW | 192 racks × 2 servers × 8 NICs of 400G = 3,072 GPUs; 16 uplinks of 400G a rack (`uplinks: 1:1`; also 1:2, 1:1.125) | Meta, SIGCOMM 2024 |':
            [TOPOLOGY + 'published_test.cpp AnAiZoneHas3072GpusAtFullBisection', TOPOLOGY + 'published_test.cpp OfARackFollowFromTheRatio'],
        '| `ai-zone`, `size: published-zones` | zones under ATSWs | 8 zones, 24,576 GPUs, `zone_uplinks: 7:1`, which gives 28 uplinks a CTSW | the same |':
            [TOPOLOGY + 'published_test.cpp EightZonesUnderAtswsAre24KGpusAtSevenToOne'],
        '| `hpn`, `size: published-segment` | rails, dual ToR, two planes | 128 servers × 8 NICs × 2 ports of 200G; 16 ToRs with 60 uplinks of 400G | Alibaba, SIGCOMM 2024 |':
            [TOPOLOGY + 'published_test.cpp AnHpnSegmentIs1024GpusOn16Tors'],
        '| `hpn`, `size: published` | a pod and its core | 15 segments: 15,360 GPUs, 30,720 NIC ports, 240 ToRs, 120 aggregation switches with 120 links down and 8 up (15:1) | the same |':
            [TOPOLOGY + 'published_test.cpp AnHpnPodHas15360GpusOn30720NicPorts'],
        "| `dcn-plus`, `size: published` | three tiers, dual ToR | 16 servers a segment, 4 segments and 8 aggregation switches a pod | HPN's baseline, the same |":
            [TOPOLOGY + 'published_test.cpp DcnPlusHas512GpusAPodAtFullBisectionUpToTheCore'],
        '| `front-end` | three tiers, dual ToR, 1:1 | none | the same |':
            [TOPOLOGY + 'published_test.cpp AFrontEndIsThreeTiersOfDualTorsAtOneToOne'],
        '| `fat-tree`, `size: published` | a k-ary fat tree | k = 48: 27,648 hosts | Al-Fares et al., SIGCOMM 2008;':
            [TOPOLOGY + 'published_test.cpp AFatTreeOf48PortsHas27648Hosts'],
        "HPN's Table 1 |":
            ['tests/unit/routing/path_counts_test.cpp AcrossAnHpnPodAre60', 'tests/unit/routing/path_counts_test.cpp AcrossAFatTreeOf48PortsAre576'],
        '| `2-ary-fat-tree` | a binary tree whose links grow towards the root | none | Leiserson, 1985 |':
            [TOPOLOGY + 'published_test.cpp ABinaryOneGrowsTowardsItsRoot'],
        '| `clos` | three stages (m, n, r) | none | Clos, 1953 |':
            [TOPOLOGY + 'clos_test.cpp BlockExactlyWhenTryingAllCallsFindsABlockedOne'],
        'The following values are not published, so they are our choice: cables of 5 m, one CTSW and one ATSW for each uplink, 8 cores for each plane of HPN, 64 cores, 200G ports and 400G links for DCN+.':
            [TOPOLOGY + 'published_test.cpp AnHpnPodHas15360GpusOn30720NicPorts', TOPOLOGY + 'published_test.cpp DcnPlusHas512GpusAPodAtFullBisectionUpToTheCore'],
        'Switches forward RoCEv1 frames (ethertype 0x8915) from an edge at layer 2, and no router forwards them.':
            ['tests/scenario/run/star_test.cpp CrossesAStar', 'tests/scenario/run/star_test.cpp CrossesNoRouter'],
        '| `hpn` | `s1-r1-tor1`, `s1-r1-tor2`, `p1-agg1` (plane 1), `p1-core1`, NICs `s1-h1-nic1`; rail-only `p1-r1-agg1`; one plane `agg1`, `core1`; several pods `pod1-s1-r1-tor1`, `pod1-p1-agg1`, `pod1-s1-h1-nic1` |':
            [TOPOLOGY + 'published_test.cpp PlanesAreCarriedOnIntoTheCoreUnlessTheyMeetThere'],
        'In `dcn-plus` and `front-end` the number of links that the file leaves out is the one that makes each tier 1:1.':
            [TOPOLOGY + 'published_test.cpp AFrontEndIsThreeTiersOfDualTorsAtOneToOne'],
        'For a three-stage Clos network, `check` shows whether it blocks, by m ≥ 2n − 1 (strict sense) and m ≥ n (rearrangeable), and the number of crosspoints;':
            [TOPOLOGY + 'clos_test.cpp BlockExactlyWhenTryingAllCallsFindsABlockedOne'],
        'With 16 uplinks for 16 slices (`uplinks: 1:1`) there is one; with 32 (`1:2`) there are two, i and i + 16, and ECMP hashes each flow to one of the two.':
            ['tests/scenario/run/group_compile_test.cpp PinnedSlicesShareOutTheUplinks'],
        'If two jobs share racks, two flows may share one uplink while others are idle: pinned-fragmented loses 44 % of what it sends.': [SHIPPED],
        "Doubling the uplinks, as Meta did, parts such a pair half of the time: over 16 draws of pinned-doubled's flows half as much is lost (`tests/scenario/run/pinned_slices_test.cpp`).":
            ['tests/scenario/run/pinned_slices_test.cpp LoseHalfAsMuchWithTwiceTheUplinks'],
        "HPN's Table 1 (path-selection search space) counts links, too, but of the fat tree it counts all ports of the switches that choose, although half of them lead down; so `check` gives that product as well.":
            ['tests/unit/routing/path_counts_test.cpp ComeFromTheChoicesOfHpnsTable1'],
        "| fabric | paths | chosen | all ports of these switches | HPN's Table 1 |":
            ['tests/unit/routing/path_counts_test.cpp AcrossAnHpnPodAre60', 'tests/unit/routing/path_counts_test.cpp AcrossAFatTreeOf48PortsAre576'],
        '| HPN, a pod | 60 | 60 | 188 | O(60) |':
            ['tests/unit/routing/path_counts_test.cpp AcrossAnHpnPodAre60'],
        '| fat tree, k = 48 | 576 = (k/2)² | 24 × 24 | 2,304 = k² | O(2,304) |':
            ['tests/unit/routing/path_counts_test.cpp AcrossAFatTreeOf48PortsAre576'],
        '| search-space-4096, as many choices as a SuperPod | 4,096 | 32 × 32 × 4 | 42,768 | O(4,096) |':
            ['tests/unit/routing/path_counts_test.cpp OfTheShippedSearchSpacesAreThoseOfTable1'],
        '| search-space-2048, as many choices as Jupiter | 2,048 | 8 × 256 | 2,313 | O(2,048) |':
            ['tests/unit/routing/path_counts_test.cpp OfTheShippedSearchSpacesAreThoseOfTable1'],
        'A fabric, or all `fabrics` together, has at most 500,000 nodes and 2,000,000 links, a switch 4,096 ports, a name of one of several fabrics 24 letters.':
            [TOPOLOGY + 'limits_test.cpp AreRefusedIfTheyAreTooLargeTogether', TOPOLOGY + 'limits_test.cpp IsRefusedWithWhatIsTooMuch'],
        '| `{kind: hpn, size: published, pods: 40}` | too large: 628816 nodes, at most 500000 |':
            [TOPOLOGY + 'limits_test.cpp IsRefusedWithWhatIsTooMuch'],
        '| `{kind: ai-zone, size: published, racks: 5000}` | too large: 5000 ports on one switch, at most 4096 |':
            [TOPOLOGY + 'limits_test.cpp IsRefusedWithWhatIsTooMuch'],
        '| `{kind: ai-zone, …, uplinks: 1:2, ctsws: 5}` | gives an RTSW … uplinks for 5 CTSWs to share evenly |':
            [TOPOLOGY + 'limits_test.cpp IsRefusedWithWhatIsTooMuch'],
        '| `{kind: clos, m: 4, n: 3, r: 4, nonblocking: strict, …}` | must be at least 5 to be nonblocking in the strict sense, not 4 |':
            [TOPOLOGY + 'clos_test.cpp ThatShallNotBlockAreRefusedIfTheyCan'],
    },
    'docs/asked.md': {
        'Ten public reports of 2025 and 2026, tried as their authors would try them.':
            ['tests/scenario/run/shipped_test.cpp asked/pfcwd-xon'],
        '| sonic-swss issue 4581 | Does the PFC watchdog restore a queue when a storm of XOFF frames becomes one of XON frames? | `pfcwd-xon`: no, as reported.':
            ['tests/scenario/run/shipped_test.cpp asked/pfcwd-xon'],
        '| sonic-mgmt issue 27589 | Why is a storm that a program generates found by chance? | `pfcwd-choppy`: at 100 Gb/s a pause lasts 335.5 µs at most.':
            ['tests/scenario/run/shipped_test.cpp asked/pfcwd-choppy'],
        'Repeated each 300 µs it is a storm; repeated each 340 µs it is none, though the queue stands still 98.7 % of the time. |':
            ['tests/scenario/run/shipped_test.cpp asked/pfcwd-choppy'],
        '| sonic-mgmt pull request 21223, sonic-buildimage pull request 28764 | Are XON and XOFF frames counted as dropped? | `pfcwd-xon`: no.':
            ['tests/scenario/run/shipped_test.cpp asked/pfcwd-xon'],
        '| nccl issue 2136 and pull request 2315 | Why does one port of a RoCE bond carry all queue pairs? | `lag-affinity`: eight queue pairs of one source port have one key; where queue pairs take turns, four leave by each port, and the transfer takes half the time. |':
            ['tests/scenario/run/shipped_test.cpp asked/lag-affinity'],
        '| nvshmem issue 27 | What does a fixed UDP source port cost? | `one-source-port`: 64 queue pairs cross one uplink of eight.':
            ['tests/scenario/run/shipped_test.cpp asked/one-source-port'],
        '| SimAI issue 282 | Can jobs of different sizes run on one topology? | `three-jobs`: yes.':
            ['tests/scenario/run/shipped_test.cpp asked/three-jobs'],
        '| protoviz issue 30 | What do ECN marks do where senders have no DCQCN? | `marks-without-dcqcn`: nothing.':
            ['tests/scenario/run/shipped_test.cpp asked/marks-without-dcqcn'],
        '| sonic-mgmt pull request 25347 | Do lossless flows stay clean beside lossy ones that overrun the same port? | `two-classes`: yes.':
            ['tests/scenario/run/shipped_test.cpp asked/two-classes'],
        'DSCP 3 retransmits nothing, DSCP 0 does. |':
            ['tests/scenario/run/shipped_test.cpp asked/two-classes'],
        "| sonic-swss pull request 4757 | Does SONiC's calculator for Spectrum add 2 KiB where small packets are fewer than all? | Yes, without a shared headroom pool:":
            ['tests/unit/qos/config_db_shapes_test.cpp SonicsCalculatorIsWorkedByHand'],
        "Pull request 4797's addition for a Spectrum-6 is not modelled. |":
            ['docs/truth.md No such rules are public'],
        "| sonic-buildimage issue 28657 | Do a Tomahawk 6's pools, with their headroom, fit its memory? | Not answered: how a Tomahawk 6 divides its memory is not public, so pools are taken as they are configured. |":
            ['docs/truth.md No such rules are public'],
    },
    'docs/testbeds.md': {
        '**Chakra.** `format: chakra, file: step` reads `step.0.et`, `step.1.et` and so on, gzipped or not, one a rank, by the layout of ET 1.0 (which 0.0.4 has, too).':
            ['tests/unit/traces/chakra_test.cpp OtherVersionsAreRefused', 'tests/unit/config/trace_test.cpp OfChakraAreAFileARank'],
        '| htsim, single path, 100G, 12 µs, 2 MB | htsim, tail in µs | here |':
            ['tests/scenario/traces/htsim_rows_test.cpp kHtsimOneFlow'],
        '| one flow | 176.2 | 176.9 |': ['tests/scenario/traces/htsim_rows_test.cpp OneFlowIsWithinAPercent'],
        '| permutation of 16 | 527.8 | 503.3, the median of 16 hashes (340.6 to 666.7) |':
            ['tests/scenario/traces/htsim_rows_test.cpp APermutationOfSixteenIsWithinFivePercentInTheMedian'],
        "Here the tail is that of the fullest link: so many flows, each of 163.4 µs with Ethernet's framing, and 13 µs of ways.":
            ['tests/scenario/traces/htsim_rows_test.cpp APermutationOfSixteenIsWithinFivePercentInTheMedian'],
        'Their timeouts are 4.096 µs × 2^`ack_timeout`, each as long as the one before.':
            ['tests/scenario/hosts/reliable_test.cpp TimesOutAfterAllWasSentWithoutProgressAndGivesUpInTheEnd'],
        'ConnectX adapters retransmit adaptively unless configured otherwise: after 2, 4, 8, 16 ms and so on, whatever `ack_timeout` is, up to its time ([perftest issue 251](https://github.com/linux-rdma/perftest/issues/251)).':
            ['tests/scenario/hosts/adaptive_retransmission_test.cpp DoublesItsTimeoutsUpToItsCap'],
        'Two such senders lose one half each, with a standard deviation of 9 % from seed to seed.':
            ['tests/scenario/run/clocks_test.cpp ByItselfTwoLikeSendersShareTheLoss'],
        'Both matter when similar senders share a full queue: frames that keep in step arrive in the same order for ever, and the same sender loses each time (Floyd and Jacobson, *On Traffic Phase Effects in Packet-Switched Gateways*, 1992).':
            ['tests/scenario/run/clocks_test.cpp InStepTheFirstOfTwoLikeSendersLosesNothing', 'tests/scenario/run/clocks_test.cpp ByItselfTwoLikeSendersShareTheLoss'],
        "| `clock_ppm` | 100 | The seed draws an offset for each node's clock, uniform within ± this many parts per million;":
            ['tests/unit/config/run_test.cpp ByItselfClocksDifferAsFarAs802Dot3AllowsAndPacketsStartLate', 'tests/unit/units/clock_offset_test.cpp IsDrawnUniformlyWithinTheBound'],
        'IEEE 802.3 allows 100.':
            ['tests/unit/config/run_test.cpp ByItselfClocksDifferAsFarAs802Dot3AllowsAndPacketsStartLate', 'tests/unit/units/clock_offset_test.cpp IsDrawnUniformlyWithinTheBound'],
        'A port of 100 Gb/s sends at 100 Gb/s × (1 + offset).':
            ['tests/scenario/run/clocks_test.cpp APacketTakesItsTimeByTheSendersClock', 'tests/unit/units/clock_offset_test.cpp ScalesARateByItsPartsPerBillion'],
        "| `start_jitter` | 100% | A built-in host starts a packet that waited for its pace late, by up to this share of the packet's time on the wire.":
            ['tests/scenario/run/clocks_test.cpp APacedFlowKeepsItsMeanRate'],
        'Among packets that follow back to back, one in 128 starts late. |':
            ['tests/scenario/run/clocks_test.cpp GapsCostASenderAtLineRateOneIn256', 'testbeds/hosts/start_jitter.hpp kPacketsPerGap = 128'],
        'A sender at line rate loses 0.39 % of it to the gaps.':
            ['tests/scenario/run/clocks_test.cpp GapsCostASenderAtLineRateOneIn256', 'testbeds/hosts/start_jitter.hpp kPacketsPerGap = 128'],
        'Clock offsets alone are not enough in a short run: phases of two clocks that are 67 ppm apart, as two of these are on average, come around once in 15,000 frames.':
            ['tests/unit/units/clock_offset_test.cpp IsDrawnUniformlyWithinTheBound'],
        'Eight senders of 8,192 packets each, which share one queue, lose within 10 % of their mean with the defaults of both keys, and between none and all of their packets with both 0 ([clocks_test](../tests/scenario/run/clocks_test.cpp)).':
            ['tests/scenario/run/clocks_test.cpp ByItselfEightLikeSendersShareTheLoss'],
        'A measured switch with 4 × 100G shared such a loss to within 0.5 %.':
            ['tests/scenario/run/clocks_test.cpp came to within 0.5 % of one half'],
        'There are no tunnels between ToRs, so neither the remapped DSCPs of bounced packets nor the deadlock that SONiC PR 950 is about can be seen;':
            ['control/rows/sonic_names.cpp MUX_CABLE'],
        "| `CC_MODE` 1, 7 | `dcqcn_connectx` with the file's parameters, `timely`; 3 (HPCC) and 8 (DCTCP) need the round-trip time of the longest path, which the file does not say, and 10 (PINT) is not here: no congestion control, and a note |":
            ['tests/unit/imports/ns3_traffic_test.cpp WhatIsNotHereIsSaid'],
        '`job train` stands for the NICs of all its servers, in the order of their ranks, the first of which is rank 0.':
            ['tests/unit/placement/jobs_test.cpp AreNamedByRankAndRail'],
        '| fat-tree | virtual | k = 4, a permutation between pods, sprayed: full bisection, nothing lost | |':
            [SHIPPED],
        '| clos-3-stage | virtual | m = 2n − 1 loses nothing at line rate, m = 2 for n = 3 a third; a crossbar beside them | |':
            [SHIPPED],
        '| ai-zone-atsw | virtual | two zones at 7:1: a seventh of what they send arrives, and all of what stays in a zone | |':
            [SHIPPED],
        '| min-cut | virtual | two jobs of 20 servers over two zones at 7:1: by minimum cut 1 % of the bytes crosses, drawn 53 %, and it takes 2.8 times as long | |':
            [SHIPPED],
        '| traffic-engineering | virtual | a controller against E-ECMP on 16 uplinks: each at 80 %, and 40 to 100 % by the hash of 128 queue pairs | |':
            [SHIPPED],
        '| pinned-failure | virtual | an uplink fails: a pinned flow and one of an override by hand collide to the end, one that a controller has placed for 220 us | |':
            [SHIPPED],
        '| pinned-fragmented | virtual | path pinning with half-used racks: all flows on four of eight uplinks, 44 % is lost | |': [SHIPPED],
        '| pinned-doubled | virtual | the same with twice the uplinks (1:2): two pairs of four meet on one of their two, 22 % is lost | |': [SHIPPED],
        "| search-space-4096 | virtual | as many choices as HPN's Table 1 has for a SuperPod:":
            ['tests/unit/routing/path_counts_test.cpp OfTheShippedSearchSpacesAreThoseOfTable1'],
        '`check` counts 4,096 paths | |': ['tests/unit/routing/path_counts_test.cpp OfTheShippedSearchSpacesAreThoseOfTable1'],
        '`check` counts 2,048 paths | |': ['tests/unit/routing/path_counts_test.cpp OfTheShippedSearchSpacesAreThoseOfTable1'],
        '| hpn-segment | virtual | 1,024 NICs at the published size: a ring on a rail crosses one ToR and no aggregation switch | |':
            [SHIPPED],
        '| hpn-pod-core | virtual | two pods at 15:1: of what thirty NICs send a fifteenth crosses the core, 400 Gb/s in each plane | |':
            [SHIPPED],
        '| rail-only | virtual | a tier 2 for each rail: traffic stays on its rail | |':
            [SHIPPED],
        '| dual-tor-failure-receiver | virtual | a receiving NIC\'s link fails behind two ToRs: the job stands for `path_change_after` timeouts, from 2 ms to 30 s by `ack_timeout` | |':
            ['tests/scenario/run/planes_test.cpp dual-tor-failure-receiver'],
        "| nic-flaps-dual-tor, nic-flaps-single-tor | virtual | a NIC's link flaps, three times for 1 s: behind two ToRs its job goes on, behind one it stands for the second | |":
            ['tests/scenario/run/planes_test.cpp nic-flaps-dual-tor'],
        "| dual-plane, single-plane | virtual | HPN's Figure 13: with one plane a NIC's ports carry 3 : 1 and queue, with two they are even | |":
            ['tests/scenario/run/planes_test.cpp TwoLeaveNoQueueBeforeANicWhereOneHasThreeToOne'],
        'Without `duration`, a run on the virtual clock lasts 10 ms.':
            ['tests/unit/config/run_test.cpp WithoutADurationAWallRunHasNoEndAndAVirtualOneLastsTenMilliseconds'],
        'An open-loop flow sends on and ends, whatever is lost: if none of its last packets has arrived (32 in a row, or all), the summary and `cut_off_flows` show it.':
            ['tests/scenario/run/bond_test.cpp AnOpenLoopOverALostPlaneIsCutOff'],
        'Independent ToRs share no layer 2, as in HPN: each answers for every address with its own MAC (proxy ARP, ND), and routes.':
            ['tests/scenario/run/segment_test.cpp CarriesNoLayer2', 'tests/scenario/run/segment_test.cpp RoutesBetweenItsHostsByTheMacOfTheirTor'],
        'If there is none, it takes 26.': ['tests/unit/qos/service_test.cpp AWorkloadTakesTheLeastDscpThatIsLosslessOnAllItsWays',
                                           'tests/unit/qos/service_test.cpp HostsLinkedBackToBackKeepTheUsualDscp'],
        '| two-tier | virtual | 4 racks, 4 spines, 16 hosts, a permutation at 40 Gb/s: nothing dropped, ECMP uneven | |':
            [SHIPPED, COMMAND + 'page.py first_difference'],
        '| idle-fabric | virtual | 300 switches of which two hosts use three: what is idle costs nothing | |':
            ['tests/scenario/run/shipped_test.cpp IdleFabricIsAsExpectedAndRunsOnlyTheNodesInUse'],
        "| watchdog-flapping | virtual | an incident of SONiC's: where all lossless priorities of a port storm, the watchdog takes the storm for over, every 624 ms, as there | |": [SHIPPED],
        '| trident3-speed-mismatch | virtual | 100 Gb/s to 25 Gb/s with the 400, 1,625 and 20 cells of a Trident 3, read in three ways: two only pause, one loses frames | |':
            [SHIPPED],
        "| alpha | virtual | an incident of Microsoft's: the same bursts with alpha 1/16 and 1/64: no pause, and each sender paused | |": [SHIPPED],
        "| wred-before-pfc | virtual | an incident of SONiC's, its issue 27606, in which WRED rejects lossless frames before their group may raise XOFF; marking alone loses none | |":
            [SHIPPED],
        '| e-ecmp | virtual | 16 queue pairs with one source port: one uplink by the 5-tuple, spread by a UDF on the destination QP;':
            [SHIPPED],
        "QP scaling: 1, 4, 16 with ConnectX's numbers give 50, 67, 73 % of the uplinks; on average 41, 63, 76 %, an ideal hash 41, 58, 74 % | |":
            [SHIPPED, 'tests/scenario/explain/polarization_test.cpp OfShippedEEcmpIsWhatNumbersAndLinearHashGive'],
        '| websearch | virtual | flows of a web search cluster at a load of 30 %, under DCQCN: slowdown by size | |': [SHIPPED],
        '| dcqcn-convergence | virtual | two DCQCN flows on one link come within 5 % of each other | |': [SHIPPED],
    },
    'docs/lossless.md': {
        'Packets carry a field of 42 bytes behind their RoCE headers, as HPCC has it, with room for five hops.':
            ['tests/scenario/hosts/echo_test.cpp TelemetryComesBackAsTheSwitchesWroteIt'],
        'Rates of ports that the field can name are 10, 25, 40, 50, 100, 200, 400 and 800 Gb/s.':
            ['tests/unit/qos/service_test.cpp WarnsOfHpccWhereTelemetryHasNoWordForARate', 'dataplane/packet/telemetry_field.hpp kRates{Rate::gbps(25)'],
        "| `sonic-trident2-40g-300m` | SONiC's published buffers of a Trident 2 |": [THRESHOLDS + 'Trident2TriggersWhereSonicMgmtSaysItDoes'],
        "SONiC's tables have already subtracted what groups and queues reserve (`ingress_pool_size: total` means that the size still includes it, as on Trident 2).":
            ['tests/unit/qos/plan_test.cpp AnIngressPoolOfTotalSizeSharesWhatIsNotReserved'],
        "The workload's `cnp_interval` is the receiver's least time between two CNPs (4 µs with an adapter's defaults, 50 µs in the paper).":
            ['tests/unit/config/nic_test.cpp Duration::us(50)'],
        '| 802.3, 31B.3.7: what is allowed, and ours if nothing is said | by quanta of the rate: 2.017 µs at 100 Gb/s |':
            ['tests/unit/flow_control/pause_state_test.cpp 394 * kQuantum'],
        "| SONiC's buffer_headroom_mellanox.lua | the same; for a rate that 802.3's table lacks, its switch's `peer_response_time`, 3.8 KiB on a Spectrum |":
            ['control/compile/sonic_headroom.cpp 3.8 * kKib'],
        'For perftest, `--tclass 14` means DSCP 3 and ECT(0).': ['tests/unit/qos/service_test.cpp ReadsTrafficClassesFromACommand'],
        "Without it, perftest's packets have DSCP 0, and may be dropped.":
            ['tests/unit/qos/service_test.cpp TellsHostsOutsideWhichDscpsAreLossless'],
        'With `timely_patched`, N flows on a link of rate C share it evenly, and their round-trip time is `t_low` x (1 + `delta` N / (`beta` C)).':
            ['tests/scenario/hosts/congestion_test.cpp PatchedFlowsHaveFairSharesAndTheQueueOfTheirFixedPoint'],
        "A switch grants its priority group's headroom (`xoff`); a built-in host grants 128 KiB a priority.":
            ['tests/scenario/hosts/credit_host_test.cpp PromisesAHundredAndTwentyEightKibibytesAPriority'],
    },
    'docs/real-hosts.md': {
        'export UCX_NET_DEVICES=softspine0:1 UCX_TLS=rc_verbs,ud_verbs,self': [COMMAND + 'verbs_libraries.py rc_verbs,ud_verbs,self'],
        "All of perftest's tests of bandwidth and latency run over RC, UC and UD, from a byte to 8 MiB, both ways, and over up to 64 queue pairs; their packets, as tshark decodes them, are those that the messages make (tests/wire/command/verbs_perftest.py).":
            [COMMAND + 'verbs_perftest.py LONGEST = (1 << 23,)', COMMAND + 'verbs_perftest.py pairs=64'],
        'All copies of a guest are at most 1 GiB and 100,000 files and folders; what is larger belongs in `root`, which is not copied.':
            ['tests/unit/guests/guest_layers_test.cpp HaveALimit', 'testbeds/guests/guest_layers.hpp kMaxFilesBytes = 1ULL << 30', 'testbeds/guests/guest_layers.hpp kMaxFilesEntries = 100'],
        'Up to 1024 bytes are sent inline.': ['testbeds/verbs_device/shared/queue_memory.hpp kInlineLimit = 1024', 'tests/scenario/verbs_device/connections_test.cpp request.sizes.inline_bytes = kInlineLimit + 1'],
        "| `UCX_UD_ETH_DGID_CHECK=n` | UCX checks the destination address of each datagram, and that of Debian takes it for IPv6 unless the service level is ConnectX's; rxe's is 0, and UCX drops them all |":
            ['tests/wire/training/mpi.py ETH_DGID_CHECK'],
        'host=$1 shift export TMPDIR=$PWD/$host mkdir -p "$TMPDIR" exec softspine exec "$host" -- sh -c "$*"': [COMMAND + 'verbs_libraries.py host=$1'],
        'mpirun --host h1,h2 --mca plm_rsh_agent ./agent --mca plm_rsh_no_tree_spawn 1 --mca pml ucx --mca btl self -x UCX_NET_DEVICES -x UCX_TLS ./program':
            [COMMAND + 'verbs_libraries.py plm_rsh_no_tree_spawn'],
        'Four ranks of a small model end with the same loss and the same weights, to the bit, whether or not a spine goes down in the middle, and with those that one process computes, to 0.01 % (tests/wire/training/gloo.py).':
            ['tests/wire/training/gloo.py 1e-4 * abs'],
        'MPI_Allreduce, Reduce_scatter, Allgather, Alltoall, Bcast, Reduce, Gather, Scatter and Sendrecv were right in every byte with 8 B to 16 MB on four ranks, with no packet sent twice in a lossless fabric, and after a spine went down.':
            ["tests/wire/training/mpi.py '8', '1000', '65536', '1048576', '16777216'"],
        "DPDK's af_packet calls every interface one of 10 Gb/s.": [COMMAND + 'device_view.py up, 10000 Mb/s'],
        'mlx5 adapters keep their kernel driver. softspine uses a device with one queue each way, promiscuous, without offloads and without RSS, and asks its driver for the link every 10 ms.': ['dataplane/dpdk/device.cpp kPollLinkEvery = std::chrono::milliseconds(10)'],
        '| e1000, e1000e, vmxnet3, virtio-net-pci of QEMU 7.2 | uio_pci_generic; vfio-pci with an IOMMU | every kind of frame below, both ways, byte for byte; pulled cables; taken out of the machine; thousands of frames each way, none missing that no counter names |':
            ['tests/wire/nics/nics.py under_uio', 'tests/wire/nics/nics.py pulled_under_vfio', 'tests/wire/nics/nics.py many_under_vfio',
             'tests/wire/nics/unplugged.py under_vfio'],
        'Without the tag that its port expects, with another one, with a priority alone (VLAN 0), or with 802.1ad outside, a frame ends as `vlan_not_allowed`.':
            ['tests/wire/nics/from_outside.py refused'],
        'We tried this under both drivers, with frames up to the MTU of 9,000.': ['tests/wire/nics/from_outside.py LARGEST = 9000 + 14 + 4'],
        '**A device that is taken out** while the run goes on is an error that names it, so the run ends with status 1, as with an interface that is deleted.':
            ['tests/wire/nics/unplugged.py what_was_said'],
        'One run under each driver sent 1,000,000 frames each way through each of the four: all came.': ['tests/wire/nics/nics.py SOFTSPINE_NIC_FRAMES'],
        'Packets may lie in hugepages of 2 MiB or of 1 GiB.': ['tests/wire/nics/lab.py HUGEPAGES = 400  # of 2 MiB', 'tests/wire/nics/nics.py in_one_large_page'],
        '`first_frame` (that of the file itself, the default), `together` (the earliest first frame of all edges with this value: captures of one event keep their relation), or `recorded` (0: a capture of softspine enters at its own times).':
            ['tests/scenario/run/recordings_test.cpp KeepTheirRelationIfTheyWereMadeTogether',
             'tests/scenario/run/recordings_test.cpp OfAFabricEnterAsTheyWere'],
        'The program sends RDMA writes over 1 to 32 queue pairs, and checks every byte at the receiver:':
            ['tests/unit/verbs/terms_test.cpp {"qps", 33}'],
    },
    'docs/reproduce.md': {
        '| meta-fig7 | 1 QP, ECMP; 2 GB | 58.5 | 51.2 ± 5.16 |': REPRODUCED,
        '| meta-fig7 | 4 QPs, split; 2 GB | 69.9 | 85.8 ± 10.9 |': REPRODUCED,
        '| meta-fig7 | 16 QPs, split; 2 GB | 69.5 | 100.0 ± 0.58 |': REPRODUCED,
        '| meta-fig7 | 4 QPs, turns; 2 GB | 99.4 | 78.3 ± 8.88 |': REPRODUCED,
        '| meta-fig7 | 16 QPs, turns; 2 GB | 100.0 | 89.2 ± 1.84 |': REPRODUCED,
        '| meta-fig7 | 1 QP, ECMP; 128 MB | 33.9 | 21.1 ± 0.16 |': REPRODUCED,
        '| meta-fig7 | 16 QPs, split; 128 MB | 21.7 | 7.15 ± 0.48 |': REPRODUCED,
        '| meta-table3 | RTSW to CTSW; open | 350.0 | 998.9 ± 9.96 |': REPRODUCED,
        '| meta-table3 | CTSW to RTSW; open | 183.0 | 968.1 ± 31.9 |': REPRODUCED,
        '| meta-table3 | NICs paused, %; open | 10.0 | 73.6 ± 1.03 |': REPRODUCED,
        '| meta-table3 | RTSW to CTSW; receiver | 0.00 | 0.00 ± 0.00 |': REPRODUCED,
        '| meta-flowlets | out of order; 1/4 RTT | 620.0 | 2983 ± 1649 |': REPRODUCED,
        '| meta-flowlets | out of order; 1/2 RTT | 4.00 | 300.0 ± 642.4 |': REPRODUCED,
        '| meta-flowlets | out of order; 1 RTT | 0.00 | 0.00 ± 0.00 |': REPRODUCED,
        '| meta-ecn | 300/600 KB; 2 GB | 23.8 | 3.86 ± 0.53 |': REPRODUCED,
        '| meta-ecn | 5 MB; 2 GB | 23.0 | 3.50 ± 0.47 |': REPRODUCED,
        '| hpn-fig17 | DCN+; 64 MB | 102.6 | 16.3 ± 0.01 |': REPRODUCED,
        '| hpn-fig17 | HPN; 64 MB | 106.3 | 16.3 ± 0.00 |': REPRODUCED,
        '| hpn-fig17 | DCN+; 4 GB | 128.9 | 89.9 ± 8.06 |': REPRODUCED,
        '| hpn-fig17 | HPN; 4 GB | 205.8 | 194.0 ± 0.02 |': REPRODUCED,
        '| hpn-fig19 | single plane; 4 hosts | 59.9 | 102.6 ± 4.18 |': REPRODUCED,
        '| hpn-fig19 | single plane; 32 hosts | 54.9 | 104.9 ± 0.29 |': REPRODUCED,
        '| hpn-fig19 | dual plane; 4 hosts | 90.0 | 193.9 ± 0.02 |': REPRODUCED,
        '| hpn-fig19 | dual plane; 32 hosts | 90.0 | 193.4 ± 0.01 |': REPRODUCED,
        '| hpn-disjoint | least outstanding, disjoint; 4 AllReduces | 34.7 | 20.1 ± 16.3 |': REPRODUCED,
        '| hpn-failure | dual ToR, queue pairs; change | -6.25 | -6.25 ± 0.00 |': REPRODUCED,
        '| hpn-failure | dual ToR, AllReduce; change | -6.25 | -49.5 ± 0.00 |': REPRODUCED,
        '| hpn-failure | single ToR, AllReduce; change | -100.0 | -100.0 ± 0.00 |': REPRODUCED,
        '| dcqcn-convergence | slower flow; mean | 20.0 | 19.6 ± 0.27 |': REPRODUCED,
        '| dcqcn-convergence | faster flow; mean | 20.0 | 20.3 ± 0.27 |': REPRODUCED,
        '| uet-single-path | one flow; 2 MB | 176.2 | 177.6 ± 0.28 |': REPRODUCED,
        '| uet-single-path | permutation of 16; 2 MB | 527.8 | 448.3 ± 90.0 |': REPRODUCED,
        '| uet-permutation | quickest flow; 2 MB | 168.0 | 168.1 ± 0.13 |': REPRODUCED,
        '| uet-permutation | slowest flow; 2 MB | 889.9 | 937.0 ± 94.6 |': REPRODUCED,
        '| meta-fig7 | 2 of 5 | round-robin is at least as fast as splitting; four queue pairs as one; four in turns as sixteen |': REPRODUCED,
        '| meta-table3 | 3 of 3 | |': REPRODUCED,
        '| meta-flowlets | 2 of 3 | at half an RTT at most a twentieth is left |': REPRODUCED,
        '| meta-ecn | 1 of 2 | strict thresholds cost at most a tenth |': REPRODUCED,
        '| hpn-fig17 | 2 of 3 | bus bandwidth rises with the size, in both |': REPRODUCED,
        '| hpn-fig19 | 2 of 2 | |': REPRODUCED,
        '| hpn-disjoint | 2 of 2 | |': REPRODUCED,
        "| hpn-failure | 3 of 4 | an AllReduce loses as little as its ports' share |": REPRODUCED,
        '| dcqcn-convergence | 2 of 2 | |': REPRODUCED,
        '| uet-single-path | 3 of 3 | |': REPRODUCED,
        '| uet-permutation | 3 of 3 | |': REPRODUCED,
    },
    'docs/truth.md': {
        "| Open vSwitch's dp_hash | a running OVS 3.1: packets of ten kinds through a select group with seven weighted buckets, also with a dead one; its CRC-32C by its own source | [ovs_dp_hash](../tests/wire/command/ovs_dp_hash.py), [ovs_test](../tests/model/hashing/ovs_test.cpp) |":
            ['tests/wire/command/ovs_dp_hash.py agrees_on_dead_buckets', 'tests/model/hashing/ovs_test.cpp IsThatOfOvsCompiledForIt'],
        'Two runs were made in both: 64 hosts, four racks, sixteen spines, all links 100 Gb/s and 1 µs long, 8 MiB of buffer a switch, congestion '
        'control off.': ['testbeds/ns3-incast.yaml size: 8192KiB', 'testbeds/ns3-permutation.yaml spines: 16'],
        **dict.fromkeys((
            '| incast: completion by the last acknowledgement, median | 2777.9 µs | 2771.3 µs |',
            '| incast: completion, 99th percentile | 2793.1 µs | 2793.2 µs |',
            '| incast: pauses, from XOFF to XON | 681 | 681 |',
            '| incast: time for which pauses were in effect, in all | 83.01 ms | 83.02 ms |',
            '| permutation: completion, least | 229.5 µs | 229.5 µs |',
            '| permutation: completion, median | 337.7 µs | 338.0 µs |',
            '| permutation: completion, largest | 671.9 µs | 671.9 µs |',
            '| permutation: pauses, from XOFF to XON | 821 | 817 |',
            '| permutation: time for which pauses were in effect, in all | 5.982 ms | 5.995 ms |',
        ), NS3),
        **dict.fromkeys((
            '| pauses, incast | 1,189 | 1,200 |',
            '| pauses in effect, incast | 82.63 ms | 82.67 ms |',
            '| pauses, permutation | 1,207 | 1,208 |',
            '| pauses in effect, permutation | 6.036 ms | 6.033 ms |',
        ), [COMMAND + 'ns3_reaction.py obeys_at_once_as_ns3']),
        **dict.fromkeys((
            '| Trident 2, 40G | XOFF | 4,898 | 4,898 | 0 | 2 |',
            '| | first drop, lossless | 5,164 | 5,164 | 0 | 2 |',
            '| | first drop, lossy | 31,322 | 31,322 | 0 | 2 |',
        ), [THRESHOLDS + 'Trident2TriggersWhereSonicMgmtSaysItDoes']),
        **dict.fromkeys((
            '| Tomahawk, 100G, 300 m | XOFF | 6,542 | 6,542 | 0 | 2 |',
            '| | first drop, lossless | 7,835 | 7,835 | 0 | 2 |',
            '| | first drop, lossy | 9,887 | 9,887 | 0 | 2 |',
            '| | headroom pool | 5,041 | 5,041 | 0 | 2 |',
            'For the number of frames after which XOFF is cleared, only the most that a test lets leave is published: 12 on Tomahawk.',
            'Ours needs 6, since its limit grows, by its alpha, with each cell that becomes free.',
        ), [THRESHOLDS + 'TomahawkTriggersWhereSonicMgmtSaysItDoes']),
        **dict.fromkeys((
            '| Tomahawk 2, pool of 33,169,344 B | XOFF | 19,939 | 19,940 | 1 | 4 |',
            '| pool of 33,262,528 B | XOFF | 19,994 | 19,996 | 2 | 4 |',
            '| pool of 33,329,088 B | XOFF | 20,034 | 20,036 | 2 | 4 |',
            '| | first drop, lossless | 20,425 | 20,426 | 1 | 4 |',
            '| | first drop, lossy | 10,692 | 10,694 | 2 | 2 |',
        ), [THRESHOLDS + 'Tomahawk2TriggersWhereSonicMgmtSaysItDoes']),
        "Tomahawk 2 has a rule of its own. sonic-mgmt finds a queue's reserved memory twice as large there as configured, by the pool's use but not by drops.": [THRESHOLDS + 'Tomahawk2sEgressPoolCountsAQueueFromItsSeventeenthCellOn'],
        '| the same pool, alpha 1/8 | headroom pool | 9,408 | 9,408 | 0 | 2 |': [THRESHOLDS + 'HeadroomBeginsWithTheFrameAfterXoffHoweverManyGroupsWait'],
        '| Tomahawk 5, 100G | XOFF | 120,117 | 120,118 | 1 | 2 |': [THRESHOLDS + 'Tomahawk5TriggersWhereSonicMgmtSaysItDoes'],
        "| SN2700, 100G, 5 m | XOFF, by sonic-mgmt's rule | 24,062 | 24,062 | 0 | 2 |": [THRESHOLDS + 'Sn2700TriggersWhereSonicMgmtsRuleSaysItDoes'],
        'No such rules are public for Trident 3 and Tomahawk 3, 4 and 6:': ['tests/unit/qos/tables_test.cpp AChipWhoseRulesAreNotPublicIsNamedAsSuch'],
        'In the incast 63 hosts send to one; in the permutation each host sends to another.': ['testbeds/ns3-incast.yaml flows.incast.completed, equal: 63'],
    },
}
