// SPDX-License-Identifier: Apache-2.0
#include "tools/extcap/sentences.hpp"

#include <fmt/format.h>

namespace softspine::tools {

namespace {

std::string interface_sentence(const InterfaceName& name, const std::string& display) {
  return fmt::format("interface {{value={}}}{{display={}}}\n", text_of(name), display);
}

// `*` is every port: Wireshark leaves out options without a value.
constexpr const char* kPorts =
    "arg {number=0}{call=--ports}{display=Ports}{type=string}{default=*}{tooltip=Nodes, names or patterns between "
    "blanks, such as tor1 spine*:* h1:eth0; * is what every port sends, each frame once a link}\n";
constexpr const char* kOthers =
    "arg {number=1}{call=--direction}{display=Direction}{type=selector}{tooltip=Seen from the port}\n"
    "value {arg=1}{value=both}{display=sent and received}{default=true}\n"
    "value {arg=1}{value=sent}{display=sent}{default=false}\n"
    "value {arg=1}{value=received}{display=received}{default=false}\n"
    "arg {number=2}{call=--filter}{display=Filter}{type=string}{tooltip=A capture filter, such as ether proto 0x8808 "
    "for pauses. It takes effect in the fabric}\n"
    "arg {number=3}{call=--snaplen}{display=Snap length}{type=unsigned}{range=0,65535}{default=0}{tooltip=Bytes kept "
    "of "
    "a frame; 0: whole frames}\n";

}  // namespace

std::string interface_sentences(const std::vector<ListedFabric>& fabrics) {
  std::string out = fmt::format("extcap {{version={}}}{{display=softspine}}\n", SOFTSPINE_VERSION);
  for (const ListedFabric& fabric : fabrics) {
    out += interface_sentence({fabric.name, ""}, "fabric " + fabric.name);
    for (const ListedPort& port : fabric.ports) {
      out += interface_sentence({fabric.name, port.name}, "link to " + port.peer);
    }
  }
  return out;
}

std::string link_type_sentences() {
  return "dlt {number=1}{name=EN10MB}{display=Ethernet}\n";
}

std::string option_sentences(const InterfaceName& name) {
  return std::string{name.port.empty() ? kPorts : ""} + kOthers;
}

}  // namespace softspine::tools
