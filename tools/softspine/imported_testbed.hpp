// SPDX-License-Identifier: Apache-2.0
// The testbed that an import writes, read again: what a testbed cannot have, though the file can, is an error.
//
// A switch of SONiC gets its own config_db.json as its profile (hash, QoS, buffers), and the subnet of its hosts. Where
// the file has what a profile refuses, or a subnet does not fit what is planned, the switch goes without, and a note
// has the reason. Tables that nothing here depends on are named.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "control/imports/import.hpp"
#include "control/imports/ns3_traffic.hpp"

namespace softspine::tools {

// `output`: the testbed's file, whose folder its paths start at; empty: stdout, and they start at the current one.
// `traffic`: what the file's flows ask for, may be null.
std::expected<std::string, control::Errors> imported_testbed(control::ForeignTopology& topology,
                                                             control::ImportFormat format,
                                                             const std::vector<control::ImportFile>& files,
                                                             const std::string& output,
                                                             const control::ForeignTraffic* traffic);

}  // namespace softspine::tools
