// SPDX-License-Identifier: Apache-2.0
#include "control/model/address.hpp"

#include <gtest/gtest.h>

namespace softspine::control {
namespace {

TEST(Address, ReadsAndPrintsIpv4) {
  EXPECT_EQ(parse_ipv4("10.0.1.2"), (Ipv4Address{0x0A000102}));
  EXPECT_EQ(to_string(Ipv4Address{0xFFFEFDFC}), "255.254.253.252");
  for (const char* bad :
       {"", "10.0.1", "10.0.1.256", "10.0.1.2.3", "10.0.1.-2", " 10.0.1.2", "10.0.1.2 ", "0x0a000102"})
    EXPECT_FALSE(parse_ipv4(bad)) << bad;
}

TEST(Address, PrintsIpv6InTheFormOfRfc5952) {
  // RFC 5952, sections 4.1 to 4.3
  for (const auto& [in, out] : {std::pair{"2001:0db8::0001", "2001:db8::1"},
                                {"2001:db8:0:0:0:0:2:1", "2001:db8::2:1"},
                                {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
                                {"2001:DB8::A", "2001:db8::a"},
                                {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
                                {"::", "::"}}) {
    const auto parsed = parse_ipv6(in);
    ASSERT_TRUE(parsed) << in;
    EXPECT_EQ(to_string(*parsed), out);
  }
  for (const char* bad : {"", ":", "1::2::3", "12345::", "fe80::1%eth0", "1:2:3:4:5:6:7"}) {
    EXPECT_FALSE(parse_ipv6(bad)) << bad;
  }
}

TEST(Address, ReadsMacsInOneFormOnly) {
  EXPECT_EQ(to_string(*parse_mac("02:0a:FF:00:01:7f")), "02:0a:ff:00:01:7f");
  for (const char* bad : {"", "02:00:00:00:00", "02-00-00-00-00-01", "02:00:00:00:00:0g", "2:0:0:0:0:1", "020000000001",
                          "02:00:00:00:00:01:", "+2:00:00:00:00:01"})
    EXPECT_FALSE(parse_mac(bad)) << bad;
  EXPECT_TRUE(parse_mac("01:00:5e:00:00:01")->is_multicast());
}

TEST(Prefix, RefusesHostBitsAndLengthsThatAreNone) {
  EXPECT_EQ(to_string(*parse_ipv4_prefix("10.0.4.0/22")), "10.0.4.0/22");
  EXPECT_EQ(to_string(*parse_ipv4_prefix("0.0.0.0/0")), "0.0.0.0/0");
  for (const char* bad :
       {"10.0.4.0", "10.0.4.0/", "10.0.4.0/33", "10.0.4.0/-1", "10.0.4.0/21", "10.0.4.1/24", "10.0.4.0/2x"})
    EXPECT_FALSE(parse_ipv4_prefix(bad)) << bad;
  EXPECT_EQ(to_string(*parse_ipv6_prefix("fd00:0:0:8000::/49")), "fd00:0:0:8000::/49");
  for (const char* bad : {"fd00::", "fd00::/129", "fd00:0:0:8000::/48", "fd00::1/64"})
    EXPECT_FALSE(parse_ipv6_prefix(bad)) << bad;
}

TEST(Prefix, ContainsItsAddressesAndOverlapsWhatItHolds) {
  const Ipv4Prefix p = *parse_ipv4_prefix("10.0.4.0/22");
  EXPECT_TRUE(p.contains(*parse_ipv4("10.0.7.255")));
  EXPECT_FALSE(p.contains(*parse_ipv4("10.0.8.0")));
  EXPECT_EQ(p.last(), *parse_ipv4("10.0.7.255"));
  EXPECT_TRUE(p.overlaps(*parse_ipv4_prefix("10.0.6.0/24")));
  EXPECT_TRUE(p.overlaps(*parse_ipv4_prefix("10.0.0.0/8")));
  EXPECT_FALSE(p.overlaps(*parse_ipv4_prefix("10.0.8.0/22")));
  const Ipv6Prefix q = *parse_ipv6_prefix("fd00:0:0:8000::/49");
  EXPECT_TRUE(q.contains(*parse_ipv6("fd00:0:0:ffff::1")));
  EXPECT_FALSE(q.contains(*parse_ipv6("fd00:0:0:7fff::1")));
  EXPECT_TRUE(q.overlaps(*parse_ipv6_prefix("fd00::/48")));
  EXPECT_FALSE(q.overlaps(*parse_ipv6_prefix("fd00::/49")));
}

}  // namespace
}  // namespace softspine::control
