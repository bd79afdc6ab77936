// SPDX-License-Identifier: Apache-2.0
// The topology files of HPCC's ns-3 simulator, and those of SimAI, which stands on it.
//
//   HPCC    NODES SWITCHES LINKS
//   SimAI   NODES GPUS_PER_SERVER NVSWITCHES SWITCHES LINKS GPU_TYPE
//           the numbers of all NVSwitches, then of all switches; every other node of 0 … NODES-1 is a host
//           NODE NODE RATE DELAY ERROR_RATE        once for each link
//
// Rate: 100Gbps or 100Gb/s. Delay: of the cable, one way, from which its length follows (198,000 km a second). Error
// rate: the share of packets, 0 … 1, that arrive damaged. Like ns-3, the reader
// ignores what follows the declared links. ns-3 knows a link by its two nodes, so a pair that stands twice is an error.
// An NVSwitch and its links are inside a server: they become the `server` of its GPUs, numbered as SimAI numbers them
// (GPU / GPUS_PER_SERVER).
#pragma once

#include "control/document/reader.hpp"
#include "control/imports/foreign_topology.hpp"

namespace softspine::control {

// False if something is wrong, which is then reported.
bool read_ns3_topology(Reader& reader, const ImportFile& file, ImportFormat format, ForeignTopology& out);

}  // namespace softspine::control
