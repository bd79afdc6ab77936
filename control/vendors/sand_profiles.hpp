// SPDX-License-Identifier: Apache-2.0
// Which of Arista's Sand profiles are in force, by
//
//   ip load-sharing sand profile NAME            of ECMP groups
//   port-channel load-balance sand profile NAME  of LAGs
//
// If a file has one of these lines, its profile is that of both. If a file has neither, it is the one that is called
// `default`, or the only one; a remark names the latter if its name is another.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "control/vendors/configuration_lines.hpp"

namespace softspine::control {

class SandProfiles {
 public:
  void add(std::string name) { names_.insert(std::move(name)); }
  void put_in_force(std::string name, bool of_lags) { (of_lags ? of_lags_ : of_ecmp_) = std::move(name); }
  void finish();  // after all of them

  bool has(std::string_view name) const { return names_.contains(name); }
  bool is_of_ecmp(std::string_view name) const { return of_ecmp_ == name; }
  bool is_in_force(std::string_view name) const { return of_ecmp_ == name || of_lags_ == name; }
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  std::set<std::string, std::less<>> names_;
  std::optional<std::string> of_ecmp_;
  std::optional<std::string> of_lags_;
  std::vector<std::string> remarks_;
};

SandProfiles sand_profiles_in(std::string_view text);

// The profile that the line stands in, if it stands in one.
std::optional<std::string_view> sand_profile_of(const ConfigurationLine& line);

}  // namespace softspine::control
