// SPDX-License-Identifier: Apache-2.0
// A fault's effect, in words for the report and the summary of a run: "link tor1:Ethernet16 – core1:Ethernet0 down".
#pragma once

#include <string>
#include <vector>

#include "control/model/testbed.hpp"

namespace softspine::testbeds {

std::string fault_text(const control::Fabric& fabric, const std::vector<uint32_t>& links, bool up);
// "link tor1:Ethernet16 – core1:Ethernet0 and 3 more"
std::string links_text(const control::Fabric& fabric, const std::vector<uint32_t>& links);
std::string fault_text(const control::Testbed& testbed, const control::ProfileChange& change);
// The text is built by the kind's row. `begins`: the fault begins; else it ends.
std::string fault_text(const control::Fabric& fabric, const control::Fault& fault, bool begins);
std::string fault_text(const control::Fabric& fabric, const control::HostFault& fault, bool begins);
std::string fault_text(const control::Fabric& fabric, const control::PortFault& fault, bool begins);

}  // namespace softspine::testbeds
