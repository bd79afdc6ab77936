// SPDX-License-Identifier: Apache-2.0
// Several captures as one: their interfaces under names of their own, and the place of each frame.
//
//   tor1:Ethernet4       stays as it is, if one capture alone has it: our own captures name ports so
//   eth3                 becomes leaf1.pcap/eth3
//   tor1=FILE            eth3 of this file is tor1:eth3
//   tor1:Ethernet4=FILE  the file's one interface is this port
#pragma once

#include <string>
#include <vector>

#include "analysis/storm/clock_groups.hpp"
#include "analysis/storm/pause_log.hpp"

namespace softspine::analysis::storm {

// A capture as it was read for the first time.
struct CaptureOutline {
  std::string label;  // that distinguishes it: the file's name, or its path
  std::string place;  // given by the user: a node, a port; empty: not given
  std::vector<CapturedInterface> interfaces;
  CaptureClock clock;
  bool hears = false;  // some of its frames came in
};

class MergedCaptures {
 public:
  // `group`: whose captures are numbers of `captures`.
  MergedCaptures(const std::vector<CaptureOutline>& captures, const CaptureGroup& group);

  const std::vector<CapturedInterface>& interfaces() const { return interfaces_; }
  // Puts a frame of the group's n-th capture into its place and time. False: of an interface that was not there when
  // it was read for the first time.
  bool place(size_t n, CapturedFrame& frame) const;
  // How far any two clocks may be apart.
  dataplane::Duration uncertainty() const { return uncertainty_; }

 private:
  std::vector<CapturedInterface> interfaces_;
  std::vector<size_t> first_;  // by capture: its first interface; and the end
  std::vector<ClockMap> maps_;
  dataplane::Duration uncertainty_;
};

// Labels that distinguish files: names, or whole paths where two names are equal.
std::vector<std::string> labels_of(const std::vector<std::string>& files);

}  // namespace softspine::analysis::storm
