// SPDX-License-Identifier: Apache-2.0
// Ranks as processes that MPI has started (mpirun, srun) and joins. The only place with mpi.h, and built without it
// where there is no MPI: then starts() is all that is asked.
//
// Waiting is our own. Both libraries poll without giving the processor away: with more ranks than cores one reduction
// over four ranks takes 4 to 7 ms so, and 13 to 23 us with tests of our own and sched_yield between them.
//
// Signs of life. A thread sends one to each rank twice a second, also while the rank works on a long window or loads a
// large file. A rank of which nothing has come for kSilence is lost, as is one to which MPI finds no way any more: MPI
// itself would wait for minutes. The time is counted in ticks of that thread, so that a process that was stopped itself
// does not take the others for dead. A rank that is lost ends the process: MPI_Finalize would wait for it.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>

#include "dataplane/ranks/rank_link.hpp"

namespace softspine::dataplane {

enum class NoMpi : uint8_t {
  kNotBuilt,    // this program knows no MPI
  kNoThreads,   // the library cannot be called by two threads, one at a time
  kOtherError,  // the library does not start
};

// True if a launcher of MPI has started this process, together with others or alone.
bool is_started_by_mpi();

// Once in a process. Ends, when it is destroyed, together with all others: each has to come to that.
std::expected<std::unique_ptr<RankLink>, NoMpi> start_mpi();

}  // namespace softspine::dataplane
