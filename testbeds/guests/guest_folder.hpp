// SPDX-License-Identifier: Apache-2.0
// The folder on the host from which a guest reads its command and to which it writes the result.
//
//   written here    settings, env, run (read by root/init); stop (asks a running guest to end its command)
//   by the guest    ready, stdout, stderr, counters, exit_status (the last one, by rename: it exists only when all the
//                   others do)
//   by its process  console (the kernel's messages)
//
// Beside the guests' folders lies `board`, shared by all guests of a testbed: signals between commands, `hosts`, and
// `guests`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testbeds/guests/host_setup.hpp"
#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

// Counter values by "device counter", e.g. "rxe0 out_of_seq_request", "eth0 rx_packets".
using GuestCounters = std::map<std::string, std::uint64_t>;

struct GuestResult {
  int exit_status = 0;  // of the command; 125 when the guest could not be set up (the reason is in stderr)
  std::filesystem::path stdout_path;
  std::filesystem::path stderr_path;
  std::filesystem::path console_path;
  GuestCounters counters;
};

// Pure functions.
std::string shell_quoted(std::string_view text);
std::string settings_text(const HostSetup& spec, double cpu_mhz);
std::string env_text(const HostSetup& spec);
// /etc/hosts of all guests: the first address of a family under the guest's name, further NICs' as NAME-1, NAME-2.
std::string hosts_text(std::span<const HostSetup> specs);
// An address on this machine that stands for a host of the fabric, whose processes run here: 127.64.0.0/10 with the
// last 22 bits of its own. And those of all, one a line: this address, name, address in the fabric.
std::string loopback_of(std::string_view address);
std::string loopback_text(std::span<const HostSetup> specs);
std::expected<GuestCounters, Error> parse_counters(std::string_view text);
// The last lines that hold anything, without bytes that are not text, since a guest writes what it likes to its
// console. For a kernel that has panicked: the lines up to the one with the reason, which a trace follows.
std::vector<std::string> last_lines(std::string_view text, std::size_t lines);

// Takes `folder` (owned_folder.hpp), empties it of an earlier run's traces and writes what the guest reads.
std::expected<void, Error> write_folder(const std::filesystem::path& folder, const HostSetup& spec);
// Takes the board, empties it and writes to it `hosts`, `loopback`, `guests` and `namespaces` (names, one a line; the
// latter those that are set up at once). To be called before the first guest starts.
std::expected<void, Error> lay_board(const std::filesystem::path& board, std::span<const HostSetup> specs);
std::expected<void, Error> ask_to_stop(const std::filesystem::path& folder);
// last_lines() of a file's last 8 KiB; none when there is no such file.
std::vector<std::string> last_lines_of(const std::filesystem::path& file, std::size_t lines);
std::expected<GuestResult, Error> read_result(const std::filesystem::path& folder);

}  // namespace softspine::testbeds
