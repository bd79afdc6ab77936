// SPDX-License-Identifier: Apache-2.0
// Every table of the format, declared in the files of tables beside this one.
#pragma once

#include "control/rows/collective_formats.hpp"
#include "control/rows/guest_files_format.hpp"
#include "control/rows/port_channel_formats.hpp"
#include "control/rows/qos_formats.hpp"
#include "control/rows/row_formats.hpp"
#include "control/rows/vlan_format.hpp"

namespace softspine::control {

#define SOFTSPINE_TABLE(Row)          \
  template <>                         \
  struct Tables<Row> {                \
    static const Table<Row>& table(); \
  }

SOFTSPINE_TABLE(TestbedRow);
// Of a file that a testbed includes.
const Table<TestbedRow>& included_table();
SOFTSPINE_TABLE(RunRow);
SOFTSPINE_TABLE(TelemetryRow);
SOFTSPINE_TABLE(RolesRow);
SOFTSPINE_TABLE(LinkSpec);
SOFTSPINE_TABLE(BondRow);
SOFTSPINE_TABLE(VlanRow);
SOFTSPINE_TABLE(LeafSpine);
SOFTSPINE_TABLE(FatTree);
SOFTSPINE_TABLE(Hpn);
SOFTSPINE_TABLE(AiZone);
SOFTSPINE_TABLE(DcnPlus);
SOFTSPINE_TABLE(FrontEnd);
SOFTSPINE_TABLE(Star);
SOFTSPINE_TABLE(BinaryFatTree);
SOFTSPINE_TABLE(Clos);
SOFTSPINE_TABLE(Crossbar);
SOFTSPINE_TABLE(TopologyRow);
SOFTSPINE_TABLE(JobRow);
SOFTSPINE_TABLE(ImportRow);
SOFTSPINE_TABLE(NodeRow);
SOFTSPINE_TABLE(GuestRow);
SOFTSPINE_TABLE(NamespaceRow);
SOFTSPINE_TABLE(VerbsRow);
SOFTSPINE_TABLE(EdgeRow);
SOFTSPINE_TABLE(NicRow);
SOFTSPINE_TABLE(TapRow);
SOFTSPINE_TABLE(AfPacketRow);
SOFTSPINE_TABLE(VhostUserRow);
SOFTSPINE_TABLE(PcapRow);
SOFTSPINE_TABLE(LinkRow);
SOFTSPINE_TABLE(StackRow);
SOFTSPINE_TABLE(LagRow);
SOFTSPINE_TABLE(PortChannelRow);
SOFTSPINE_TABLE(ChannelMemberRow);
SOFTSPINE_TABLE(ProfileRow);
SOFTSPINE_TABLE(HashRow);
SOFTSPINE_TABLE(Rtag7Row);
SOFTSPINE_TABLE(Rtag7ARow);
SOFTSPINE_TABLE(Rtag7BRow);
SOFTSPINE_TABLE(MacroFlowRow);
SOFTSPINE_TABLE(MacroFlowEntryRow);
SOFTSPINE_TABLE(UdfRow);
SOFTSPINE_TABLE(UdfMatchRow);
SOFTSPINE_TABLE(FineGrainedRow);
SOFTSPINE_TABLE(HashObjectRow);
SOFTSPINE_TABLE(EcmpGroupsRow);
SOFTSPINE_TABLE(NeighboursRow);
SOFTSPINE_TABLE(SwitchHashRow);
SOFTSPINE_TABLE(SwitchHashGlobalRow);
SOFTSPINE_TABLE(DeviceMetadataRow);
SOFTSPINE_TABLE(LocalhostRow);
SOFTSPINE_TABLE(SwitchTableRow);
SOFTSPINE_TABLE(SwitchJsonRow);
SOFTSPINE_TABLE(BufferPoolRow);
SOFTSPINE_TABLE(BufferProfileRow);
SOFTSPINE_TABLE(BufferUseRow);
SOFTSPINE_TABLE(PortProfilesRow);
SOFTSPINE_TABLE(PortSliceRow);
SOFTSPINE_TABLE(LosslessParameterRow);
SOFTSPINE_TABLE(TrafficPatternRow);
SOFTSPINE_TABLE(PortRow);
SOFTSPINE_TABLE(WredRow);
SOFTSPINE_TABLE(SchedulerRow);
SOFTSPINE_TABLE(QueueRow);
SOFTSPINE_TABLE(PortQosRow);
SOFTSPINE_TABLE(PfcWdRow);
SOFTSPINE_TABLE(WorkloadRow);
SOFTSPINE_TABLE(CollectiveRow);
SOFTSPINE_TABLE(ServerRow);
SOFTSPINE_TABLE(TraceRow);
SOFTSPINE_TABLE(LayerPhaseRow);
SOFTSPINE_TABLE(TrainingLayerRow);
SOFTSPINE_TABLE(TrainingRow);
SOFTSPINE_TABLE(OverrideRow);
SOFTSPINE_TABLE(EngineeringRow);
SOFTSPINE_TABLE(FaultRow);
SOFTSPINE_TABLE(FlapRow);
SOFTSPINE_TABLE(BfdRow);
SOFTSPINE_TABLE(DetectionRow);
SOFTSPINE_TABLE(ExpectRow);

#undef SOFTSPINE_TABLE

// The tables of a profile that a config_db.json has, too; it has many others.
const Table<ProfileRow>& config_db_table();

}  // namespace softspine::control
