# SPDX-License-Identifier: Apache-2.0
"""readme_claims.py for the pages about labs, CI, HTTP and ranks."""
from __future__ import annotations

COMMAND = 'tests/wire/command/'
EXIT = [COMMAND + 'one_run.py exits_as_expected']
RANKS = [COMMAND + 'ranks.py has_the_bytes_of_one_process', 'tests/scenario/random/ranked_testbeds_test.cpp AreTheSameBytesAsInOneProcess']
FOLLOWING_CLOCKS = ['tests/unit/units/following_clock_test.cpp ShowsWhatTheFirstRanksShows', 'tests/unit/units/following_clock_test.cpp NeverGoesBackAndMakesUpForAJumpByAHundredth']
LOST_RANKS = [COMMAND + 'ranks.py ends_with_a_rank']
ANSWERING_RANKS = [COMMAND + 'ranks.py answers_while_it_runs', 'tests/scenario/random/ranked_requests_test.cpp AreAnsweredAsInOneProcess']

LAB_CLAIMS: dict[str, dict[str, list[str]]] = {
    'docs/ci.md': {
        '`softspine run` exits with 0 if all that is expected has come true.': [COMMAND + 'ci.py def cases'],
        '| 0 | every command | done, and as expected |': EXIT,
        '| 1 | every command | an expectation, the command of a host, a file or a part of the run failed |': [*EXIT, COMMAND + 'ci.py def commands'],
        '| 2 | every command | the input was wrong, or nothing could be started |': [COMMAND + 'wrong_input.py names_place_of_errors'],
        "| the program's | `exec`, `shell` | 128 + N if signal N ended it; 127: no such program; 126: it cannot be run |":
            [COMMAND + 'labs.py def many_programs', COMMAND + 'labs.py it was 7'],
    },
    'docs/labs.md': {
        "pid=$(podman inspect -f '{{.State.Pid}}' web) softspine up container.yaml --set topology.nodes.h1.namespace.join=$pid softspine exec h2 -- ping -c 3 10.0.1.2":
            [COMMAND + 'containers.py def does_the_recipe'],
        '`down` waits for the end, prints what `run` prints at its end, and returns its status: 1 if an expectation or a command has failed.':
            [COMMAND + 'labs.py def stays_up'],
        'A lab that does not end within 60 s (`--patience`) is killed.': ['tools/softspine/lab_commands.cpp unsigned seconds = 60'],
        'The status of `exec` is 128 + N if signal N ended the program, 127 if there is no such program, 126 if it cannot be run. softspine\'s own errors (no such host, no fabric) are status 2.':
            [COMMAND + 'labs.py def many_programs'],
        'Up to 64 programs run at once in a guest, and more wait for their turn.':
            ['testbeds/guest_line/guest_line.hpp kMaxPrograms = 64', 'tests/unit/guest_line/guest_line_test.cpp TheSixtyFifthWaitsForItsTurn'],
        'A copy that fails ends with 1.': ['tests/wire/agent/copy_test.cpp OneThatFailsHasTheStatusOne'],
        'If a guest ends, `exec` says so and ends with 137, as a program on a namespace host does.': [COMMAND + 'guest_labs.py def ends_with_the_guest'],
    },
    'docs/http.md': {
        '- An address that other machines reach (`0.0.0.0`, `10.0.0.5`) needs `--http-token FILE`: a line of 16 to 256 characters, in a file that only its owner reads.':
            ['tests/unit/server/web_gate_test.cpp IsALineOfAFileThatIsOursAlone', COMMAND + 'web_service.py refuses_what_is_open_to_all'],
        'An error has a status of its own: 400 the request, or what it asks of the fabric; 401 no token; 403 not allowed; 404 no such thing; 405 the other method; 413, 414, 431 too long; 503 too much waits for others, try again; 504 the fabric did not answer.':
            ['tests/unit/server/web_gate_test.cpp LeadNowhereElse', 'tests/wire/server/web_abuse_test.cpp WhatIsTooLongIsCutOff',
             'tests/wire/server/web_abuse_test.cpp AHugeBodyIsRefusedBeforeItIsRead', 'tests/unit/server/web_server_test.cpp SaysThatTheFabricDoesNotAnswer'],
        'If the switches of a fabric have more than 1,024 ports in all, `/metrics` leaves zeros out: a port, priority, priority group, queue, link or host that has counted nothing has no samples of its counters.':
            ['tests/unit/telemetry/prometheus_test.cpp OfALargeFabricHasNoZerosOfWhatHasCountedNothing'],
        'Tiers of more than 64 nodes are folded.': ['tools/page/live.js MOST_NODES = 64'],
        'A head has at most 16 KiB, a target 2 KiB, a body 64 KiB of JSON that nests at most 32 deep. 1,024 connections at once, 64 of them readers of events.':
            ['tests/wire/server/web_abuse_test.cpp WhatIsTooLongIsCutOff', 'control/server/web_target.hpp kMaxTargetBytes = 2048',
             'control/server/protocol.hpp kMaxRequestDepth = 32', 'control/server/web_options.hpp max_event_readers = 64'],
        'A request has 10 s to come, an answer 10 s to be taken.':
            ['control/server/web_options.hpp request_timeout{10\'000}', 'tests/wire/server/web_abuse_test.cpp AClientThatNeverEndsItsHeadIsClosedAfterAWhile'],
    },
    'docs/ranks.md': {
        'All files and the terminal are rank 0\'s, and their bytes are those of one process, whatever the number of ranks and workers.': RANKS,
        'A window is as long as the shortest latency between parts: 40 m of cable are about 200 ns, 300 m about 1.5 us.':
            ['dataplane/engine/engine.cpp time_of_frame(0) + propagation'],
        'Reports, `--flows`, `--fct-file`, pictures, expectations, events, counters and flows over time, captures, recordings and their pages, steps, Perfetto\'s traces, and ns-3\'s files are rank 0\'s.': RANKS,
        'So all clocks follow that of rank 0.': [*FOLLOWING_CLOCKS],
        'A clock is never put forward or back: it goes faster or slower by one part in a hundred until it shows what rank 0\'s shows.': [*FOLLOWING_CLOCKS, 'dataplane/engine/following_clock.hpp kSlew = 100'],
        'A meeting takes one way through the network, and a window has to last as long: the latency of the shortest link between parts, times the dilation. 300 m of cable are 1.5 us, 40 km are 200 us.':
            [COMMAND + 'wall_ranks.py refuses_a_network_that_is_too_slow', 'testbeds/run/rank_network.cpp kMetresPerPs = 2e-4'],
        'Commands\' ends, notes, NICs\' counters and errors are in rank 0\'s report.': [COMMAND + 'wall_ranks.py joins_namespaces', COMMAND + 'wall_ranks.py is_an_error_of_the_run'],
        '`softspine exec`, `shell` and `cp` reach hosts of all ranks on rank 0\'s machine; a host on another one is refused, with the rank and the machine.':
            [COMMAND + 'wall_ranks.py answers_while_hosts_run', COMMAND + 'wall_ranks.py joins_machines'],
        'The report has what was measured (`engine.meeting_p50_ps`, `meeting_p99_ps`), and how far a rank\'s clock may be from rank 0\'s at the end (`clock_uncertainty_ps`).':
            [COMMAND + 'wall_ranks.py counts_what_the_virtual_clock_counts', 'tests/unit/units/following_clock_test.cpp unsaid'],
        'SIGINT to the process of rank 0 ends the run as Ctrl-C does, and mpirun ends with the ranks.': [COMMAND + 'wall_ranks.py answers_while_hosts_run'],
        'If the hosts of one rank cannot be started, all ranks end their own ones, and rank 0 names the first host with its error.':
            ['tests/scenario/run/begin_together_test.cpp EndsOnAllRanksWhenOneCannot', COMMAND + 'wall_ranks.py begins_on_all_ranks_or_none'],
        '`show devices` shows those of rank 0.': ['testbeds/run/devices.hpp DeviceHere'],
        'While it runs, rank 0 has the control socket, and the page of `--http`.': ANSWERING_RANKS,
        'Rank 0 hands each request to all ranks, which carry it out between the same two windows; answers and files are whole.': ANSWERING_RANKS,
        'The others end with status 2, and say which rank it was.': LOST_RANKS,
        'One that hangs, or whose network is cut, is found after 6 s without a sign of life: each rank sends one twice a second, also while it works on something long.':
            [*LOST_RANKS, 'dataplane/mpi/mpi_link.cpp kSilence = 12'],
        'Wrong input is said once, by rank 0; so is the first rank with another program, command line or file, and which file it is; all end with status 2.':
            [COMMAND + 'ranks.py refuses_wrong_input', COMMAND + 'ranks.py sees_another_file'],
    },
}
