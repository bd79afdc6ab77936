// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/recount_ways.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>

namespace softspine::tests {
namespace {

using Words = std::vector<std::string>;

struct Way {
  bool is_drawn = false;
  std::string end;
  std::set<std::string> ports;
};

// The columns of a row.
Words words_of(const std::string& row) {
  Words out;
  std::istringstream in{row};
  for (std::string word; std::getline(in, word, '|');) out.push_back(word);
  return out;
}

// By flow; the last one of each, where nothing changes it.
std::map<uint32_t, Way> ways_in(const testbeds::RecordedTables& recording) {
  std::map<std::string, std::string> names;  // of ports
  for (const std::string& row : recording.at("ports")) names[words_of(row)[0]] = words_of(row)[2];
  std::map<std::string, std::set<std::string>> ports;
  for (const std::string& row : recording.at("flow_way_ports")) {
    const Words words = words_of(row);
    ports[words[0]].insert(names.at(words[2]));
  }
  std::map<uint32_t, Way> out;
  for (const std::string& row : recording.at("flow_ways")) {
    const Words words = words_of(row);
    if (words[2] != "null")
      out[static_cast<uint32_t>(std::stoul(words[2]))] = {words[3] == "1", words.at(4), ports[words[0]]};
  }
  return out;
}

bool can_change(const control::Testbed& testbed) {
  return testbed.engineering || !testbed.faults.empty() || !testbed.host_faults.empty() || !testbed.port_faults.empty();
}

}  // namespace

void recount_ways(const CapturedRun& run, const testbeds::RecordedTables& recording, Recount& out) {
  if (can_change(run.testbed)) return;
  std::map<CapturedRun::FlowKey, std::set<std::string>> taken;
  for (const CapturedFrame& frame : run.captured.frames) {
    if (!frame.roce) continue;
    taken[{frame.roce->source, frame.roce->destination, frame.roce->qp}].insert(
        run.captured.interfaces[frame.interface]);
  }
  const std::map<uint32_t, Way> ways = ways_in(recording);
  for (uint32_t i = 0; i < run.snapshot.flows.size(); ++i) {
    const control::FlowSnapshot& flow = run.snapshot.flows[i];
    const std::set<std::string>& found = taken[run.key_of(flow)];
    const auto way = ways.find(i);
    if (way == ways.end() || way->second.end != "arrives" || flow.foreign != 0 || flow.received_packets == 0) continue;
    ++out.compared["ways"];
    for (const std::string& port : found) {
      if (!way->second.ports.contains(port))
        out.findings.push_back(fmt::format("ways: flow {} has left by {}, which is not on its way", i, port));
    }
    for (const std::string& port : way->second.ports) {
      if (!way->second.is_drawn && !found.contains(port))
        out.findings.push_back(fmt::format("ways: flow {} has never left by {} of its way", i, port));
    }
  }
}

}  // namespace softspine::tests
