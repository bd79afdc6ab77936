// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/guest_folder.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "testbeds/guests/owned_folder.hpp"
#include "testbeds/guests/tsc.hpp"

namespace softspine::testbeds {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kConsoleEndBytes = 8192;
// The limit of a file that a guest wrote: it may write anything.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

std::expected<std::string, Error> read_file(const fs::path& path) {
  auto text = read_file_end(path, kMaxFileBytes + 1);
  if (text && text->size() > kMaxFileBytes) {
    return std::unexpected(Error{path.string(), "is larger than the guest has to say"});
  }
  return text;
}

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Cuts the first line off `text`.
std::string_view next_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string assignment(std::string_view key, std::string_view value) {
  return fmt::format("{}={}\n", key, shell_quoted(value));
}

std::string_view without_prefix_length(std::string_view address) {
  return address.substr(0, address.find('/'));
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string settings_text(const HostSetup& spec, double cpu_mhz) {
  std::string text = assignment("NAME", spec.name) + assignment("CPU_MHZ", fmt::format("{:.3f}", cpu_mhz)) +
                     assignment("BOND_MODE", spec.bond_mode) + assignment("NICS", std::to_string(spec.nics.size()));
  if (spec.vlan != 0) text += assignment("VLAN", std::to_string(spec.vlan));
  if (spec.stays) text += assignment("STAYS", "yes");
  if (spec.joins)
    text += assignment("JOINS", "yes") + assignment("ROUTES", fmt::format("{}", fmt::join(spec.routes, " ")));
  for (std::size_t i = 0; i < spec.nics.size(); ++i) {
    const auto& nic = spec.nics[i];
    const auto prefix = fmt::format("NIC{}_", i);
    text += assignment(prefix + "DEVICE", nic.device.empty() ? fmt::format("eth{}", i) : nic.device) +
            assignment(prefix + "MAC", nic.mac) + assignment(prefix + "MTU", std::to_string(nic.mtu)) +
            assignment(prefix + "ADDRESSES", fmt::format("{}", fmt::join(nic.addresses, " "))) +
            assignment(prefix + "GATEWAYS", fmt::format("{}", fmt::join(nic.gateways, " ")));
  }
  return text;
}

std::string env_text(const HostSetup& spec) {
  std::string text;
  for (const auto& [key, value] : spec.env) text += "export " + assignment(key, value);
  return text;
}

std::string loopback_of(std::string_view address) {
  std::string text{without_prefix_length(address)};
  in_addr number{};
  if (inet_pton(AF_INET, text.c_str(), &number) != 1) return "127.0.0.1";
  number.s_addr = htonl((ntohl(number.s_addr) & 0xffffff) | 0x7f400000);
  text.resize(INET_ADDRSTRLEN);
  return inet_ntop(AF_INET, &number, text.data(), INET_ADDRSTRLEN);
}

std::string loopback_text(std::span<const HostSetup> specs) {
  std::string text;
  for (const auto& spec : specs) {
    if (!spec.nics.empty() && !spec.nics.front().addresses.empty())
      text += fmt::format("{} {} {}\n", loopback_of(spec.nics.front().addresses.front()), spec.name,
                          without_prefix_length(spec.nics.front().addresses.front()));
  }
  return text;
}

std::string hosts_text(std::span<const HostSetup> specs) {
  std::string text = "127.0.0.1 localhost\n";
  for (const auto& spec : specs) {
    for (std::size_t i = 0; i < spec.nics.size(); ++i) {
      const auto name = i == 0 ? spec.name : fmt::format("{}-{}", spec.name, i);
      for (const auto& address : spec.nics[i].addresses) {
        text += fmt::format("{} {}\n", without_prefix_length(address), name);
      }
    }
  }
  return text;
}

std::expected<GuestCounters, Error> parse_counters(std::string_view text) {
  GuestCounters counters;
  for (int line_number = 1; !text.empty(); ++line_number) {
    const auto line = next_line(text);
    const auto blank = line.rfind(' ');
    const auto value = blank == std::string_view::npos ? std::nullopt : number<std::uint64_t>(line.substr(blank + 1));
    if (!value) return std::unexpected(Error{fmt::format("counters:{}", line_number), "not `device name value`"});
    counters.emplace(line.substr(0, blank), *value);
  }
  return counters;
}

std::expected<void, Error> write_folder(const fs::path& folder, const HostSetup& spec) {
  if (auto taken = take_folder(folder); !taken) return taken;
  std::error_code error;
  for (const auto* trace :
       {"ready", "stop", "process", "stdout", "stderr", "counters", "results.jsonl", "exit_status", "console", "uml"}) {
    fs::remove_all(folder / trace, error);
    if (error) return std::unexpected(Error{(folder / trace).string(), error.message()});
  }
  const std::pair<const char*, std::string> files[] = {
      {"settings", settings_text(spec, tsc_mhz())}, {"env", env_text(spec)}, {"run", spec.run + "\n"}};
  for (const auto& [name, text] : files) {
    if (auto written = write_new_file(folder / name, text); !written) return written;
  }
  return {};
}

std::expected<void, Error> lay_board(const fs::path& board, std::span<const HostSetup> specs) {
  if (auto emptied = empty_folder(board); !emptied) return emptied;
  std::string names;
  std::string namespaces;
  for (const auto& spec : specs) {
    names += spec.name + "\n";
    if (spec.is_at_once) namespaces += spec.name + "\n";
  }
  if (auto written = write_new_file(board / "guests", names); !written) return written;
  if (auto written = write_new_file(board / "namespaces", namespaces); !written) return written;
  if (auto written = write_new_file(board / "loopback", loopback_text(specs)); !written) return written;
  return write_new_file(board / "hosts", hosts_text(specs));
}

std::expected<void, Error> ask_to_stop(const fs::path& folder) {
  return write_new_file(folder / "stop", "");
}

std::vector<std::string> last_lines(std::string_view text, std::size_t lines) {
  std::vector<std::string> found;
  while (!text.empty()) {
    std::string line{next_line(text)};
    std::erase_if(line, [](char c) { return c < ' ' || c > '~'; });
    if (line.find_first_not_of(' ') != std::string::npos) found.push_back(std::move(line));
  }
  const auto panic = std::ranges::find_if(found, [](const auto& line) { return line.contains("Kernel panic"); });
  if (panic != found.end()) found.erase(panic + 1, found.end());
  if (found.size() > lines) found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(lines));
  return found;
}

std::vector<std::string> last_lines_of(const fs::path& file, std::size_t lines) {
  const auto end = read_file_end(file, kConsoleEndBytes);
  return end ? last_lines(*end, lines) : std::vector<std::string>{};
}

std::expected<GuestResult, Error> read_result(const fs::path& folder) {
  const auto status_text = read_file(folder / "exit_status");
  if (!status_text) {
    return std::unexpected(Error{(folder / "console").string(), "the guest ended without a result"});
  }
  std::string_view rest = *status_text;
  const auto status = number<int>(next_line(rest));
  if (!status) return std::unexpected(Error{(folder / "exit_status").string(), "not a number"});
  const auto counters_text = read_file(folder / "counters");
  if (!counters_text) return std::unexpected(counters_text.error());
  auto counters = parse_counters(*counters_text);
  if (!counters) return std::unexpected(Error{(folder / counters.error().path).string(), counters.error().message});
  return GuestResult{*status, folder / "stdout", folder / "stderr", folder / "console", std::move(*counters)};
}

}  // namespace softspine::testbeds
