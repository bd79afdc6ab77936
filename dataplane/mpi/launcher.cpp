// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "dataplane/mpi/mpi_link.hpp"

namespace softspine::dataplane {

// Open MPI's mpirun, MPICH's, and whatever speaks PMIx (srun).
bool is_started_by_mpi() {
  for (const char* const variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(variable) != nullptr) return true;
  }
  return false;
}

}  // namespace softspine::dataplane
