// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading/port_captures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "analysis/reading/capture_file.hpp"
#include "analysis/reading/captured_packet.hpp"
#include "analysis/storm/capture_reader.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/scratch_packet.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

// The port of an interface; empty if it is none of the group's. Asked at the end for interfaces without frames, too.
using PortOf = std::function<std::string(const storm::CapturedInterface&)>;

// Addresses that no router forwards to.
bool stays_on_link(const Flow& flow) {
  const auto& to = flow.destination;
  if (!flow.is_ipv6) return (to[0] & 0xf0) == 0xe0 || to[0] == 0xff || (to[0] == 169 && to[1] == 254);
  return to[0] == 0xff || (to[0] == 0xfe && (to[1] & 0xc0) == 0x80);
}

class PortCollection {
 public:
  explicit PortCollection(ObservationCollector& out) : out_(out) {}

  void take(const storm::CapturedFrame& frame, const std::string& port) {
    if (frame.way == storm::Way::kIn) {
      ++counts.came_in;
      return;
    }
    const BareFrame bare = without_tags(frame.bytes, frame.original_bytes);
    dp::Packet& packet = scratch_.load(bare.bytes, bare.length);
    dp::parse(packet);
    const bool is_ip = (packet.meta().flags & (dp::kIsIpv4 | dp::kIsIpv6)) != 0;
    Flow flow = is_ip ? analysis::flow_of(packet) : Flow{};
    if (!is_ip || stays_on_link(flow)) {
      ++counts.not_routed;
      return;
    }
    flow.opcode = 0;  // the packets of a queue pair have several
    out_.add(flow, port);
  }
  CapturedAtPorts counts;

 private:
  ObservationCollector& out_;
  dp::ScratchPacket scratch_;
};

std::expected<void, std::string> read_file(const std::string& name, const PortOf& port_of, PortCollection& out) {
  auto file = CaptureFile::open(name, false);
  if (!file) return std::unexpected(file.error());
  const storm::CaptureReader& reader = file->reader();
  storm::CapturedFrame frame;
  for (;;) {
    const auto got = file->next(frame);
    if (!got) return std::unexpected(got.error());
    if (!*got) break;
    const storm::CapturedInterface& interface = reader.interfaces()[frame.interface];
    ++out.counts.frames;
    const std::string port = port_of(interface);
    if (port.empty()) {
      ++out.counts.other_interfaces;
    } else if (!interface.is_ethernet()) {
      return std::unexpected(name + ": is no capture of Ethernet");
    } else {
      out.take(frame, port);
    }
  }
  for (const storm::CapturedInterface& interface : reader.interfaces()) port_of(interface);
  for (const std::string& note : file->notes()) out.counts.notes.push_back(name + ": " + note);
  return {};
}

}  // namespace

std::expected<CapturedAtPorts, std::string> read_port_captures(const PortCaptures& captures,
                                                               ObservationCollector& out) {
  PortCollection collection{out};
  std::set<std::string> interfaces;
  std::set<std::string> met;
  for (const std::string& port : captures.ports) {
    const size_t equals = port.find('=');
    std::string name = port.substr(0, equals);
    if (name.empty()) return std::unexpected("--port: expected NAME=FILE or NAME, not '" + port + "'");
    out.add_link(name);
    if (equals == std::string::npos) {
      interfaces.insert(name);
      continue;
    }
    const auto read = read_file(port.substr(equals + 1), [&](const auto&) { return name; }, collection);
    if (!read) return std::unexpected(read.error());
  }
  const auto port_of = [&](const storm::CapturedInterface& interface) {
    met.insert(interface.name);
    return interfaces.empty() || interfaces.contains(interface.name) ? interface.name : std::string{};
  };
  for (const std::string& file : captures.files) {
    if (const auto read = read_file(file, port_of, collection); !read) return std::unexpected(read.error());
  }
  for (const std::string& name : interfaces) {
    if (!met.contains(name))
      return std::unexpected(fmt::format("--port {}: there is no such interface in {}", name,
                                         captures.files.empty() ? "any file: give --pcap FILE" : "the captures"));
  }
  return collection.counts;
}

}  // namespace softspine::analysis
