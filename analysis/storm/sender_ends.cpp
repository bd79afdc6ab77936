// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/sender_ends.hpp"

#include <algorithm>
#include <tuple>

namespace softspine::analysis::storm {

SenderEnds::SenderEnds(const PauseRecorder& recorded, const KnownFabric& known, const std::vector<uint32_t>& captured,
                       PortBook& book)
    : recorded_(recorded),
      known_(known),
      captured_(captured),
      book_(book),
      macs_(recorded, known, captured, book.log),
      port_of_mac_(known.port_of_mac) {
  std::map<uint64_t, std::set<uint32_t>> own;  // an address that two interfaces have is no port's
  for (uint32_t i = 0; i < recorded.ports().size(); ++i) {
    if (recorded.ports()[i].mac != 0) own[recorded.ports()[i].mac].insert(captured[i]);
  }
  for (const auto& [mac, ports] : own) {
    if (ports.size() == 1) port_of_mac_.try_emplace(mac, book.log.name(*ports.begin()));
  }
}

bool SenderEnds::is_outgoing(const Sender& sender) const {
  const uint64_t own = recorded_.ports()[sender.port].mac;
  return sender.way == Way::kOut || (sender.way == Way::kUnknown && own != 0 && own == sender.mac);
}

bool SenderEnds::goes_by_mac(const Sender& sender) const {
  if (known_port(sender.mac) == nullptr) return false;
  if (sender.way == Way::kUnknown || is_shared(sender)) return true;
  if (peer(place_of(sender)) != kNone) return false;
  return sender.way == Way::kIn || !known_.port_of_interface.contains(recorded_.ports()[sender.port].name);
}

std::vector<SenderEnds::Ends> SenderEnds::find() {
  const auto count = static_cast<uint32_t>(recorded_.senders().size());
  for (uint32_t i = 0; i < count; ++i) {
    const Sender& it = sender(i);
    by_mac_.push_back(goes_by_mac(it));
    if (is_outgoing(it)) {
      sends_.try_emplace({place_of(it), it.mac}, i);
    } else if (it.way == Way::kUnknown) {
      unknown_way_[it.port].push_back(it.mac);
    }
  }
  find_copies();
  join_known_senders();
  std::vector<Ends> ends;
  for (uint32_t i = 0; i < count; ++i) {
    ends.push_back(ends_of(i));
    if (const auto other = counted_by_.find(i); other != counted_by_.end()) ends[i].elsewhere = time_of(other->second);
  }
  return ends;
}

// Frames whose way is known are dealt with by it, and are no copies of those whose way is not.
void SenderEnds::find_copies() {
  is_copy_.assign(recorded_.senders().size(), false);
  const auto is_open = [this](uint32_t i) { return sender(i).way == Way::kUnknown || by_mac_[i]; };
  std::map<uint64_t, std::vector<uint32_t>> by_mac;
  for (uint32_t i = 0; i < is_copy_.size(); ++i) by_mac[sender(i).mac].push_back(i);
  compare_ends();
  const CopyLog& copies = recorded_.copies();
  for (auto& [mac, places] : by_mac) {
    if (std::ranges::count_if(places, is_open) > 1) is_of_several_places_.insert(mac);
    std::ranges::stable_sort(places, std::greater{}, [&](uint32_t i) {
      return std::tuple{!is_open(i), is_outgoing(sender(i)), copies.frames(i)};
    });
    std::vector<uint32_t> kept;
    for (const uint32_t i : places) {
      is_copy_[i] = is_open(i) && std::ranges::any_of(kept, [&](uint32_t other) {
                      return copies.is_copy(i, other) && !are_of_one_node(place_of(sender(i)), place_of(sender(other)));
                    });
      if (!is_copy_[i]) kept.push_back(i);
    }
  }
}

// No frame passes two ports of one node.
bool SenderEnds::are_of_one_node(uint32_t a, uint32_t b) const {
  return book_.log.node_of(a) == book_.log.node_of(b) && book_.log.nodes[book_.log.node_of(a)].is_named;
}

// Decides which end counts for frames that were captured at both ends of a link.
void SenderEnds::compare_ends() {
  std::map<uint32_t, uint32_t> partners;
  for (uint32_t i = 0; i < is_copy_.size(); ++i) {
    const Sender& it = sender(i);
    if (it.way != Way::kIn || by_mac_[i] || peer(place_of(it)) == kNone) continue;
    const auto left = sends_.find({peer(place_of(it)), it.mac});
    if (left == sends_.end()) continue;
    partners[i] = left->second;
    partners[left->second] = i;
  }
  const Frames frames = frames_beside(partners);
  for (const auto& [i, other] : partners) {
    const bool is_less = frames[i] < frames[other];
    if (is_less || (frames[i] == frames[other] && sender(i).way == Way::kIn)) counted_by_[i] = other;
  }
}

// How many of its frames a sender of `partners` has in the time in which its partner's capture was on, too: a pause's
// frames are taken for evenly spaced.
SenderEnds::Frames SenderEnds::frames_beside(const std::map<uint32_t, uint32_t>& partners) const {
  Frames out(is_copy_.size(), 0);
  for (const RecordedPause& it : recorded_.pauses()) {
    const auto partner = partners.find(it.sender);
    if (partner == partners.end()) continue;
    const CapturedTime& mine = time_of(it.sender);
    const CapturedTime& its = time_of(partner->second);
    const auto from = std::max({it.span.begin, mine.from, its.from});
    const auto until = std::min({it.span.end, mine.until, its.until});
    if (until < from) continue;
    const auto length = static_cast<double>((it.span.end - it.span.begin).count_ps());
    const double share = length == 0 ? 1 : static_cast<double>((until - from).count_ps()) / length;
    out[it.sender] += share * it.span.frames;
  }
  return out;
}

// Before any port is made up that would take their place.
void SenderEnds::join_known_senders() {
  for (uint32_t i = 0; i < by_mac_.size(); ++i) {
    const Sender& it = sender(i);
    if (!by_mac_[i] || it.way != Way::kIn || is_shared(it)) continue;
    const uint32_t place = place_of(it);
    const uint32_t from = book_.port(*known_port(it.mac), speed(place));
    if (from != place) book_.log.join(from, place);
  }
}

SenderEnds::Ends SenderEnds::ends_of(uint32_t index) {
  const Sender& it = sender(index);
  if (is_copy_[index]) return {};
  if (by_mac_[index]) return ends_by_mac(it);
  if (is_outgoing(it)) {
    const uint32_t from = own_port(it);
    return {from, peer_of(from)};
  }
  return it.way == Way::kIn ? ends_of_incoming(it) : ends_of_unknown(it);
}

SenderEnds::Ends SenderEnds::ends_by_mac(const Sender& sender) {
  const uint32_t place = place_of(sender);
  const uint32_t from = book_.port(*known_port(sender.mac), speed(place));
  if (peer(from) != kNone) return {from, peer(from)};
  if (sender.way == Way::kIn && from != place) return {from, place};
  if (sender.way == Way::kUnknown && !is_outgoing(sender)) return ends_of_unknown(sender);
  return {from, peer_of(from)};
}

SenderEnds::Ends SenderEnds::ends_of_incoming(const Sender& sender) {
  const uint32_t place = place_of(sender);
  const uint32_t neighbour = peer(place);
  if (neighbour == kNone || is_shared(sender)) {
    const uint32_t from = made_up(sender.mac, place);
    if (!is_shared(sender)) book_.log.join(from, place);
    return {from, place};
  }
  if (book_.log.nodes[book_.log.node_of(neighbour)].is_named) return {neighbour, place};
  const auto [taken, is_new] = stands_for_.try_emplace(neighbour, sender.mac);
  return {taken->second == sender.mac ? neighbour : made_up(sender.mac, place), place};
}

SenderEnds::Ends SenderEnds::ends_of_unknown(const Sender& sender) {
  const std::vector<uint64_t>& macs = unknown_way_[sender.port];
  const uint32_t place = place_of(sender);
  const bool is_alone = macs.size() == 1 && !is_of_several_places_.contains(sender.mac);
  if (is_alone && known_port(sender.mac) == nullptr) return ends_of_incoming(sender);
  const uint32_t from = port_of_mac(sender.mac, place);
  if (is_alone && from != place) {
    book_.log.join(from, place);
    return {from, place};
  }
  if (macs.size() == 2) {
    const uint32_t to = port_of_mac(macs[macs[0] == sender.mac ? 1 : 0], place);
    book_.log.join(from, to);
    return {from, to};
  }
  return {from, peer_of(from)};
}

// Where the capture does not distinguish ports of a machine, each source address is one.
uint32_t SenderEnds::own_port(const Sender& sender) {
  const uint32_t place = place_of(sender);
  if (!is_shared(sender)) return place;
  const std::string& node = book_.log.node_name(place);
  return book_.port_at(node + ":" + mac_text(sender.mac), node, speed(place));
}

uint32_t SenderEnds::port_of_mac(uint64_t mac, uint32_t place) {
  const std::string* name = known_port(mac);
  return name == nullptr ? made_up(mac, place) : book_.port(*name, speed(place));
}

uint32_t SenderEnds::made_up(uint64_t mac, uint32_t place) {
  const auto [it, is_new] = made_up_.try_emplace({mac, place}, kNone);
  if (!is_new) return it->second;
  const std::string* owner = macs_.node_of(mac);
  if (owner != nullptr && *owner == book_.log.node_name(place)) owner = nullptr;  // it came back
  const std::string node = owner == nullptr ? mac_text(mac) : *owner;
  const bool has_place = owner != nullptr || book_.has_port(node);
  const std::string name = has_place ? node + " at " + book_.log.name(place) : node;
  it->second =
      owner == nullptr ? book_.made_up_port(name, node, speed(place)) : book_.port_at(name, node, speed(place));
  stands_for_.emplace(it->second, mac);
  return it->second;
}

uint32_t SenderEnds::peer_of(uint32_t port) {
  if (peer(port) == kNone) {
    const std::string name = "peer of " + book_.log.name(port);
    book_.log.join(port, book_.made_up_port(name, name, speed(port)));
  }
  return peer(port);
}

}  // namespace softspine::analysis::storm
