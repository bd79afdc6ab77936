// SPDX-License-Identifier: Apache-2.0
// rdma_cm's identifiers at two RNICs, by the commands that librdmacm writes: connections come, fail and go, whatever
// becomes of the datagrams.
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

#include <map>
#include <random>
#include <span>

#include "tests/harness/seed.hpp"
#include "tests/scenario/verbs_device/two_rnics.hpp"

namespace softspine::testbeds {
namespace {

using Kind = ConnectionEventKind;
using Attribute = ConnectionAttribute;

// A program's view of rdma_cm.
class Caller {
 public:
  explicit Caller(Program& program) : program_(program), channel_(program.ask({.call = Call::kCreateChannel}).handle) {}

  DeviceReply ask(uint32_t command, const void* body, size_t bytes) {
    DeviceRequest request{.call = Call::kConnectionCommand};
    request.handle = channel_;
    const rdma_ucm_cmd_hdr head{.cmd = command, .in = static_cast<uint16_t>(bytes)};
    std::memcpy(request.command, &head, sizeof head);
    std::memcpy(request.command + sizeof head, body, bytes);
    request.command_bytes = static_cast<uint32_t>(sizeof head + bytes);
    return program_.ask(request);
  }
  template <typename Body>
  int tell(uint32_t command, const Body& body) {
    return ask(command, &body, sizeof body).error;
  }
  uint32_t create(uint64_t uid, uint16_t space = RDMA_PS_TCP) {
    const rdma_ucm_create_id body{.uid = uid, .ps = space};
    return first<uint32_t>(RDMA_USER_CM_CMD_CREATE_ID, body);
  }
  int bind(uint32_t id, uint32_t ipv4, uint16_t port) {
    return tell(RDMA_USER_CM_CMD_BIND_IP, rdma_ucm_bind_ip{.addr = address(ipv4, port), .id = id});
  }
  int listen(uint32_t id, uint16_t port, uint32_t backlog = 8) {
    const int wrong = bind(id, 0, port);
    return wrong != 0 ? wrong : tell(RDMA_USER_CM_CMD_LISTEN, rdma_ucm_listen{.id = id, .backlog = backlog});
  }
  // Up to a connect that was sent.
  int connect(uint32_t id, uint32_t ipv4, uint16_t port, const std::string& data = "") {
    const rdma_ucm_resolve_ip to{.dst_addr = address(ipv4, port), .id = id};
    EXPECT_EQ(tell(RDMA_USER_CM_CMD_RESOLVE_IP, to), 0);
    EXPECT_EQ(event().event, uint32_t{0});
    EXPECT_EQ(tell(RDMA_USER_CM_CMD_RESOLVE_ROUTE, rdma_ucm_resolve_route{.id = id}), 0);
    EXPECT_EQ(event().event, uint32_t{2});
    return tell(RDMA_USER_CM_CMD_CONNECT, rdma_ucm_connect{.conn_param = parameters(data, 0x111), .id = id});
  }
  int accept(uint32_t id, uint64_t uid, const std::string& data = "", bool decides = true) {
    rdma_ucm_accept body{.uid = uid, .conn_param = parameters(data, 0x222), .id = id};
    body.conn_param.valid = decides;
    return tell(RDMA_USER_CM_CMD_ACCEPT, body);
  }
  int disconnect(uint32_t id) { return tell(RDMA_USER_CM_CMD_DISCONNECT, rdma_ucm_disconnect{.id = id}); }
  uint32_t destroy(uint32_t id) { return first<uint32_t>(RDMA_USER_CM_CMD_DESTROY_ID, rdma_ucm_destroy_id{.id = id}); }
  // The next one; of none `event` is UINT32_MAX.
  rdma_ucm_event_resp event() {
    rdma_ucm_event_resp none{};
    none.event = UINT32_MAX;
    const rdma_ucm_get_event body{};
    const DeviceReply reply = ask(RDMA_USER_CM_CMD_GET_EVENT, &body, sizeof body);
    if (reply.error != 0) return none;
    std::memcpy(&none, reply.response, sizeof none);
    return none;
  }
  ib_uverbs_qp_attr attributes(uint32_t id, uint32_t state) {
    return first<ib_uverbs_qp_attr>(RDMA_USER_CM_CMD_INIT_QP_ATTR, rdma_ucm_init_qp_attr{.id = id, .qp_state = state});
  }

  static rdma_ucm_conn_param parameters(const std::string& data, uint32_t qp) {
    rdma_ucm_conn_param out{.qp_num = qp, .responder_resources = 3, .initiator_depth = 2, .retry_count = 5};
    out.private_data_len = static_cast<uint8_t>(data.size());
    std::ranges::copy(data, out.private_data);
    return out;
  }
  static sockaddr_in6 address(uint32_t ipv4, uint16_t port) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(ipv4);
    sockaddr_in6 out{};
    std::memcpy(&out, &v4, sizeof v4);
    return out;
  }

 private:
  template <typename Response, typename Body>
  Response first(uint32_t command, const Body& body) {
    const DeviceReply reply = ask(command, &body, sizeof body);
    EXPECT_EQ(reply.error, 0);
    Response out{};
    std::memcpy(&out, reply.response, sizeof out);
    return out;
  }

  Program& program_;
  uint32_t channel_;
};

std::string text_of(const uint8_t* data) {
  return reinterpret_cast<const char*>(data);
}

class Connecting : public testing::Test {
 protected:
  static constexpr uint16_t kPort = 7174;

  // By attribute: how many were sent. Those in `lost` are, as often as it says.
  void SetUp() override {
    it_.set_fate([this](const Packet& packet) -> uint32_t {
      const uint16_t attribute = load16(packet.data() + kMadAt + 16);
      ++sent_[attribute];
      uint32_t& left = lost_[attribute];
      return left == 0 ? 1 : (--left, 0);
    });
    listener_ = there_.create(900);
    ASSERT_EQ(there_.listen(listener_, kPort), 0);
    id_ = here_.create(100);
  }
  uint32_t sent(Attribute attribute) { return sent_[static_cast<uint16_t>(attribute)]; }
  void lose(Attribute attribute, uint32_t times) { lost_[static_cast<uint16_t>(attribute)] = times; }
  void run(int64_t seconds = 1) { it_.run(Duration::s(seconds)); }
  // Both are established; the number of the other's.
  uint32_t establish() {
    EXPECT_EQ(here_.connect(id_, TwoRnics::kSecond, kPort, "from here"), 0);
    run();
    const auto request = there_.event();
    EXPECT_EQ(request.event, 4U);
    EXPECT_EQ(request.uid, 900U);
    EXPECT_EQ(text_of(request.param.conn.private_data), "from here");
    psn_before_accept_ = there_.attributes(request.id, IBV_QPS_RTS).sq_psn;
    EXPECT_EQ(there_.accept(request.id, 901, "from there"), 0);
    run();
    const auto response = here_.event();
    EXPECT_EQ(response.event, 5U);
    EXPECT_EQ(text_of(response.param.conn.private_data), "from there");
    EXPECT_EQ(here_.accept(id_, 100, "", false), 0);
    run();
    EXPECT_EQ(there_.event().event, 9U);
    return request.id;
  }

  static constexpr uint32_t kMadAt = 14 + 20 + 8 + 12 + 8;
  TwoRnics it_;
  Caller here_{it_.first};
  Caller there_{it_.second};
  uint32_t listener_ = 0;
  uint32_t id_ = 0;
  uint32_t psn_before_accept_ = 0;
  std::map<uint16_t, uint32_t> sent_;
  std::map<uint16_t, uint32_t> lost_;
};

TEST_F(Connecting, BothKnowOfEachOtherWhatTheirQueuePairsNeed) {
  const uint32_t other = establish();
  const auto ours = here_.attributes(id_, IBV_QPS_RTR);
  const auto theirs = there_.attributes(other, IBV_QPS_RTR);
  EXPECT_EQ(ours.dest_qp_num, 0x222U);
  EXPECT_EQ(theirs.dest_qp_num, 0x111U);
  EXPECT_EQ(ours.rq_psn, there_.attributes(other, IBV_QPS_RTS).sq_psn);
  EXPECT_EQ(ours.rq_psn, psn_before_accept_);  // librdmacm makes its queue pair ready before it accepts
  EXPECT_EQ(theirs.rq_psn, here_.attributes(id_, IBV_QPS_RTS).sq_psn);
  EXPECT_EQ(load32(ours.ah_attr.grh.dgid + 12), TwoRnics::kSecond);
  EXPECT_EQ(load32(theirs.ah_attr.grh.dgid + 12), TwoRnics::kFirst);
  EXPECT_EQ(ours.max_dest_rd_atomic, 2U);  // what the other starts at most
  EXPECT_EQ(there_.attributes(other, IBV_QPS_RTS).retry_cnt, 5U);
  EXPECT_EQ(sent(Attribute::kRequest), 1U);
  EXPECT_EQ(sent(Attribute::kMessageReceived), 0U);
}

TEST_F(Connecting, EitherDisconnectsAndTheOtherAnswers) {
  const uint32_t other = establish();
  ASSERT_EQ(here_.disconnect(id_), 0);
  it_.run(Duration::ms(1));
  EXPECT_EQ(there_.event().event, 10U);
  EXPECT_EQ(here_.event().event, UINT32_MAX);
  ASSERT_EQ(there_.disconnect(other), 0);
  run();
  EXPECT_EQ(here_.event().event, 10U);
  EXPECT_EQ(here_.event().event, 15U);  // timewait is over
  EXPECT_EQ(there_.event().event, 15U);
  EXPECT_EQ(here_.destroy(id_), 5U);  // events that its program has got
  EXPECT_EQ(there_.destroy(other), 3U);
}

TEST_F(Connecting, WhatIsLostIsSaidAgain) {
  lose(Attribute::kRequest, 2);
  lose(Attribute::kReply, 2);
  lose(Attribute::kReadyToUse, 1);
  ASSERT_EQ(here_.connect(id_, TwoRnics::kSecond, kPort), 0);
  run(10);
  const auto request = there_.event();
  ASSERT_EQ(request.event, 4U);
  EXPECT_EQ(sent(Attribute::kRequest), 3U);
  ASSERT_EQ(there_.accept(request.id, 901), 0);
  run(10);
  EXPECT_EQ(sent(Attribute::kReply), 3U);
  ASSERT_EQ(here_.event().event, 5U);
  ASSERT_EQ(here_.accept(id_, 100, "", false), 0);
  run(20);
  EXPECT_EQ(there_.event().event, 9U);
  lose(Attribute::kDisconnectRequest, 1);
  lose(Attribute::kDisconnectReply, 1);
  ASSERT_EQ(here_.disconnect(id_), 0);
  run(6);
  EXPECT_EQ(there_.event().event, 10U);
  ASSERT_EQ(there_.disconnect(request.id), 0);
  run(20);
  EXPECT_EQ(here_.event().event, 10U);
}

TEST_F(Connecting, AProgramThatThinksAsksForTime) {
  lose(Attribute::kMessageReceived, 1);
  ASSERT_EQ(here_.connect(id_, TwoRnics::kSecond, kPort), 0);
  run(30);
  EXPECT_EQ(sent(Attribute::kRequest), 3U);  // the second MRA was heard: 65 s
  EXPECT_EQ(sent(Attribute::kMessageReceived), 2U);
  const auto request = there_.event();
  ASSERT_EQ(there_.accept(request.id, 901), 0);
  run();
  EXPECT_EQ(here_.event().event, 5U);
}

TEST_F(Connecting, NobodyListensAndAProgramThatSaysNo) {
  ASSERT_EQ(here_.connect(id_, TwoRnics::kSecond, kPort + 1), 0);
  run();
  const auto refused = here_.event();
  EXPECT_EQ(refused.event, 8U);
  EXPECT_EQ(refused.status, uint32_t{reject::kInvalidServiceId});
  const uint32_t again = here_.create(101);
  ASSERT_EQ(here_.connect(again, TwoRnics::kSecond, kPort), 0);
  run();
  rdma_ucm_reject why{.id = there_.event().id, .private_data_len = 3};
  std::memcpy(why.private_data, "no", 3);
  ASSERT_EQ(there_.tell(RDMA_USER_CM_CMD_REJECT, why), 0);
  run();
  const auto rejected = here_.event();
  EXPECT_EQ(rejected.status, uint32_t{reject::kConsumerDefined});
  EXPECT_EQ(text_of(rejected.param.conn.private_data), "no");
}

TEST_F(Connecting, APeerThatIsNotThereIsUnreachableAfterSixteenRequests) {
  lose(Attribute::kRequest, UINT32_MAX);
  ASSERT_EQ(here_.connect(id_, TwoRnics::kSecond, kPort), 0);
  run(73);
  EXPECT_EQ(here_.event().event, UINT32_MAX);
  run(5);  // from the last of them on
  const auto event = here_.event();
  EXPECT_EQ(event.event, 7U);
  EXPECT_EQ(static_cast<int32_t>(event.status), -ETIMEDOUT);
  EXPECT_EQ(sent(Attribute::kRequest), 16U);
}

TEST_F(Connecting, AFullBacklogRefuses) {
  const uint32_t small = there_.create(902);
  ASSERT_EQ(there_.listen(small, kPort + 2, 1), 0);
  ASSERT_EQ(here_.connect(id_, TwoRnics::kSecond, kPort + 2), 0);
  run();
  const uint32_t second = here_.create(101);
  ASSERT_EQ(here_.connect(second, TwoRnics::kSecond, kPort + 2), 0);
  run();
  const auto event = here_.event();
  EXPECT_EQ(event.uid, 101U);
  EXPECT_EQ(event.event, 8U);
}

TEST_F(Connecting, AProgramThatEndsTellsItsPeers) {
  establish();
  it_.first.rnic().forget_client(it_.first.client());
  run();
  EXPECT_EQ(there_.event().event, 10U);
  EXPECT_EQ(it_.first.rnic().connections().count(), 0U);
}

TEST_F(Connecting, DatagramsLearnTheQueuePairOfAService) {
  const uint32_t service = there_.create(903, RDMA_PS_UDP);
  ASSERT_EQ(there_.listen(service, kPort), 0);  // another space: the port is free
  const uint32_t asks = here_.create(102, RDMA_PS_UDP);
  ASSERT_EQ(here_.connect(asks, TwoRnics::kSecond, kPort, "who"), 0);
  run();
  const auto request = there_.event();
  ASSERT_EQ(request.event, 4U);
  EXPECT_EQ(text_of(request.param.ud.private_data), "who");
  ASSERT_EQ(there_.accept(request.id, 904, "me"), 0);
  run();
  const auto answer = here_.event();
  ASSERT_EQ(answer.event, 9U);
  EXPECT_EQ(answer.param.ud.qp_num, 0x222U);
  EXPECT_EQ(answer.param.ud.qkey, 0x01234567U);
  EXPECT_EQ(load32(answer.param.ud.ah_attr.grh.dgid + 12), TwoRnics::kSecond);
  EXPECT_EQ(text_of(answer.param.ud.private_data), "me");
  const uint32_t nobody = here_.create(103, RDMA_PS_UDP);
  ASSERT_EQ(here_.connect(nobody, TwoRnics::kSecond, kPort + 3), 0);
  run();
  EXPECT_EQ(here_.event().event, 7U);
}

TEST_F(Connecting, PortsAndAddressesAreOnesOwn) {
  const uint32_t second = there_.create(905);
  EXPECT_EQ(there_.bind(second, 0, kPort), EADDRINUSE);
  EXPECT_EQ(there_.bind(second, TwoRnics::kFirst, kPort + 4), EADDRNOTAVAIL);
  establish();
  there_.destroy(listener_);
  EXPECT_EQ(there_.bind(second, 0, kPort), 0);  // though a connection goes on that came to it
  EXPECT_EQ(here_.disconnect(listener_ + 1), ENOENT);
  const uint32_t third = here_.create(102);
  EXPECT_EQ(here_.disconnect(third), EINVAL);
  EXPECT_EQ(here_.bind(third, TwoRnics::kFirst, 0), 0);
}

// Commands and datagrams of any bytes: nobody falls over, and in the end nothing is left.
TEST_F(Connecting, GarbageDoesNothingToOthers) {
  std::mt19937 random(tests::seed());
  std::array<uint8_t, 400> bytes;
  for (int i = 0; i < 20'000; ++i) {
    std::ranges::generate(bytes, [&] { return static_cast<uint8_t>(random()); });
    // Numbers that mean something, at times, in the places where commands have them.
    for (const size_t at : {0, 8, 36, 64, 280, 288}) {
      const uint32_t number = random() % 2 == 0 ? listener_ : id_;
      if (random() % 3 == 0) std::memcpy(bytes.data() + at, &number, sizeof number);
    }
    Caller& caller = random() % 2 == 0 ? here_ : there_;
    const auto command = static_cast<uint32_t>(random() % 24);
    const bool destroys = command == RDMA_USER_CM_CMD_DESTROY_ID || command == RDMA_USER_CM_CMD_GET_EVENT;
    if (!destroys) caller.ask(command, bytes.data(), random() % bytes.size());
    if (i % 16 == 0) it_.run(Duration::ms(1));
  }
  for (Program* program : {&it_.first, &it_.second}) {
    program->rnic().forget_client(program->client());
    EXPECT_EQ(program->rnic().connections().count(), 0U);
  }
}

}  // namespace
}  // namespace softspine::testbeds
