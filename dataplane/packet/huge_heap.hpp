// SPDX-License-Identifier: Apache-2.0
// Memory from malloc lies in transparent huge pages from now on, also where the system gives these on request only
// ("madvise"). No cache holds the nodes of a fabric of thousands, and with pages of 4 KiB each look at one costs a
// walk through page tables as well.
#pragma once

namespace softspine::dataplane {

// Called before anything large is allocated. False: address space, the data segment or memory to commit is limited, and
// malloc goes on with pages of 4 KiB.
bool use_huge_pages_for_heap();

}  // namespace softspine::dataplane
