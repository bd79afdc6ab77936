// SPDX-License-Identifier: Apache-2.0
// The double binary tree, AllReduce only: chunks go up reduced and down again, in a pipeline.
//
// Tree 1: bit = the lowest set bit of r. Parent (r ^ bit) | (bit · 2), or r ^ bit if there is no such rank. Children
// r − bit / 2 and r + bit / 2, this one with bit / 2 halved until there is such a rank. Rank 0 is the root; its child
// is the largest power of two below n. Tree 2 is its mirror (n even: r plays n − 1 − r) or the same shifted by one (n
// odd): who is inner in one is a leaf in the other. The first half of the channels has tree 1.
//
// Several GPUs a server: the tree is one of servers, each with its GPU c mod k for channel c, and the server's other
// GPUs hang below that one in a chain.
//
// A rank's thread block is two halves, up and down; the root's is one.
#include <algorithm>
#include <memory>

#include "control/collectives/collective_algorithms.hpp"

namespace softspine::control {
namespace {

// In the numbers of tree 1.
struct TreePlace {
  bool is_root = false;
  uint32_t parent = 0;
  Peers children;
};

TreePlace tree_place(uint32_t rank, uint32_t ranks) {
  TreePlace place;
  if (rank == 0) {
    place.is_root = true;
    if (ranks == 1) return place;
    uint32_t child = 1;
    while (child * 2 < ranks) child *= 2;
    place.children.add(child);
    return place;
  }
  const uint32_t bit = rank & (~rank + 1);
  place.parent = (rank ^ bit) | (bit << 1U);
  if (place.parent >= ranks) place.parent = rank ^ bit;
  uint32_t half = bit / 2;
  if (half > 0) place.children.add(rank - half);
  while (half > 0 && rank + half >= ranks) half /= 2;
  if (half > 0) place.children.add(rank + half);
  return place;
}

// Who plays which rank of tree 1.
class Cast {
 public:
  Cast(uint32_t ranks, bool second) : n_(ranks), second_(second) {}
  uint32_t role_of(uint32_t rank) const {
    if (!second_) return rank;
    return n_ % 2 == 0 ? n_ - 1 - rank : (rank + n_ - 1) % n_;
  }
  uint32_t rank_of(uint32_t role) const {
    if (!second_) return role;
    return n_ % 2 == 0 ? n_ - 1 - role : (role + 1) % n_;
  }

 private:
  uint32_t n_;
  bool second_;
};

// A server's place is its first GPU's; all others have the one before them as parent.
TreePlace place_in_tree(const CollectiveShape& shape, uint32_t channel, uint32_t rank) {
  const uint32_t gpus = shape.per_server;
  const uint32_t first = channel % gpus;
  const uint32_t server = rank / gpus;
  const uint32_t link = (rank % gpus + gpus - first) % gpus;  // of the chain
  const auto at = [&](uint32_t of_server, uint32_t of_chain) { return of_server * gpus + (first + of_chain) % gpus; };
  TreePlace out;
  if (link > 0) {
    out.parent = at(server, link - 1);
  } else {
    const Cast cast(shape.ranks / gpus, channel >= (shape.channels + 1) / 2);
    const TreePlace role = tree_place(cast.role_of(server), shape.ranks / gpus);
    out.is_root = role.is_root;
    out.parent = at(cast.rank_of(role.parent), 0);
    for (const uint32_t child : role.children.all()) out.children.add(at(cast.rank_of(child), 0));
  }
  if (link + 1 < gpus) out.children.add(at(server, link + 1));
  return out;
}

enum class TreeHalf : uint8_t { kUp, kDown, kRoot };

class TreeLane final : public Lane {
 public:
  TreeLane(const Cut& cut, uint32_t channel, TreeHalf half, Peers parent, Peers children)
      : Lane(channel),
        cut_(cut),
        half_(half),
        parent_(parent),
        children_(children),
        part_(cut.part(channel)),
        chunk_bytes_(cut.chunk_bytes(part_.bytes)) {}

  bool next(Step& out) noexcept override {
    if (done_ == part_.bytes) return false;
    const ByteRange chunk{part_.offset + done_, std::min(chunk_bytes_, part_.bytes - done_)};
    const ByteRange slice = cut_.slice(chunk.bytes, slice_);
    out.data.bytes = slice.bytes;
    fill(out, chunk.offset + slice.offset);
    if (++slice_ == cut_.slices()) {
      slice_ = 0;
      done_ += chunk.bytes;
    }
    return true;
  }

 private:
  void fill(Step& out, uint64_t offset) const {
    out.from = half_ == TreeHalf::kDown ? parent_ : children_;
    out.to = half_ == TreeHalf::kUp ? parent_ : children_;
    if (half_ != TreeHalf::kDown) out.data.reads = DataPlace::kInput;
    if (half_ != TreeHalf::kUp) out.data.writes = DataPlace::kOutput;
    out.data.read_offset = offset;
    out.data.write_offset = offset;
  }

  Cut cut_;
  TreeHalf half_;
  Peers parent_;
  Peers children_;
  ByteRange part_;
  uint64_t chunk_bytes_;
  uint64_t done_ = 0;
  uint32_t slice_ = 0;
};

}  // namespace

Lanes tree_lanes(const CollectiveShape& shape, const Cut& cut, uint32_t rank) {
  Lanes lanes;
  for (uint32_t channel = 0; channel < cut.channels(); ++channel) {
    const TreePlace place = place_in_tree(shape, channel, rank);
    if (place.is_root) {
      lanes.push_back(std::make_unique<TreeLane>(cut, channel, TreeHalf::kRoot, Peers{}, place.children));
      continue;
    }
    Peers parent;
    parent.add(place.parent);
    lanes.push_back(std::make_unique<TreeLane>(cut, channel, TreeHalf::kUp, parent, place.children));
    lanes.push_back(std::make_unique<TreeLane>(cut, channel, TreeHalf::kDown, parent, place.children));
  }
  return lanes;
}

}  // namespace softspine::control
