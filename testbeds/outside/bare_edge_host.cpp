// SPDX-License-Identifier: Apache-2.0
// Edges whose outside somebody else starts: nothing runs here, and nothing is awaited.
#include <memory>
#include <utility>

#include "testbeds/outside/outside_host.hpp"

namespace softspine::testbeds {
namespace {

class BareEdgeHost : public OutsideHost {
 public:
  BareEdgeHost(control::EdgeHost edges, const OutsideSpec& spec) : OutsideHost(spec), edges_(std::move(edges)) {}

  std::expected<OpenedEdge, Error> open_edge(uint32_t port, const OutsideGround& ground,
                                             const EdgeSetting& setting) override {
    auto edge = testbeds::open_edge(edges_.edges[port], ground.places.testbed_folder, setting);
    if (edge && !edge->note.empty()) notes_.push_back({"", ": " + edge->note});
    return edge;
  }
  std::vector<OutsideNote> notes() const override { return notes_; }

 private:
  control::EdgeHost edges_;
  std::vector<OutsideNote> notes_;
};

}  // namespace

std::unique_ptr<OutsideHost> make_host(const control::EdgeHost& edges, const OutsideSpec& spec) {
  return std::make_unique<BareEdgeHost>(edges, spec);
}

}  // namespace softspine::testbeds
