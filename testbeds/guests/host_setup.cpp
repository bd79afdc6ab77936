// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/host_setup.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace softspine::testbeds {
namespace {

bool only(std::string_view text, std::string_view allowed) {
  return std::ranges::all_of(
      text, [&](unsigned char c) { return std::isalnum(c) || allowed.contains(static_cast<char>(c)); });
}

bool names_a_host(const std::string& name) {
  return !name.empty() && name.size() <= 32 && only(name, "-") && name != "board" && name.front() != '-';
}

bool names_a_variable(const std::string& name) {
  return !name.empty() && only(name, "_") && !std::isdigit(static_cast<unsigned char>(name.front()));
}

bool is_mac(const std::string& mac) {
  if (mac.size() != 17) return false;
  for (std::size_t i = 0; i < mac.size(); ++i) {
    const auto c = static_cast<unsigned char>(mac[i]);
    if (i % 3 == 2 ? c != ':' : !std::isxdigit(c)) return false;
  }
  return true;
}

void check_nic(const NicSpec& nic, const std::string& where, std::vector<Error>& errors) {
  if (!is_mac(nic.mac)) errors.push_back({where + ".mac", "not a MAC address: " + nic.mac});
  if (nic.mtu < 68 || nic.mtu > 9216) errors.push_back({where + ".mtu", "must be from 68 to 9216"});
  for (const auto& address : nic.addresses) {
    if (!only(address, ".:/") || !address.contains('/')) {
      errors.push_back({where + ".addresses", "not an address with a prefix length: " + address});
    }
  }
  for (const auto& gateway : nic.gateways) {
    if (!only(gateway, ".:") || gateway.empty()) errors.push_back({where + ".gateways", "not an address: " + gateway});
  }
}

}  // namespace

bool fits_command_line(const std::string& path) {
  return path.starts_with('/') && only(path, "_./+-");
}

std::vector<Error> errors_of(const HostSetup& setup) {
  std::vector<Error> errors;
  if (!names_a_host(setup.name)) {
    errors.push_back({"name", "must be 1 to 32 letters, digits and dashes, and not 'board': " + setup.name});
  }
  if (setup.run.empty()) errors.push_back({"run", "is missing"});
  if (!only(setup.bond_mode, ".-")) errors.push_back({"bond_mode", "not a bonding mode: " + setup.bond_mode});
  for (std::size_t i = 0; i < setup.nics.size(); ++i) {
    check_nic(setup.nics[i], "nics[" + std::to_string(i) + "]", errors);
  }
  for (const auto& [key, value] : setup.env) {
    if (!names_a_variable(key)) errors.push_back({"env", "not a variable's name: " + key});
    if (value.contains('\0')) errors.push_back({"env." + key, "holds a zero byte"});
  }
  return errors;
}

}  // namespace softspine::testbeds
