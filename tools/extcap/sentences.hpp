// SPDX-License-Identifier: Apache-2.0
// The sentences by which an extcap program answers Wireshark (its manual: extcap(4)), one a line.
#pragma once

#include <string>

#include "tools/extcap/fabric_ports.hpp"

namespace softspine::tools {

// extcap {…}, and an interface {…} for each fabric and port.
std::string interface_sentences(const std::vector<ListedFabric>& fabrics);
// dlt {…}: all are Ethernet.
std::string link_type_sentences();
// arg {…}: the options of the dialogue. Ports are chosen for a fabric only.
std::string option_sentences(const InterfaceName& name);

}  // namespace softspine::tools
