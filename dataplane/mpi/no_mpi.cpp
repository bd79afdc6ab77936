// SPDX-License-Identifier: Apache-2.0
#include "dataplane/mpi/mpi_link.hpp"

namespace softspine::dataplane {

std::expected<std::unique_ptr<RankLink>, NoMpi> start_mpi() {
  return std::unexpected(NoMpi::kNotBuilt);
}

}  // namespace softspine::dataplane
