// SPDX-License-Identifier: Apache-2.0
// The tables of the generators' parameters: fabrics of one or two tiers, and fat trees.
#include "control/rows/fabric_size.hpp"

namespace softspine::control {
namespace {

std::string even(const uint32_t& k) {
  return k % 2 == 0 ? "" : "must be even, not " + shown(std::to_string(k));
}

bool check_stages(Reader& reader, Value at, const Clos& spec) {
  const StagedFabric stages = stages_of(spec);
  if (!check_size(reader, at, spec)) return false;
  const bool rearranges = stages.blocking() != Blocking::kBlocking;
  const bool good = !spec.nonblocking || stages.blocking() == Blocking::kStrict ||
                    (*spec.nonblocking == Blocking::kRearrangeable && rearranges);
  if (good) return true;
  if (stages.channels == 0)
    return reader.fail(at.child("fabric_link"), "is slower than an input: calls block, whatever m is");
  const bool strict = *spec.nonblocking == Blocking::kStrict;
  return reader.fail(at.child("m"), std::string("must be at least ") +
                                        std::to_string(strict ? stages.least_strict() : stages.least_rearrangeable()) +
                                        " to be " + (strict ? "nonblocking in the strict sense" : "rearrangeable") +
                                        ", not " + std::to_string(spec.m));
}

}  // namespace

const Table<Star>& Tables<Star>::table() {
  static const Table<Star> table =
      with_hosts(Table<Star>("star", "One switch, one layer 2: Meta's first generation (RoCEv1).")
                     .chosen_by("kind", "star")
                     .required("hosts", &Star::hosts, "how many", kSome)
                     .required("host_link", &Star::host_link, "host to switch"))
          .check(check_size<Star>);
  return table;
}

const Table<Crossbar>& Tables<Crossbar>::table() {
  static const Table<Crossbar> table =
      with_hosts(Table<Crossbar>("crossbar", "One switch between inputs and outputs.")
                     .chosen_by("kind", "crossbar")
                     .required("inputs", &Crossbar::inputs, "hosts in1 and on", kSome)
                     .required("outputs", &Crossbar::outputs, "hosts out1 and on", kSome)
                     .required("host_link", &Crossbar::host_link, "host to switch"))
          .check(check_size<Crossbar>);
  return table;
}

const Table<LeafSpine>& Tables<LeafSpine>::table() {
  static const Table<LeafSpine> table =
      with_hosts(Table<LeafSpine>("leaf-spine", "Every ToR linked to every spine.")
                     .chosen_by("kind", "leaf-spine")
                     .required("tors", &LeafSpine::tors, "how many", kSome)
                     .required("spines", &LeafSpine::spines, "how many")
                     .required("hosts_per_tor", &LeafSpine::hosts_per_tor, "how many")
                     .optional("links_per_spine", &LeafSpine::links_per_spine, "parallel links", kSome)
                     .required("host_link", &LeafSpine::host_link, "host to ToR")
                     .required("fabric_link", &LeafSpine::fabric_link, "ToR to spine"))
          .check(check_size<LeafSpine>);
  return table;
}

const Table<Clos>& Tables<Clos>::table() {
  static const Table<Clos> table =
      with_hosts(Table<Clos>("clos", "A three-stage Clos network (m, n, r).")
                     .chosen_by("kind", "clos")
                     .required("m", &Clos::m, "middle switches", kSome)
                     .required("n", &Clos::n, "inputs of an ingress switch, outputs of an egress switch", kSome)
                     .required("r", &Clos::r, "ingress switches, and as many egress switches", kSome)
                     .optional("nonblocking", &Clos::nonblocking,
                               "what m must make it: strict, m >= 2n-1; rearrangeable, m >= n; anything if not given")
                     .required("host_link", &Clos::host_link, "input to ingress, egress to output")
                     .required("fabric_link", &Clos::fabric_link, "between stages"))
          .check(check_stages);
  return table;
}

const Table<FatTree>& Tables<FatTree>::table() {
  static const Table<FatTree> table =
      with_hosts(Table<FatTree>("fat-tree", "A k-ary fat tree.")
                     .chosen_by("kind", "fat-tree")
                     .required("k", &FatTree::k, "ports of a switch, pods of the tree: even",
                               {.least = 2, .most = 256, .validate = even})
                     .named_size("published", FatTree{.where = {}, .k = 48}, {"k"})
                     .optional("hosts_per_tor", &FatTree::hosts_per_tor, "k/2 if not given")
                     .required("host_link", &FatTree::host_link, "host to ToR")
                     .required("fabric_link", &FatTree::fabric_link, "ToR to aggregation")
                     .optional("core_link", &FatTree::core_link, "aggregation to core; as fabric_link if not given"))
          .check(check_size<FatTree>);
  return table;
}

const Table<BinaryFatTree>& Tables<BinaryFatTree>::table() {
  static const Table<BinaryFatTree> table =
      with_hosts(Table<BinaryFatTree>("2-ary-fat-tree", "A binary tree whose links grow towards the root.")
                     .chosen_by("kind", "2-ary-fat-tree")
                     .required("levels", &BinaryFatTree::levels, "of switches; there are 2^levels hosts",
                               within<uint32_t>(1, 3))
                     .required("host_link", &BinaryFatTree::host_link, "host to ToR")
                     .optional("fabric_link", &BinaryFatTree::fabric_link,
                               "between switches: 2 in parallel above ToRs, 4 above that; as host_link if not given"))
          .check(check_size<BinaryFatTree>);
  return table;
}

}  // namespace softspine::control
