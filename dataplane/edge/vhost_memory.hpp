// SPDX-License-Identifier: Apache-2.0
// Checks a vhost-user peer's description of its memory before DPDK sees it. DPDK's server keeps the descriptor of a
// region that it cannot map: a peer that sends such tables again and again takes all descriptors of this process, and
// keeps other guests out. So a table passes only if each of its regions is shared memory of the stated size:
//
//   1 to 8 regions, a descriptor for each        a regular file (memfd, hugetlbfs, a file in /dev/shm)
//   mmap_offset + size, which does not overflow,  not more than the file has
//   all regions at once can be mapped, readable and writable, shared: address space and seals allow it
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::dataplane {

// `payload` of SET_MEM_TABLE: count, padding, then regions of guest address, size, user address and mmap_offset.
bool is_mappable_table(std::span<const uint8_t> payload, std::span<const OwnedFd> descriptors) noexcept;

// Requests of features that we do not offer (logging, crypto sessions, postcopy, inflight buffers). DPDK serves them
// all the same, and some of them keep descriptors.
bool is_of_a_refused_feature(uint32_t request) noexcept;

// How many descriptors may come with a request, other than SET_MEM_TABLE. DPDK keeps some of those that come with
// requests that have none.
size_t most_descriptors(uint32_t request) noexcept;

}  // namespace softspine::dataplane
