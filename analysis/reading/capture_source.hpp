// SPDX-License-Identifier: Apache-2.0
// The place where a capture was made, as the command line gives it:
//
//   FILE             its interfaces are named after ports, tor1:Ethernet4, as ours are
//   tor1=FILE        its interfaces are ports of tor1: Ethernet0, Ethernet4
//   tor1:Ethernet4=FILE    all of it was taken at this port
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "control/model/fabric.hpp"

namespace softspine::analysis {

struct CaptureSource {
  std::string file;
  std::string node;                      // the interfaces' node; empty: their names have it
  std::optional<control::LinkEnd> port;  // of all frames
};

// The error is a sentence.
std::expected<CaptureSource, std::string> capture_source(const control::Fabric& fabric, const std::string& text);

}  // namespace softspine::analysis
