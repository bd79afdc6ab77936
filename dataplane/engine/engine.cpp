// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/engine.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "dataplane/engine/node_elsewhere.hpp"
#include "dataplane/engine/rank_meeting.hpp"
#include "dataplane/engine/worker_meeting.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

namespace {

// Without it, workers that sleep would not be woken for what is posted.
OwnedFd posts_descriptor() {
  const int out = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (out < 0) throw std::runtime_error(std::string{"the engine gets no eventfd: "} + std::strerror(errno));
  return OwnedFd{out};
}

}  // namespace

Engine::Engine(Clock& clock, Config config) : clock_(clock), config_(std::move(config)), posts_(posts_descriptor()) {
  SOFTSPINE_CHECK(config_.workers >= 1, config_.workers, 0);
  if (RankTalk* const talk = config_.ranks.talk) {
    rank_ = talk->rank();
    meeting_ = std::make_unique<RankMeeting>(*talk, config_.workers, nodes_, owner_, *config_.ranks.packets,
                                             config_.ranks.clock);
  } else {
    meeting_ = std::make_unique<WorkerMeeting>(config_.workers, nodes_);
  }
  for (uint32_t i = 0; i < config_.workers; ++i) workers_.push_back(std::make_unique<Worker>(*this, *meeting_, i));
}

Engine::~Engine() = default;

NodeId Engine::add(std::unique_ptr<Node> node, uint32_t worker) {
  SOFTSPINE_CHECK(!built_, 0, 0);
  const NodeId id{static_cast<uint32_t>(nodes_.size())};
  node->assign(id, Rng{config_.seed, id.value()});
  owner_.push_back(rank_ * config_.workers + worker % config_.workers);
  nodes_.push_back(std::move(node));
  return id;
}

NodeId Engine::add_elsewhere(uint32_t rank, uint32_t worker, std::string name, uint32_t ports) {
  SOFTSPINE_CHECK(rank != rank_, rank, rank_);
  const NodeId id = add(std::make_unique<NodeElsewhere>(std::move(name), ports), worker);
  owner_[id.value()] = rank * config_.workers + worker % config_.workers;
  return id;
}

void Engine::connect(PortRef a, PortRef b, Rate from_a, Rate from_b, Duration propagation) {
  SOFTSPINE_CHECK(propagation.count_ps() > 0, propagation.count_ps(), 0);
  SOFTSPINE_CHECK(!from_a.is_zero() && !from_b.is_zero(), from_a.count_bps(), from_b.count_bps());
  // The lookahead: a frame arrives with its last bit, so nothing sent can arrive earlier than the shortest frame.
  links_.push_back({a.node.value(), b.node.value(), std::max(from_a, from_b).time_of_frame(0) + propagation});
  if (!is_here(a.node) && !is_here(b.node)) return;
  connect_one_way(a, b, from_a, propagation);
  connect_one_way(b, a, from_b, propagation);
}

void Engine::connect_one_way(PortRef from, PortRef to, Rate rate, Duration propagation) {
  Transmitter& transmitter = node(from.node).transmitter(from.port);
  SOFTSPINE_CHECK(!transmitter.connected(), from.node.value(), from.port.value());
  transmitter.connect(&node(to.node), to.port, rate, propagation);
}

// The parts of the nest that are here go to `into`, or, if that is null, each to its own worker. A group of the first
// level has one worker.
void Engine::adopt(const WindowNest& nest, WindowGroup* into) {
  const auto group_for = [&](uint32_t node) -> WindowGroup& {
    return into != nullptr ? *into : workers_[worker_of(NodeId{node})]->parts();
  };
  for (const uint32_t node : nest.nodes) {
    if (is_here(NodeId{node})) group_for(node).adopt(*nodes_[node]);
  }
  for (const WindowNest& group : nest.groups) {
    if (!is_here(NodeId{group.first_node()})) continue;
    adopt(group, &group_for(group.first_node()).adopt_group(group.lookahead));
  }
}

void Engine::build() {
  const WindowNest nest = config_.nest ? nest_windows(owner_, links_) : flat_windows(nodes_.size(), links_);
  const bool waits_for_network = config_.ranks.talk != nullptr && clock_.is_wall();
  lookahead_ = std::min(nest.lookahead, waits_for_network ? kLongestOverNetwork : kLongestWindow);
  for (const auto& node : nodes_) node->set_cached(nodes_.size() <= Node::kCached);
  adopt(nest, nullptr);
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i]->wants_poll()) workers_[worker_of(NodeId{i})]->edges().add(*nodes_[i]);
    if (nodes_[i]->puts_off()) putting_off_.push_back(nodes_[i].get());
  }
  route_between_workers();
  wake_by_edges();
  meeting_->start_clock(clock_, now_);
  built_ = true;
}

// Workers meet after each sleep, so news for one must wake all.
void Engine::wake_by_edges() {
  Wake wake{.descriptor = workers_[0]->edges().descriptor(), .tells_all = config_.ranks.talk == nullptr};
  for (const auto& worker : workers_) {
    wake.tells_all &= worker->edges().tell_all();
    if (workers() > 1 && worker->edges().descriptor() >= 0) {
      wake.tells_all &= news_.watch(worker->edges().descriptor(), nullptr, Readiness::Mode::kWhileReady);
    }
  }
  if (workers() > 1) wake.descriptor = news_.descriptor();
  wake.posts = posts_.get();
  for (const auto& worker : workers_) worker->sleep_until(wake);
}

void Engine::route_between_workers() {
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!is_here(NodeId{i})) continue;
    for (uint16_t p = 0; p < nodes_[i]->ports(); ++p) {
      Transmitter& transmitter = nodes_[i]->transmitter(PortNo{p});
      if (!transmitter.connected()) continue;
      const uint32_t from = owner_[i];
      const uint32_t to = owner_[transmitter.peer()->id().value()];
      if (from != to) transmitter.route_through(&meeting_->outbox(from, to));
    }
  }
}

void Engine::at(Instant when, Action action) {
  timed_.emplace(std::max(when, now_), std::move(action));
}

void Engine::look_at(Instant when, Action look) {
  looks_.emplace(std::max(when, now_), std::move(look));
}

void Engine::post(Action action) {
  const std::lock_guard guard{posted_lock_};
  posted_.push_back(std::move(action));
  posted_flag_.store(true, std::memory_order_relaxed);
  eventfd_write(posts_.get(), 1);
}

void Engine::stop() noexcept {
  stopping_.store(true, std::memory_order_relaxed);
  eventfd_write(posts_.get(), 1);
}

void Engine::forget_posts() noexcept {
  eventfd_t count = 0;
  eventfd_read(posts_.get(), &count);
}

// What readers and actions find is as if nothing had been put off.
void Engine::complete_before(Instant now) {
  for (Node* const node : putting_off_) node->complete_before(now);
}

void Engine::run_actions(Instant upto, bool asked) {
  complete_before(upto);
  while (meeting_->share_action(next_action()) <= upto) {
    if (next_action() > upto) continue;  // another rank's
    Timed& due = first_of(timed_) <= first_of(looks_) ? timed_ : looks_;
    const Action action = std::move(due.begin()->second);
    due.erase(due.begin());
    action(upto);
  }
  std::vector<Action> posted;
  {
    const std::lock_guard guard{posted_lock_};
    posted.swap(posted_);
    if (posted_flag_.load(std::memory_order_relaxed)) forget_posts();
    // A wish that the other ranks have not seen yet stays.
    if (asked || config_.ranks.talk == nullptr) posted_flag_.store(false, std::memory_order_relaxed);
  }
  for (const Action& action : posted) {
    action(upto);
    meeting_->share_action(next_action());
  }
  for (const Action& action : at_rest_) action(upto);
  if (!asked) return;
  for (const Action& action : when_asked_) action(upto);
}

RunEnd Engine::run_workers(Instant end) {
  RunEnd result = RunEnd::kDone;
  const auto work = [this, end](uint32_t index) {
    if (config_.on_worker_start) config_.on_worker_start(index);
    const RunEnd how = workers_[index]->run(end);
    if (config_.on_worker_stop) config_.on_worker_stop(index);
    return how;
  };
  {
    std::vector<std::jthread> others;
    for (uint32_t i = 1; i < config_.workers; ++i) others.emplace_back([&work, i] { work(i); });
    result = work(0);
  }
  return result;
}

RunEnd Engine::run(Instant end) {
  if (!built_) build();
  const RunEnd result = run_workers(end);
  if (result == RunEnd::kStopped) forget_posts();
  complete_before(result == RunEnd::kIdle && end.is_never() ? end : now_);
  progress_.store(now_.count_ps(), std::memory_order_relaxed);
  // Posted while the last window ran. (Over ranks nothing is.)
  if (config_.ranks.talk == nullptr && posted_flag_.load(std::memory_order_relaxed)) run_actions(now_, true);
  return result;
}

void Engine::set_link(PortRef end, bool up, Instant now) {
  Transmitter& out = node(end.node).transmitter(end.port);
  if (!out.connected() || out.up() == up) return;
  meeting_->deliver_all();  // a frame that this action has put onto the link is lost with those already under way
  const PortRef peer{out.peer()->id(), out.peer_port()};
  for (const PortRef side : {end, peer}) {
    Node& n = node(side.node);
    n.transmitter(side.port).set_up(up);
    if (!up) {
      Transmitter& sender =
          node(n.transmitter(side.port).peer()->id()).transmitter(n.transmitter(side.port).peer_port());
      const auto cut = [&sender, now](Packet packet) { sender.cut(std::move(packet), now); };
      n.inbox().flush(side.port, cut);
      meeting_->take_back(side.node, side.port, cut);
    }
    n.link_changed(side.port, up, now);
    wake(side.node, now);
  }
}

void Engine::wake(NodeId id, Instant at) {
  node(id).wake(at);
}

Instant Engine::next_event() const {
  Instant next = first_of(timed_);
  for (const auto& worker : workers_) next = std::min(next, worker->parts().next());
  for (const Node* const node : putting_off_) next = std::min(next, node->first_put_off());
  return config_.ranks.talk == nullptr ? next : config_.ranks.talk->least(next);
}

EngineStats Engine::stats() const {
  EngineStats stats;
  for (const auto& worker : workers_) {
    stats.windows = std::max(stats.windows, worker->windows());
    stats.node_runs += worker->node_runs();
    stats.lateness.merge(worker->lateness());
  }
  return stats;
}

uint64_t Engine::lost_on_links() const {
  uint64_t sum = 0;
  for (const auto& node : nodes_) {
    for (uint16_t p = 0; p < node->ports(); ++p)
      sum += std::as_const(*node).transmitter(PortNo{p}).counters().cut_packets;
  }
  return sum;
}

void Engine::see_on_links(const std::function<void(NodeId, PortNo, const PacketGlance&)>& see) const {
  for (const auto& node : nodes_) {
    for (uint16_t p = 0; p < node->ports(); ++p) {
      std::as_const(*node).inbox().for_each(PortNo{p},
                                            [&](const PacketGlance& packet) { see(node->id(), PortNo{p}, packet); });
    }
  }
  meeting_->see_messages(
      [&](const Message& message) { see(message.to, message.port, PacketGlance::at(message.packet.mbuf())); });
}

uint64_t Engine::drain() {
  uint64_t on_links = 0;
  meeting_->deliver_all();
  meeting_->drain();
  for (const auto& node : nodes_) {
    Inbox& inbox = node->inbox();
    while (!inbox.next().is_never()) {
      ++on_links;
      PacketPool::release(inbox.take_first());
    }
    node->drain();
  }
  return on_links;
}

}  // namespace softspine::dataplane
