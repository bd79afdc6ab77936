// SPDX-License-Identifier: Apache-2.0
// Keeps DPDK's environment layer from loading all device drivers that the system has.
//
// Where DPDK's libraries are shared ones, rte_eal_init() opens every library in its drivers' folder, and no argument
// turns that off. Debian has 128 there: with them a small run's start takes 0.26 s of CPU time and 46 MB, without them
// 0.14 s and 31 MB (AMD EPYC). The layer finds out by dlopen(), without loading, whether it is a shared library. So
// this program has a dlopen() of its own, which passes everything on to the C library's, but says no to that one
// question while a NoDriverSearch lives on the thread that asks. Mempools name the driver "ring" even where they do not
// use it: it alone is loaded. If it is not found, the layer loads all, as always.
#pragma once

namespace softspine::dataplane {

class NoDriverSearch {
 public:
  NoDriverSearch();
  ~NoDriverSearch();
  NoDriverSearch(const NoDriverSearch&) = delete;
  NoDriverSearch& operator=(const NoDriverSearch&) = delete;
};

}  // namespace softspine::dataplane
