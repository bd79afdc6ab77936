// SPDX-License-Identifier: Apache-2.0
// Which node a source of pause frames is of, where a switch has one MAC address for all of its ports (SONiC has), and
// which way its frames went where the capture does not show it. Known facts come first:
//
//   a list        names the node of an address
//   the way       a frame that left a port is of its node: pause frames are never forwarded
//   two links     a source that was seen at two ports of a node whose links lead to different nodes is none of these,
//                 and is the node's own
//   elsewhere     at a port of another node that is named so (NODE:PORT), its frames came in
//   what is left  of a node that has one address for its ports, every other source came in, and is of the other end of
//                 its link; where the other end has such an address, every other source is the port's own
//
// Nothing follows from a place that saw more than two sources, since it is no end of a link, nor from a place that has
// no name. An address that two nodes seem to have is nobody's.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/storm/pause_log.hpp"

namespace softspine::analysis::storm {

class NodeMacs {
 public:
  // `captured`: ports of the log, by the recorder's. All links that are known have been joined.
  NodeMacs(const PauseRecorder& recorded, const KnownFabric& known, const std::vector<uint32_t>& captured,
           const PauseLog& log);

  // The recorder's, with the ways that are known by now.
  const std::vector<Sender>& senders() const { return senders_; }
  // Null: not known.
  const std::string* node_of(uint64_t mac) const {
    const auto it = owners_.find(mac);
    return it == owners_.end() || it->second.empty() ? nullptr : &it->second;
  }

 private:
  const std::string& here(const Sender& it) const { return log_.node_name(captured_[it.port]); }
  const std::string* there(const Sender& it) const;
  bool is_port_of_a_node(const Sender& it) const { return here(it) != log_.name(captured_[it.port]); }
  bool tells(const Sender& it) const;
  void own(uint64_t mac, const std::string& node);
  void find_own();
  bool settle(Sender& it);

  const PauseRecorder& recorded_;
  const std::vector<uint32_t>& captured_;
  const PauseLog& log_;
  std::vector<Sender> senders_;
  std::map<uint32_t, size_t> sources_;                // by port: those whose way is unknown
  std::unordered_map<uint64_t, std::string> owners_;  // empty: two nodes seem to have it
  std::set<std::string> has_one_;                     // nodes with one address for their ports
};

}  // namespace softspine::analysis::storm
