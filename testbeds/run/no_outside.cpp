// SPDX-License-Identifier: Apache-2.0
// Until testbeds/outside has its library: a testbed with outside hosts is refused.
#include "testbeds/outside/outside_hosts.hpp"

namespace softspine::testbeds {

OutsideSpec outside_spec(const control::Fabric& fabric, uint32_t node) {
  OutsideSpec spec;
  spec.name = fabric.nodes[node].name;
  return spec;
}

bool has_command(const OutsideSpec&) {
  return false;
}

std::expected<std::unique_ptr<OutsideHosts>, std::vector<Error>> OutsideHosts::make(std::vector<OutsideSpec> specs,
                                                                                    OutsidePlaces) {
  return std::unexpected(std::vector<Error>{{specs.front().name, "hosts outside the fabric cannot be run yet"}});
}

}  // namespace softspine::testbeds
