// SPDX-License-Identifier: Apache-2.0
// The files of a drawn testbed's pcap edges, beside it (drawn_files.hpp). What enters by an edge is what the built-in
// hosts of the same testbed send when built-in hosts stand in the edges' places: a capture that a run before has
// written.
#pragma once

#include <map>
#include <string>

namespace softspine::testbeds {

inline constexpr const char* kEdgeInput = "drawn-in.pcapng";
inline constexpr const char* kEdgeOutput = "drawn-out";  // and a digit

// Writes the input if the testbed names it. False: the run that was to write it cannot be.
bool put_edge_input(const std::string& text);

// The bytes of what edges have written, by the file's name; the files are gone then.
std::map<std::string, std::string> take_edge_outputs();

}  // namespace softspine::testbeds
