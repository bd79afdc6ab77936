// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces (MLCommons), ET 1.0: a file a rank, NAME.0.et, NAME.1.et …, gzipped or not.
//
//   node           starts when all its ctrl_deps and data_deps are done
//   comp, memory   duration_micros; those of CPUs one after the other, those of a GPU likewise. Metadata: no time
//   send, receive  comm_size bytes to comm_dst, from comm_src, with comm_tag
//   collective     of comm_type; the nth of a process group (pg_name) is the nth on each of its ranks. It becomes sends
//                  and receives: a ring on one channel, AllToAll by pairs, as collectives of a testbed with NCCL's cuts
//                  (control/collectives). Its reductions take no time. comm_size is a rank's input; a group's first
//                  rank is the root, since ET names none. One of a CPU without a comm_type only launched it: a comp
//
// A group's ranks are those that have a collective of it; without a name all. Trace operations have their node's id
// for a line.
//
// Refused: a need that is no node, nodes that need each other, computations counted in operations but not timed, Gather
// and Scatter, collectives of some dimensions of a topology, a group's ranks that disagree.
// Nobody adds what traces lack: the linker leaves out what GPU kernels need of each other (mlcommons/chakra#215).
//
// Files are read twice: groups, then operations. Memory: as for GOAL, of the largest rank; collectives take what their
// messages take.
// Maxima: 65,536 ranks, 2^32 − 2 operations a rank, messages of 2 GiB, collectives of 16 GiB, 10^15 ns, and tags
// below 2^31.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "control/traces/goal.hpp"

namespace softspine::control {

// Those that are there, from rank 0 on.
std::vector<std::string> chakra_files(const std::string& name);

// `name`: of the trace, in errors of no single rank.
std::expected<SharedWork, Errors> load_chakra(const std::string& name, const std::vector<std::string>& files);
// The same of texts, one a rank.
std::expected<SharedWork, Errors> read_chakra(const std::vector<std::string_view>& texts);

}  // namespace softspine::control
