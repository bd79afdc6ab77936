// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/run/trace_reader.hpp"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "control/telemetry/event_lines.hpp"

namespace softspine::testbeds {

namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptorProto;

struct PublishedField {
  const char* message;
  const char* name;
  int number;
  Field::Type type;
  const char* of = "";  // a message's
  bool is_repeated = false;
};
// perfetto/trace/trace_packet.proto, track_event/*.proto, interned_data/interned_data.proto.
constexpr PublishedField kPublished[] = {
    {"TracePacket", "timestamp", 8, Field::TYPE_UINT64},
    {"TracePacket", "trusted_packet_sequence_id", 10, Field::TYPE_UINT32},
    {"TracePacket", "track_event", 11, Field::TYPE_MESSAGE, "TrackEvent"},
    {"TracePacket", "interned_data", 12, Field::TYPE_MESSAGE, "InternedData"},
    {"TracePacket", "sequence_flags", 13, Field::TYPE_UINT32},
    {"TracePacket", "track_descriptor", 60, Field::TYPE_MESSAGE, "TrackDescriptor"},
    {"TracePacket", "first_packet_on_sequence", 87, Field::TYPE_BOOL},
    {"TrackEvent", "category_iids", 3, Field::TYPE_UINT64, "", true},
    {"TrackEvent", "debug_annotations", 4, Field::TYPE_MESSAGE, "DebugAnnotation", true},
    {"TrackEvent", "type", 9, Field::TYPE_UINT32},
    {"TrackEvent", "name_iid", 10, Field::TYPE_UINT64},
    {"TrackEvent", "track_uuid", 11, Field::TYPE_UINT64},
    {"TrackEvent", "counter_value", 30, Field::TYPE_INT64},
    {"TrackEvent", "flow_ids", 47, Field::TYPE_FIXED64, "", true},
    {"DebugAnnotation", "name_iid", 1, Field::TYPE_UINT64},
    {"DebugAnnotation", "uint_value", 3, Field::TYPE_UINT64},
    {"DebugAnnotation", "string_value", 6, Field::TYPE_STRING},
    {"TrackDescriptor", "uuid", 1, Field::TYPE_UINT64},
    {"TrackDescriptor", "name", 2, Field::TYPE_STRING},
    {"TrackDescriptor", "parent_uuid", 5, Field::TYPE_UINT64},
    {"TrackDescriptor", "counter", 8, Field::TYPE_MESSAGE, "CounterDescriptor"},
    {"TrackDescriptor", "child_ordering", 11, Field::TYPE_UINT32},
    {"CounterDescriptor", "unit", 3, Field::TYPE_UINT32},
    {"InternedData", "event_categories", 1, Field::TYPE_MESSAGE, "Interned", true},
    {"InternedData", "event_names", 2, Field::TYPE_MESSAGE, "Interned", true},
    {"InternedData", "debug_annotation_names", 3, Field::TYPE_MESSAGE, "Interned", true},
    {"Interned", "iid", 1, Field::TYPE_UINT64},
    {"Interned", "name", 2, Field::TYPE_STRING},
};

class Schema {
 public:
  Schema() {
    pb::FileDescriptorProto file;
    file.set_name("trace");
    file.set_syntax("proto2");
    for (const PublishedField& each : kPublished) {
      Field& field = *message_of(file, each.message).add_field();
      field.set_name(each.name);
      field.set_number(each.number);
      field.set_type(each.type);
      field.set_label(each.is_repeated ? Field::LABEL_REPEATED : Field::LABEL_OPTIONAL);
      if (*each.of != '\0') field.set_type_name(std::string{"."} + each.of);
    }
    packet_ = factory_.GetPrototype(pool_.BuildFile(file)->FindMessageTypeByName("TracePacket"));
  }
  std::unique_ptr<pb::Message> packet() const { return std::unique_ptr<pb::Message>{packet_->New()}; }

 private:
  static pb::DescriptorProto& message_of(pb::FileDescriptorProto& file, const std::string& name) {
    for (pb::DescriptorProto& each : *file.mutable_message_type()) {
      if (each.name() == name) return each;
    }
    pb::DescriptorProto& out = *file.add_message_type();
    out.set_name(name);
    return out;
  }

  pb::DescriptorPool pool_;
  pb::DynamicMessageFactory factory_;
  const pb::Message* packet_ = nullptr;
};

// A message's fields by their names.
class Fields {
 public:
  explicit Fields(const pb::Message& of) : of_(of), reflection_(*of.GetReflection()) {}

  bool has(const char* name) const { return reflection_.HasField(of_, field(name)); }
  uint64_t number(const char* name) const {
    const pb::FieldDescriptor* const it = field(name);
    switch (it->cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_UINT32: return reflection_.GetUInt32(of_, it);
      case pb::FieldDescriptor::CPPTYPE_INT64: return static_cast<uint64_t>(reflection_.GetInt64(of_, it));
      case pb::FieldDescriptor::CPPTYPE_BOOL: return reflection_.GetBool(of_, it) ? 1 : 0;
      default: return reflection_.GetUInt64(of_, it);
    }
  }
  std::string text(const char* name) const { return reflection_.GetString(of_, field(name)); }
  Fields message(const char* name) const { return Fields{reflection_.GetMessage(of_, field(name))}; }
  std::vector<uint64_t> numbers(const char* name) const {
    std::vector<uint64_t> out;
    for (int i = 0; i < reflection_.FieldSize(of_, field(name)); ++i)
      out.push_back(reflection_.GetRepeatedUInt64(of_, field(name), i));
    return out;
  }
  std::vector<Fields> messages(const char* name) const {
    std::vector<Fields> out;
    for (int i = 0; i < reflection_.FieldSize(of_, field(name)); ++i)
      out.emplace_back(reflection_.GetRepeatedMessage(of_, field(name), i));
    return out;
  }
  bool has_others() const {
    if (!reflection_.GetUnknownFields(of_).empty()) return true;
    std::vector<const pb::FieldDescriptor*> fields;
    reflection_.ListFields(of_, &fields);
    return std::ranges::any_of(fields, [this](const pb::FieldDescriptor* it) {
      if (it->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) return false;
      if (!it->is_repeated()) return Fields{reflection_.GetMessage(of_, it)}.has_others();
      bool any = false;
      for (int i = 0; i < reflection_.FieldSize(of_, it); ++i)
        any |= Fields{reflection_.GetRepeatedMessage(of_, it, i)}.has_others();
      return any;
    });
  }

 private:
  const pb::FieldDescriptor* field(const char* name) const { return of_.GetDescriptor()->FindFieldByName(name); }
  const pb::Message& of_;
  const pb::Reflection& reflection_;
};

enum EventType : uint64_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

struct Event {
  uint64_t type = 0;
  uint64_t track = 0;
  uint64_t value = 0;
  TraceSlice it;
};

class Reader {
 public:
  ReadTrace read(std::string_view bytes) {
    pb::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
    const std::unique_ptr<pb::Message> packet = schema_.packet();
    while (const uint32_t tag = in.ReadTag()) {
      uint32_t length = 0;
      std::string text;
      out_.is_cut = !in.ReadVarint32(&length) || !in.ReadString(&text, static_cast<int>(length));
      if (out_.is_cut) break;
      if (tag != (1U << 3U | 2U) || !packet->ParseFromString(text)) find("is no packet");
      take(Fields{*packet});
      ++out_.packets;
    }
    put_together();
    return std::move(out_);
  }

 private:
  struct Track {
    std::string path;
    bool is_counter = false;
    std::optional<size_t> open;  // of slices
    uint64_t last_ns = 0;
  };

  void find(const std::string& what) {
    if (out_.findings.size() < 20) out_.findings.push_back(fmt::format("packet {}: {}", out_.packets, what));
  }
  static void add_words(const Fields& data, const char* field, std::map<uint64_t, std::string>& into) {
    for (const Fields& each : data.messages(field)) into[each.number("iid")] = each.text("name");
  }
  const std::string& word(const std::map<uint64_t, std::string>& words, uint64_t iid) {
    static const std::string kNone;
    const auto found = words.find(iid);
    if (found != words.end()) return found->second;
    find("a string that no packet before has");
    return kNone;
  }

  void take(const Fields& packet) {
    if (packet.has_others()) find("a field that is not published");
    if (packet.number("trusted_packet_sequence_id") == 0) find("no sequence");
    const bool is_first = out_.packets == 0;
    const uint64_t flags = packet.number("sequence_flags");
    if (is_first != (flags == 1) || is_first != packet.has("first_packet_on_sequence")) find("flags of a first packet");
    if (packet.has("interned_data")) {
      const Fields data = packet.message("interned_data");
      add_words(data, "event_categories", categories_);
      add_words(data, "event_names", names_);
      add_words(data, "debug_annotation_names", keys_);
    }
    if (packet.has("track_descriptor")) take_track(packet.message("track_descriptor"));
    if (!packet.has("track_event")) return;
    if (flags != 2) find("an event that is read without its strings");
    take_event(packet.message("track_event"), packet.number("timestamp"));
  }

  void take_track(const Fields& track) {
    std::string path = track.text("name");
    if (track.has("parent_uuid")) {
      const auto parent = tracks_.find(track.number("parent_uuid"));
      parent == tracks_.end() ? find("a parent that is not described") : void(path = parent->second.path + "/" + path);
    }
    const bool is_counter = track.has("counter");
    if (is_counter && track.message("counter").number("unit") != 3) find("a counter of something else than bytes");
    if (!tracks_.try_emplace(track.number("uuid"), Track{path, is_counter, {}, 0}).second) find("a track twice");
  }

  void take_event(const Fields& event, uint64_t at) {
    Event out{.type = event.number("type"), .track = event.number("track_uuid"), .value = 0, .it = {}};
    out.it.from_ns = out.it.to_ns = at;
    const auto track = tracks_.find(out.track);
    if (track == tracks_.end()) return find("an event on a track that is not described");
    if (track->second.is_counter != (out.type == kCounter)) find("an event on a track of another kind");
    out.it.track = track->second.path;
    if (out.type == kCounter) out.value = event.number("counter_value");
    for (const uint64_t iid : event.numbers("category_iids")) out.it.category = word(categories_, iid);
    if (event.has("name_iid")) out.it.name = word(names_, event.number("name_iid"));
    for (const Fields& each : event.messages("debug_annotations")) {
      out.it.arguments[word(keys_, each.number("name_iid"))] =
          each.has("string_value") ? each.text("string_value") : std::to_string(each.number("uint_value"));
    }
    out.it.flows = event.numbers("flow_ids");
    events_.push_back(std::move(out));
  }

  void put_together() {
    std::ranges::stable_sort(events_, {}, [](const Event& event) { return event.it.from_ns; });
    for (Event& event : events_) {
      Track& track = tracks_[event.track];
      if (event.type == kCounter) out_.counters[track.path].emplace_back(event.it.from_ns, event.value);
      if (event.type == kInstant) out_.instants.push_back(std::move(event.it));
      if (event.type == kBegin) {
        if (track.open) find("a slice within another one on " + track.path);
        track.open = out_.slices.size();
        out_.slices.push_back(std::move(event.it));
      } else if (event.type == kEnd) {
        if (!track.open) {
          find("the end of nothing on " + track.path);
          continue;
        }
        out_.slices[*track.open].to_ns = event.it.from_ns;
        track.open.reset();
      }
    }
    for (const auto& [uuid, track] : tracks_) {
      if (track.open && !out_.is_cut) find("a slice without an end on " + track.path);
    }
  }

  Schema schema_;
  ReadTrace out_;
  std::map<uint64_t, std::string> categories_;
  std::map<uint64_t, std::string> names_;
  std::map<uint64_t, std::string> keys_;
  std::map<uint64_t, Track> tracks_;
  std::vector<Event> events_;
};

std::string last_of(const std::string& path, size_t from_end) {
  std::string rest = path;
  for (size_t i = 0; i < from_end; ++i) rest.resize(rest.rfind('/'));
  return rest.substr(rest.rfind('/') + 1);  // npos + 1 is 0
}

// "tor1:Ethernet0/3", or "/link".
std::string place_of(const TraceSlice& slice) {
  const std::string own = last_of(slice.track, 0);
  const std::string number = own.starts_with("link") ? "link" : own.substr(9, 1);  // priority 3
  return last_of(slice.track, 1) + "/" + number;
}

using Sums = std::map<std::string, uint64_t>;

void add_sum(Sums& sums, const std::string& what, uint64_t value) {
  if (value > 0) sums[what] += value;
}
uint64_t ps(dataplane::Duration time) {
  return static_cast<uint64_t>(time.count_ps());
}

void compare(const std::string& what, const Sums& found, const Sums& wanted, std::vector<std::string>& out) {
  for (const auto& [key, value] : wanted) {
    const auto it = found.find(key);
    const uint64_t is = it == found.end() ? 0 : it->second;
    if (is != value) out.push_back(fmt::format("{} of {}: {} instead of {}", what, key, is, value));
  }
  for (const auto& [key, value] : found) {
    if (!wanted.contains(key)) out.push_back(fmt::format("{} of {}: {} instead of none", what, key, value));
  }
}

void compare_events(const ReadTrace& trace, const control::FabricSnapshot& snapshot, std::vector<std::string>& out) {
  Sums found;
  Sums found_drops;
  Sums found_marks;
  for (const TraceSlice& each : trace.instants) {
    if (each.category != "marks") ++found[each.name];
    if (each.category == "marks") found_marks[last_of(each.track, 0)] += each.number("packets");
    if (each.category == "drops") found_drops[each.arguments.at("reason")] += each.number("packets");
  }
  Sums wanted;
  for (size_t row = 0; row < control::event_facts().size(); ++row)
    add_sum(wanted, std::string{control::event_facts()[row].name}, snapshot.events->lines[row]);
  compare("events", found, wanted, out);
  Sums drops;
  Sums marks;
  for (const control::SwitchSnapshot& node : snapshot.switches) {
    for (const control::PortSnapshot& port : node.ports) {
      for (size_t i = 0; i < dataplane::kDropReasons; ++i) {
        const auto reason = static_cast<dataplane::DropReason>(i);
        if (!dataplane::is_consumed(reason))
          add_sum(drops, std::string{dataplane::name_of(reason)}, port.counters.drops[i]);
      }
      for (const auto& queue : port.counters.queues)
        add_sum(marks, node.name + ":" + port.name, queue.ecn_marked_packets);
    }
  }
  compare("drops", found_drops, drops, out);
  compare("marks", found_marks, marks, out);
}

void compare_levels(const ReadTrace& trace, const control::FabricSnapshot& snapshot, std::vector<std::string>& out) {
  Sums found;
  for (const auto& [track, values] : trace.counters) {
    if (track.find("/queue ") != std::string::npos || track.find("/group ") != std::string::npos)
      add_sum(found, track, values.back().second);
  }
  Sums wanted;
  for (const control::SwitchSnapshot& node : snapshot.switches) {
    for (const control::PortSnapshot& port : node.ports) {
      const std::string own = fmt::format("{0}/{0}:{1}", node.name, port.name);
      for (size_t q = 0; q < port.counters.queues.size(); ++q)
        add_sum(wanted, fmt::format("{}/queue {} bytes", own, q), port.counters.queues[q].current_bytes);
      for (size_t g = 0; port.buffers && g < port.buffers->groups.size(); ++g) {
        add_sum(wanted, fmt::format("{}/group {} shared bytes", own, g), port.buffers->groups[g].shared_bytes);
        add_sum(wanted, fmt::format("{}/group {} headroom bytes", own, g), port.buffers->groups[g].headroom_bytes);
      }
    }
  }
  compare("the last level", found, wanted, out);
}

// Of slices with one flow, the earliest is the asking end's, and all others are the other end's, for that priority, and
// begin while it asks.
void compare_flows(const ReadTrace& trace, const control::Fabric& fabric, std::vector<std::string>& out) {
  std::map<std::string, std::string> peers;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    for (uint16_t p = 0; p < fabric.nodes[n].ports.size(); ++p)
      peers[fabric.name_of({n, p})] = fabric.name_of(fabric.peer_of({n, p}));
  }
  std::map<uint64_t, const TraceSlice*> first;
  for (const TraceSlice& each : trace.slices) {
    if (each.category != "paused" && each.category != "pauses") continue;
    if (each.flows.size() != 1) {
      out.push_back(each.track + " has a slice of no flow");
      continue;
    }
    const auto [at, is_first] = first.try_emplace(each.flows[0], &each);
    if (is_first) continue;
    const std::string from = place_of(*at->second);
    const std::string to = place_of(each);
    const auto port_of = [](const std::string& place) { return place.substr(0, place.find('/')); };
    const bool is_right = at->second->category == "pauses" && each.category == "paused" &&
                          peers[port_of(from)] == port_of(to) && from.back() == to.back() &&
                          each.from_ns <= at->second->to_ns;
    if (!is_right)
      out.push_back(fmt::format("an arrow from {} {} to {} {}", at->second->category, from, each.category, to));
  }
}

}  // namespace

ReadTrace read_trace(std::string_view bytes) {
  return Reader{}.read(bytes);
}

Sums pauses_in(const ReadTrace& trace, const std::string& category) {
  Sums out;
  for (const TraceSlice& each : trace.slices) {
    if (each.category == category) add_sum(out, place_of(each), each.number("duration_ps"));
  }
  return out;
}

Sums pauses_in(const control::FabricSnapshot& snapshot, const std::string& category) {
  const bool asks = category == "pauses";
  Sums out;
  const auto add = [&](const std::string& port, const auto& pauses, const control::LinkPauseSnapshot& link,
                       auto stood_still) {
    for (size_t p = 0; p < pauses.size(); ++p) {
      add_sum(out, fmt::format("{}/{}", port, p), ps(asks ? pauses[p].tx_requested : stood_still(pauses[p])));
    }
    add_sum(out, port + "/link", ps(asks ? link.tx_requested : link.time));
  };
  const auto of_host = [](const control::HostPauseSnapshot& it) { return it.paused; };
  for (const control::SwitchSnapshot& node : snapshot.switches) {
    for (const control::PortSnapshot& port : node.ports) {
      add(node.name + ":" + port.name, port.pauses, port.link_pause,
          [](const control::PauseSnapshot& it) { return it.time; });
    }
  }
  for (const control::HostSnapshot& host : snapshot.hosts) {
    for (const control::HostPortSnapshot& port : host.ports)
      add(host.name + ":" + port.name, port.pause, port.link_pause, of_host);
  }
  for (const control::EdgeSnapshot& edge : snapshot.edges)
    add(edge.name + ":" + edge.port, edge.pause, edge.link_pause, of_host);
  return out;
}

std::vector<std::string> pool_differences(const ReadTrace& trace, const control::FabricSnapshot& snapshot) {
  Sums found;
  for (const auto& [track, values] : trace.counters) {
    if (track.find("_pool") != std::string::npos) add_sum(found, track, values.back().second);
  }
  Sums wanted;
  for (const control::SwitchSnapshot& node : snapshot.switches) {
    for (const control::PoolSnapshot& pool : node.pools) {
      const std::string own = fmt::format("{0}/{0}:{1}", node.name, pool.name);
      add_sum(wanted, own + " shared bytes", pool.shared_bytes);
      add_sum(wanted, own + " headroom bytes", pool.headroom_bytes);
    }
  }
  std::vector<std::string> out;
  compare("the last level", found, wanted, out);
  return out;
}

std::vector<std::string> differences(const ReadTrace& trace, const control::FabricSnapshot& snapshot,
                                     const control::Fabric& fabric) {
  std::vector<std::string> out = trace.findings;
  if (trace.is_cut) out.emplace_back("the file is cut off");
  for (const char* const category : {"paused", "pauses"})
    compare(category, pauses_in(trace, category), pauses_in(snapshot, category), out);
  compare_events(trace, snapshot, out);
  compare_levels(trace, snapshot, out);
  compare_flows(trace, fabric, out);
  return out;
}

}  // namespace softspine::testbeds
