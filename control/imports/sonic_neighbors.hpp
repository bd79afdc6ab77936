// SPDX-License-Identifier: Apache-2.0
// SONiC's config_db.json files of one or several switches, as far as links and subnets go.
//
//   DEVICE_NEIGHBOR|PORT          name and port at the other end: a link
//   DEVICE_NEIGHBOR_METADATA|NAME type of a neighbour: ToRRouter, LeafRouter, SpineRouter, Server, …
//   DEVICE_METADATA|localhost     hostname (the file's name if it has none) and type of the switch itself
//   PORT|PORT                     speed, mtu, alias; a port that is administratively down has no link
//   CABLE_LENGTH|…|PORT           length of the cable
//   PORTCHANNEL, …                LAGs: sonic_channels.hpp
//   VLAN_INTERFACE                the subnet of the hosts on the switch: sonic_hosts.hpp
//
// Several files' descriptions of one link must agree: both its ends, and its speed. A neighbour whose own file is there
// must know of the link, by the port's name or its alias.
#pragma once

#include <vector>

#include "control/document/reader.hpp"
#include "control/imports/foreign_topology.hpp"

namespace softspine::control {

// False if something is wrong, which is then reported.
bool read_sonic_neighbors(Reader& reader, const std::vector<ImportFile>& files, const ImportOptions& options,
                          ForeignTopology& out);

}  // namespace softspine::control
