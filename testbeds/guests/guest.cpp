// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/guest.hpp"

#include <sys/statvfs.h>

#include <cstdint>
#include <utility>

namespace softspine::testbeds {
namespace {

// User-mode Linux keeps its memory in a file in /dev/shm; a container's may be too small, and a full one is a SIGBUS.
bool shared_memory_holds(unsigned memory_mib) {
  struct statvfs room{};
  if (statvfs("/dev/shm", &room) != 0) return false;
  return std::uint64_t{room.f_bavail} * room.f_frsize > (std::uint64_t{memory_mib} + 64) << 20;
}

std::vector<std::string> environment_of(const GuestSpec& spec, const GuestPlaces& places) {
  std::vector<std::string> environment{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/"};
  if (!shared_memory_holds(spec.memory_mib)) environment.push_back("TMPDIR=" + places.folder.string());
  return environment;
}

}  // namespace

std::expected<HostedCommand, std::vector<Error>> start_guest(const GuestSpec& spec, const Installation& installation,
                                                             const std::filesystem::path& run_folder,
                                                             std::optional<int> line) {
  const GuestPlaces places = places_in(run_folder, spec);
  std::vector<Error> errors = errors_of(spec);
  for (Error& error : errors_of(places)) errors.push_back(std::move(error));
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return HostedCommand::start(spec, places,
                              {.keeper = installation.keeper,
                               .command = command_of(spec, installation, places, line),
                               .environment = environment_of(spec, places),
                               .sight = sight_of(spec, installation, places),
                               .kept = line});
}

}  // namespace softspine::testbeds
