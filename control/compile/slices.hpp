// SPDX-License-Identifier: Apache-2.0
// Path pinning by destination slice (Meta, SIGCOMM 2024): a host's slice is its place among the hosts of its subnet,
// that is, the index of its ToR's downlink, and a slice has uplinks of its own.
//
//   uplinks  slices
//   16       16      one for each slice (1:1)
//   32       16      two for each slice (1:2): uplinks i and i + 16. The slice means no more than that: ECMP hashes
//                    each flow to one of the two
//   8        16      slices i and i + 8 share uplink i
//
// Uplinks are dealt as if every link were up, so a failure moves only the slices that used the failed link. A slice
// that has lost some of its uplinks keeps to the others; one that has lost all is hashed over all that are left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace softspine::control {

// The uplinks of slice `slice` of `slices`, ascending; one at least. `uplinks` are ascending and not empty.
inline std::vector<uint16_t> uplinks_of(const std::vector<uint16_t>& uplinks, size_t slice, size_t slices) {
  std::vector<uint16_t> out{uplinks[slice % uplinks.size()]};
  for (size_t i = slice + slices; i < uplinks.size(); i += slices) out.push_back(uplinks[i]);
  return out;
}

// The ports of `its` that are in `present`; all three lists are ascending.
inline std::vector<uint16_t> present_of(const std::vector<uint16_t>& its, const std::vector<uint16_t>& present) {
  std::vector<uint16_t> out;
  std::ranges::set_intersection(its, present, std::back_inserter(out));
  return out;
}

}  // namespace softspine::control
