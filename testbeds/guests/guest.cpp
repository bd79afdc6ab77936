// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/guest.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>
#include <utility>

namespace softspine::testbeds {
namespace {

// User-mode Linux keeps its memory in a file in /dev/shm; a container's may be too small, and a full one is a SIGBUS.
bool shared_memory_holds(unsigned memory_mib) {
  struct statvfs room{};
  if (statvfs("/dev/shm", &room) != 0) return false;
  return std::uint64_t{room.f_bavail} * room.f_frsize > (std::uint64_t{memory_mib} + 64) << 20;
}

// A command in a namespace uses this machine's programs, and finds them where we do.
std::vector<std::string> our_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

std::vector<std::string> environment_of(const GuestSpec& spec, const GuestPlaces& places) {
  if (spec.kind == GuestKind::kNamespace) return our_environment();
  std::vector<std::string> environment{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/"};
  if (!shared_memory_holds(spec.memory_mib)) environment.push_back("TMPDIR=" + places.folder.string());
  return environment;
}

std::expected<KeptProcess, Error> boot(const GuestSpec& spec, const Installation& installation,
                                       const GuestPlaces& places) {
  if (auto written = write_folder(places.folder, spec); !written) return std::unexpected(written.error());
  const auto command = command_of(spec, installation, places);
  return KeptProcess::start(installation.keeper, command, environment_of(spec, places), places.folder / "console",
                            sight_of(spec, installation, places));
}

std::vector<Error> errors_of(const GuestSpec& spec, const GuestPlaces& places) {
  auto errors = testbeds::errors_of(spec);
  for (const auto& path : {places.folder.string(), places.board.string()}) {
    if (!fits_command_line(path))
      errors.push_back({path, "a guest's folder must be an absolute path of letters, digits and _./+-"});
  }
  return errors;
}

}  // namespace

Guest::Guest(GuestSpec spec, Installation installation, GuestPlaces places, KeptProcess process)
    : spec_(std::move(spec)),
      installation_(std::move(installation)),
      places_(std::move(places)),
      process_(std::move(process)) {}

std::expected<Guest, std::vector<Error>> Guest::start(const GuestSpec& spec, const Installation& installation,
                                                      const std::filesystem::path& run_folder) {
  const GuestPlaces places{run_folder / spec.name, run_folder / "board"};
  if (auto errors = errors_of(spec, places); !errors.empty()) return std::unexpected(std::move(errors));
  std::error_code error;
  std::filesystem::create_directories(places.board, error);
  if (error) return std::unexpected(std::vector{Error{places.board.string(), error.message()}});
  auto process = boot(spec, installation, places);
  if (!process) return std::unexpected(std::vector{process.error()});
  return Guest(spec, installation, places, std::move(*process));
}

bool Guest::ready() const {
  std::error_code ignored;
  return std::filesystem::exists(places_.folder / "ready", ignored);
}

bool Guest::stop(std::chrono::milliseconds grace) {
  const bool asked = ask_to_stop(places_.folder).has_value();
  const bool ended = asked && process_.await_end(grace);
  process_.kill();
  return ended;
}

std::expected<void, Error> Guest::restart() {
  process_.kill();
  auto process = boot(spec_, installation_, places_);
  if (!process) return std::unexpected(process.error());
  process_ = std::move(*process);
  return {};
}

}  // namespace softspine::testbeds
