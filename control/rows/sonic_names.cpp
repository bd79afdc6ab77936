// SPDX-License-Identifier: Apache-2.0
#include "control/rows/sonic_names.hpp"

#include <map>
#include <vector>

namespace softspine::control {
namespace {

constexpr std::string_view kSonicTables =
    "AAA ACL_RULE ACL_TABLE ACL_TABLE_TYPE ASIC_SDK_HEALTH_EVENT ASIC_SENSORS AUTO_TECHSUPPORT "
    "AUTO_TECHSUPPORT_FEATURE BANNER_MESSAGE BGP_AGGREGATE_ADDRESS BGP_ALLOWED_PREFIXES BGP_BBR "
    "BGP_DEVICE_GLOBAL BGP_GLOBALS BGP_GLOBALS_AF BGP_GLOBALS_AF_AGGREGATE_ADDR BGP_GLOBALS_AF_NETWORK "
    "BGP_GLOBALS_LISTEN_PREFIX BGP_INTERNAL_NEIGHBOR BGP_MONITORS BGP_NEIGHBOR BGP_NEIGHBOR_AF BGP_PEER_GROUP "
    "BGP_PEER_GROUP_AF BGP_PEER_RANGE BGP_SENTINELS BGP_VOQ_CHASSIS_NEIGHBOR BMP BREAKOUT_CFG CHASSIS_MODULE "
    "COMMUNITY_SET CONSOLE_PORT CONSOLE_SWITCH COPP_GROUP COPP_TRAP CRM DASH_HA_GLOBAL_CONFIG DEBUG_COUNTER "
    "DEBUG_COUNTER_DROP_REASON DEBUG_DROP_MONITOR DEVICE_NEIGHBOR DEVICE_NEIGHBOR_METADATA DHCPV4_RELAY "
    "DHCP_RELAY DHCP_SERVER DHCP_SERVER_IPV4 DHCP_SERVER_IPV4_CUSTOMIZED_OPTIONS DHCP_SERVER_IPV4_PORT "
    "DHCP_SERVER_IPV4_RANGE DNS_NAMESERVER DNS_OPTIONS DOT1P_TO_PG_MAP DPU DPUS DPU_PORT DSCP_TO_DSCP_MAP "
    "DSCP_TO_FC_MAP EVPN_ETHERNET_SEGMENT EXP_TO_FC_MAP EXTENDED_COMMUNITY_SET FABRIC_MONITOR FABRIC_PORT "
    "FEATURE FG_NHG FG_NHG_MEMBER FG_NHG_PREFIX FINE_GRAINED_ECMP FIPS FLEX_COUNTER_GROUP FLEX_COUNTER_TABLE "
    "GNMI GNMI_CLIENT_CERT GRPCCLIENT HEARTBEAT HIGH_FREQUENCY_TELEMETRY_GROUP HIGH_FREQUENCY_TELEMETRY_PROFILE "
    "INTERFACE KDUMP KUBERNETES_MASTER LDAP LDAP_SERVER LLDP LLDP_PORT LOGGER LOOPBACK_INTERFACE MACSEC_PROFILE "
    "MCLAG_DOMAIN MCLAG_INTERFACE MCLAG_UNIQUE_IP MEMORY_STATISTICS "
    "MGMT_INTERFACE MGMT_PORT MGMT_VRF_CONFIG MID_PLANE_BRIDGE MIRROR_SESSION MPLS_TC_TO_TC_MAP MUX_CABLE "
    "MUX_LINKMGR NAT_BINDINGS NAT_GLOBAL NAT_POOL NEIGH NTP NTP_KEY NTP_SERVER OPTICAL_SECTION OSPFV2_ROUTER "
    "PASSW_HARDENING PBH_HASH PBH_HASH_FIELD PBH_RULE PBH_TABLE PEER_SWITCH POLICER "
    "PORTCHANNEL_INTERFACE PORT_STORM_CONTROL PREFIX PREFIX_LIST PREFIX_SET QUEUE_TO_DSCP_MAP RADIUS "
    "RADIUS_SERVER RESTAPI ROUTE_MAP ROUTE_MAP_SET ROUTE_REDISTRIBUTE SCHEDULED_REBOOT SERIAL_CONSOLE SFLOW "
    "SFLOW_COLLECTOR SFLOW_SESSION SNMP SNMP_AGENT_ADDRESS_CONFIG SNMP_COMMUNITY SNMP_USER SPAN SRV6_MY_LOCATORS "
    "SRV6_MY_SIDS SSH_SERVER STATIC_NAPT STATIC_NAT STATIC_ROUTE STORMOND_CONFIG STP STP_MST STP_PORT STP_VLAN "
    "STP_VLAN_PORT SUBNET_DECAP SUPPRESS_ASIC_SDK_HEALTH_EVENT SWITCH_TRIMMING SYSLOG_CONFIG "
    "SYSLOG_CONFIG_FEATURE SYSLOG_SERVER SYSTEM_DEFAULTS SYSTEM_PORT TACPLUS TACPLUS_SERVER TC_TO_DOT1P_MAP "
    "TC_TO_DSCP_MAP TC_TO_EXP_MAP TELEMETRY TELEMETRY_CLIENT TUNNEL TWAMP_SESSION VDPU VERSIONS VIRTUAL_SWITCH "
    "VLAN VLAN_INTERFACE VLAN_MEMBER VLAN_SUB_INTERFACE VNET VNET_ROUTE VNET_ROUTE_TUNNEL VOQ_INBAND_INTERFACE "
    "VRF VRRP VRRP6 VXLAN_EVPN_NVO VXLAN_TUNNEL VXLAN_TUNNEL_MAP WARM_RESTART WARM_RESTART_TABLE XCVRD_LOG ZTP "
    "bgpraw";
constexpr std::string_view kSonicPortFields =
    "adv_interface_types adv_speeds alias asic_port_name autoneg coreId corePortId core_id core_port_id "
    "custom_collection decay_half_life description dhcp_rate_limit dom_polling fec flap_penalty index "
    "interface_type laser_freq link_event_damping_algorithm link_training macsec max_suppress_time media_type "
    "mode mtu mux_cable numVoq num_voq override_unreliable_los parent_port pfc_asym pt_interface_id "
    "pt_timestamp_template reuse_threshold role subport suppress_threshold tpid tx_power unidirectional "
    "unreliable_los valid_speeds";
constexpr std::string_view kSonicPortchannelFields =
    "admin_status description fallback fast_rate lacp_key members min_links mode mtu system_mac "
    "tpid";
constexpr std::string_view kSonicPortchannelMemberFields = "NULL";
constexpr std::string_view kSonicPortQosMapFields =
    "dot1p_to_pg_map dscp_to_dscp_map dscp_to_fc_map exp_to_fc_map mpls_tc_to_tc_map pfc_asym tc_to_dot1p_map "
    "tc_to_dscp_map tc_to_exp_map";
constexpr std::string_view kSonicWredProfileFields =
    "ecn_red_mark_probability ecn_red_max_threshold ecn_red_min_threshold ecn_yellow_mark_probability "
    "ecn_yellow_max_threshold ecn_yellow_min_threshold";
constexpr std::string_view kSonicDefaultLosslessBufferParameterFields = "max_headroom_size";
constexpr std::string_view kSonicLocalhostFields =
    "anchor_route_source arp_update_interval async_swss bgp_adv_lo_prefix_as_128 bgp_asn bgp_router_id bmp "
    "buffer_model chassis_hostname cloudtype cluster create_only_config_db_buffers default_bgp_status "
    "default_pfcwd_status deployment_id dhcp_server docker_routing_config_mode downstream_redundancy_types "
    "downstream_subrole dpu_bgp_asn frr_mgmt_framework_config hostname hwsku ip2me_trap_group "
    "ipv6_link_local_mode lacp_key loopback_traffic mac macsec_profile max_cores mgmt_type nexthop_group "
    "orch_dash_ring_thread_enabled orch_northbond_dash_zmq_enabled orch_northbond_route_zmq_enabled "
    "orch_route_perf ordered_ecmp peer_switch rack_mgmt_map redundancy_type region resource_type "
    "ring_thread_enabled slice_type storage_device sub_role subtype supporting_bulk_counter_groups "
    "suppress-fib-pending switch_id synchronous_mode syslog_with_osversion t2_group_asns timezone topology_type "
    "yang_config_validation zmq_route_enabled";
constexpr std::string_view kSonicSwitchTableSwitchFields =
    "fdb_aging_time fdb_broadcast_miss_packet_action fdb_multicast_miss_packet_action "
    "fdb_unicast_miss_packet_action hash_seed order_ecmp ordered_ecmp switch_type vxlan_mask vxlan_port "
    "vxlan_router_mac vxlan_sport";
constexpr std::string_view kSonicSwitchJsonFields = "OP";

std::vector<std::string_view> sonic_words(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    out.push_back(word);
    text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
  }
  return out;
}

}  // namespace

std::span<const std::string_view> sonic_tables_beside() {
  static const std::vector<std::string_view> tables = sonic_words(kSonicTables);
  return tables;
}

std::span<const std::string_view> sonic_fields_beside(std::string_view table) {
  static const std::map<std::string_view, std::vector<std::string_view>> fields{
      {"PORT", sonic_words(kSonicPortFields)},
      {"PORTCHANNEL", sonic_words(kSonicPortchannelFields)},
      {"PORTCHANNEL_MEMBER", sonic_words(kSonicPortchannelMemberFields)},
      {"PORT_QOS_MAP", sonic_words(kSonicPortQosMapFields)},
      {"WRED_PROFILE", sonic_words(kSonicWredProfileFields)},
      {"DEFAULT_LOSSLESS_BUFFER_PARAMETER", sonic_words(kSonicDefaultLosslessBufferParameterFields)},
      {"localhost", sonic_words(kSonicLocalhostFields)},
      {"SWITCH_TABLE_switch", sonic_words(kSonicSwitchTableSwitchFields)},
      {"switch_json", sonic_words(kSonicSwitchJsonFields)},
  };
  const auto found = fields.find(table);
  return found == fields.end() ? std::span<const std::string_view>{} : found->second;
}

}  // namespace softspine::control
