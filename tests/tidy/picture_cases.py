# SPDX-License-Identifier: Apache-2.0
"""A small switch and the picture of it, for the cases of the rule that compares them."""
from __future__ import annotations

CARD = """
    tor           parse → bridge ─┬─ same VLAN ──→ tag ─→ egress
                                  └─ route, hash → rewrite ─→ egress
    aggregation   parse → route → egress
    core          parse → route → egress

    egress        admit ─┬─ wire busy → queue ─┐
                         └─ mark → serialize ──┴─→ raise XOFF, if in headroom
    departure     release → schedule → mark → serialize
"""
ROLE = '//   {}\n\nclass Role {{\n  Instant run() {{\n    return run_with([this](Burst& burst) {{\n{}    }});\n  }}\n}};\n'
STAGE = '      dataplane::{}(tables_, burst);\n'
SWITCH = """class Switch {
  Instant run_with(Forward&& forward) {
    receive(burst_);
    forward(burst_);
    dispatch(burst_);
  }
};
void Switch::receive(Burst& burst) noexcept {
  parse(burst);
}
void Switch::dispatch(Burst& burst) noexcept {
  const DropReason refused = egress_.enqueue(packet, now);
}
"""
EGRESS = """class Egress {
  DropReason enqueue_unusual(Packet& packet) {
    const DropReason refused = admission_.admit(port, packet);
    if (port.busy) {
      port.queues[q].push(std::move(packet));
    } else {
      busy_.push(start(port, packet), number);
    }
    if (mmu_.must_raise_xoff()) raise_xoff(group);
  }
  Instant start(Port& port, Packet packet) {
    mark(port, packet);
    return port.wire->send(std::move(packet));
  }
  void finish_first() {
    mmu_.release(account);
    const auto q = side_[number].scheduler.pick(ready);
    busy_.replace_top(start(port, packet));
  }
};
"""
ADMISSION = """class Admission {
  DropReason admit(Port& port, Packet& packet) {
    const uint32_t cells = mmu_.admit(account, bytes);
  }
};
"""


def pipelines(old: str = '', new: str = '') -> dict[str, str]:
    """A switch and its card; with one thing replaced wherever it stands."""
    tor = CARD.splitlines()[1].strip()[14:] + '\n//   ' + CARD.splitlines()[2][18:]
    routed = ROLE.format('parse → route → egress', STAGE.format('route'))
    texts = {'pipelines/README.md': CARD, 'pipelines/switch.hpp': SWITCH, 'dataplane/egress/egress.hpp': EGRESS,
             'dataplane/egress/admission.hpp': ADMISSION,
             'pipelines/tor.hpp': ROLE.format(tor, STAGE.format('bridge') + STAGE.format('route') + STAGE.format('rewrite')),
             'pipelines/aggregation.hpp': routed, 'pipelines/core.hpp': routed}
    return {path: text.replace(old, new) if old else text for path, text in texts.items()}
