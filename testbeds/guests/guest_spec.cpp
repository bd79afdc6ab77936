// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/guest_spec.hpp"

#include <sys/un.h>

namespace softspine::testbeds {

std::vector<Error> errors_of(const GuestSpec& spec) {
  const HostSetup& setup = spec;
  std::vector<Error> errors = errors_of(setup);
  if (spec.memory_mib < 64 || spec.memory_mib > 65536) errors.push_back({"memory_mib", "must be from 64 to 65536"});
  for (std::size_t i = 0; i < spec.nics.size(); ++i) {
    const std::string& socket = spec.nics[i].vhost_socket;
    if (fits_command_line(socket) && socket.size() < sizeof(sockaddr_un::sun_path)) continue;
    errors.push_back({"nics[" + std::to_string(i) + "].vhost_socket",
                      "must be an absolute path of at most 107 letters, digits and _./+-"});
  }
  if (spec.root.kind != LayerKind::kNone && !fits_command_line(spec.root.path.string()))
    errors.push_back({"root", "must be an absolute path of letters, digits and _./+-"});
  return errors;
}

}  // namespace softspine::testbeds
