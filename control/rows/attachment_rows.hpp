// SPDX-License-Identifier: Apache-2.0
// What stands behind a host that is not built in, as it is written (control/model/attachment.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/format/format.hpp"
#include "control/model/attachment.hpp"
#include "control/rows/qos_rows.hpp"

namespace softspine::control {

// Paths in a guest, each with the path of a file or folder of this machine.
struct GuestFilesRow {
  struct Item {
    std::string place;
    Value key;
    std::string source;
    Value where;
  };
  std::vector<Item> items;
};
struct GuestRow {
  Value where;
  GuestKind kind = GuestKind::kUml;
  std::string run;
  Bytes memory{Guest{}.memory_bytes};
  uint32_t cpus = Guest{}.cpus;
  dataplane::Duration timeout = Guest{}.timeout;
  std::optional<std::string> root;
  std::optional<GuestFilesRow> files;
  std::optional<std::string> kernel;
};
struct NamespaceRow {
  Value where;
  std::string run;
  std::string join;
  std::optional<std::string> interface;
  dataplane::Duration timeout = NamespaceHost{}.timeout;
};
struct VerbsRow {
  Value where;
  std::string run;
  dataplane::Duration timeout = VerbsHost{}.timeout;
};
struct TapRow {
  Value where;
  std::string name;
};
struct AfPacketRow {
  Value where;
  std::string interface;
};
struct VhostUserRow {
  Value where;
  std::string socket;
};
struct PcapRow {
  Value where;
  std::string in;
  std::string out;
  std::optional<PcapZero> zero;
  std::optional<dataplane::Duration> offset;
};
struct EdgeRow {
  Value where;
  std::optional<TapRow> tap;
  std::optional<AfPacketRow> af_packet;
  std::optional<VhostUserRow> vhost_user;
  std::optional<PcapRow> pcap;
  std::optional<std::string> dpdk;
};

struct NicRow {
  Value where;
  std::optional<PriorityList> pfc_enable;
  dataplane::NicParameters parameters;
};

}  // namespace softspine::control
