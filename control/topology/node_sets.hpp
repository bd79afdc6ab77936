// SPDX-License-Identifier: Apache-2.0
// Sets of a fabric's nodes, as workloads, faults and captures name them:
//
//   h7                          a node
//   h1..h8                      names that differ in one number, in that order: also s1-h1-nic1..s1-h8-nic1, h8..h1
//   rail 1                      the first NIC of every server (hosts that a generator made)
//   tor2:*                      the hosts that are linked to tor2
//   server s1-*                 the NICs of the servers whose name is like this; * stands for anything
//   s1-*-nic1                   the nodes whose name is like this
//   job train 0..7 rail 2       of a job (job_sets.hpp)
//
// A set is in the fabric's order, a range in its own. A set without a node is an error.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/model/job.hpp"

namespace softspine::control {

enum class Among : uint8_t { kHosts, kNodes };  // what a name with a * may stand for

struct NamedNodes {
  std::vector<uint32_t> nodes;
  std::string wrong;    // why there are none
  std::string unknown;  // the name that no node has, for a guess at what was meant
  enum class Of : uint8_t { kNode, kServer, kJob };
  Of of = Of::kNode;  // whose name it is
};

class NodeSets {
 public:
  explicit NodeSets(const Fabric& fabric);

  // Whether the text is more than a node's name, which has letters, digits, '_' and '-' only.
  static bool is_set(std::string_view text);

  NamedNodes find(std::string_view text, Among among);
  void set_jobs(std::span<const Job> jobs) { jobs_ = jobs; }

  const std::vector<std::string_view>& names() const { return names_; }
  std::vector<std::string_view> names_of_servers() const;
  std::vector<std::string_view> names_of_jobs() const;

 private:
  NamedNodes look_up(std::string_view text, Among among);
  NamedNodes range(std::string_view first, std::string_view last) const;
  NamedNodes rail(std::string_view number);
  NamedNodes behind(std::string_view name) const;
  NamedNodes servers(std::string_view pattern);
  NamedNodes like(std::string_view pattern, Among among);
  bool may_scan();

  const Fabric& fabric_;
  std::span<const Job> jobs_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::vector<std::string_view> names_;
  uint64_t budget_ = 1'000'000'000;  // for nodes that are compared with patterns, and for members: seconds, 64 MB
};

}  // namespace softspine::control
