// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/import_command.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "control/document/text_file.hpp"
#include "control/document/words.hpp"
#include "control/format/link_limits.hpp"
#include "control/imports/import.hpp"
#include "control/telemetry/json.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/whole_file.hpp"
#include "tools/softspine/error_list.hpp"
#include "tools/softspine/flow_report.hpp"
#include "tools/softspine/imported_testbed.hpp"
#include "tools/softspine/server_report.hpp"

namespace softspine::tools {

using control::ForeignTopology;
using control::Json;

namespace {

constexpr size_t kNotesShown = 20;
constexpr const char* kServerFormat = "nccl";  // these two are shown, and are no topologies
constexpr const char* kFlowFormat = "simai_flows";
constexpr size_t kFlowsWritten = 16;  // of more, the testbed names their list

struct ImportArguments {
  std::string format;
  std::vector<std::string> files;
  std::string output;
  std::string flows;
  std::string config;
  std::vector<std::string> rules;
  std::string rate;
  std::string length;
  bool json = false;
};

Status fail(const control::Errors& errors) {
  print_list(errors);
  return Status::kWrongInput;
}

const control::ImportFormatRow* format_row(const std::string& word) {
  for (const auto& row : control::kImportFormats) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

control::ImportOptions options_of(const ImportArguments& arguments) {
  control::ImportOptions out;
  for (const std::string& text : arguments.rules) {
    const auto rule = control::parse_node_rule(text);
    if (!rule) throw CLI::ValidationError("--as", control::shown(text) + " is not " + control::kNodeRuleForm.data());
    out.rules.push_back(*rule);
  }
  if (!arguments.rate.empty()) {
    out.rate = dataplane::Rate::bps(
        static_cast<uint64_t>(quantity_argument("--rate", arguments.rate, control::kRateQuantity)));
    if (out.rate < control::kLeastLinkRate || out.rate > control::kMaxLinkRate)
      throw CLI::ValidationError("--rate", "must be 1Mbps to 1.6Tbps");
  }
  if (!arguments.length.empty()) {
    out.length = {static_cast<uint64_t>(quantity_argument("--length", arguments.length, control::kLengthQuantity))};
    if (out.length < control::kLeastLinkLength || out.length > control::kMaxLinkLength)
      throw CLI::ValidationError("--length", "must be 1mm to 400000km");
  }
  return out;
}

// Counts that can be compared with those of the file.
Json summary(const ForeignTopology& topology, const ImportArguments& arguments) {
  std::map<std::string, uint64_t> roles;
  for (const control::ForeignNode& node : topology.nodes) {
    const auto role = role_of(node.use);
    ++roles[role ? control::name_of(*role) : std::string(control::kHostWord)];
  }
  std::map<dataplane::Rate, uint64_t> rates;
  for (const control::ForeignLink& link : topology.links) ++rates[link.rate];
  Json out{{"format", arguments.format}, {"files", arguments.files}};
  out["nodes"] = Json::object();
  for (const auto& [role, count] : roles) out["nodes"][role] = count;
  out["links"] = topology.links.size();
  out["rates"] = Json::object();
  for (const auto& [rate, count] : rates)
    out["rates"][control::print_quantity(static_cast<int64_t>(rate.count_bps()), control::kRateQuantity)] = count;
  out["left_out"] = {{"nodes", topology.nodes_left_out}, {"links", topology.links_left_out}};
  out["tables_left_out"] = topology.left_out;
  out["notes"] = Json::array();
  for (const control::Error& note : topology.notes)
    out["notes"].push_back({{"file", note.file}, {"line", note.line}, {"text", note.message}});
  return out;
}

// Notes stand in the testbed, too: of many, the first are enough here.
void print_notes(const ForeignTopology& topology, const std::string& output) {
  const size_t count = topology.notes.size();
  for (size_t i = 0; i < std::min(count, kNotesShown); ++i) complain("{}\n", control::to_string(topology.notes[i]));
  if (count > kNotesShown) {
    complain("and {} more, which stand in {}\n", count - kNotesShown,
             output.empty() ? "the testbed" : control::shown(output));
  }
}

Status give(const std::string& text, const ForeignTopology& topology, const ImportArguments& arguments) {
  if (!arguments.output.empty()) {
    if (const auto written = write_whole(arguments.output, text); !written) {
      complain("softspine: {}: {}\n", arguments.output, written.error());
      return Status::kUnexpected;
    }
  }
  if (arguments.json) {
    Json out = summary(topology, arguments);
    if (arguments.output.empty())
      out["testbed"] = text;
    else
      out["output"] = arguments.output;
    fmt::print("{}\n", out.dump(2, ' ', false, Json::error_handler_t::replace));
    return Status::kDone;
  }
  if (arguments.output.empty()) {
    fmt::print("{}", text);
    return Status::kDone;
  }
  print_notes(topology, arguments.output);
  if (!topology.left_out.empty()) complain("left out, since nothing here depends on it: {}\n", topology.left_out);
  fmt::print("{}", text.substr(2, text.find('\n') - 1));  // the first comment counts what there is
  return Status::kDone;
}

// A file that cannot be read is reported.
std::optional<control::ImportFile> read_file(const std::string& path) {
  auto text = control::read_text_file(path);
  if (text) return control::ImportFile{path, std::move(*text)};
  fail({{path, "", 0, 0, text.error()}});
  return std::nullopt;
}

// As the testbed names the flow file, from its own folder; empty: it cannot be read again.
std::string path_of_list(const ImportArguments& arguments) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(arguments.flows, none)) return {};
  const auto parent = std::filesystem::path(arguments.output).parent_path();
  const auto path = std::filesystem::relative(arguments.flows, parent.empty() ? "." : parent, none);
  return none || path.empty() ? std::filesystem::absolute(arguments.flows).string() : path.string();
}

// Whether the files of traffic, if there are any, could be read.
bool read_traffic(const ImportArguments& arguments, const ForeignTopology& topology, control::Reader& reader,
                  std::optional<control::ForeignTraffic>& out) {
  if (arguments.flows.empty()) return true;
  const auto flows = read_file(arguments.flows);
  const auto config = arguments.config.empty() ? std::nullopt : read_file(arguments.config);
  if (!flows || (!arguments.config.empty() && !config)) return false;
  out = read_ns3_traffic(reader, topology, *flows, config ? &*config : nullptr);
  if (!out) fail(reader.finish());
  if (out && out->flows.size() > kFlowsWritten) out->list = path_of_list(arguments);
  return out.has_value();
}

void check_traffic_options(const ImportArguments& arguments, control::ImportFormat format) {
  const bool is_ns3 = format == control::ImportFormat::kHpcc || format == control::ImportFormat::kSimai;
  if (!is_ns3 && !arguments.flows.empty()) throw CLI::ValidationError("--flows", "goes with hpcc and simai only");
  if (arguments.flows.empty() && !arguments.config.empty())
    throw CLI::ValidationError("--config", "goes with --flows only");
}

void check_shown(const ImportArguments& arguments) {
  for (const auto& [option, given] : {std::pair{"--output", &arguments.output},
                                      {"--flows", &arguments.flows},
                                      {"--rate", &arguments.rate},
                                      {"--length", &arguments.length}}) {
    if (!given->empty()) throw CLI::ValidationError(option, "does not go with " + arguments.format);
  }
  if (arguments.files.size() != 1) throw CLI::ValidationError("FILE", arguments.format + " has one");
}

// What a trace of a testbed makes of it.
Status show_flows(const ImportArguments& arguments) {
  check_shown(arguments);
  const auto read = control::load_simai_flows(arguments.files[0]);
  if (!read) return fail(read.error());
  fmt::print("{}", arguments.json ? flows_json(*read).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                                  : flows_text(*read));
  return Status::kDone;
}

// What a testbed's topology.servers make of it.
Status show_server(const ImportArguments& arguments) {
  check_shown(arguments);
  const auto file = read_file(arguments.files[0]);
  if (!file) return Status::kWrongInput;
  const auto read = control::read_nccl_topology(file->text, file->path);
  if (!read) return fail(read.error());
  for (const control::Error& note : read->notes) complain("{}\n", control::to_string(note));
  fmt::print("{}", arguments.json ? server_json(*read).dump(2) + "\n" : server_text(*read));
  return Status::kDone;
}

Status import_files(const ImportArguments& arguments) {
  if (arguments.format == kServerFormat) return show_server(arguments);
  if (arguments.format == kFlowFormat) return show_flows(arguments);
  const control::ImportFormatRow& row = *format_row(arguments.format);
  const control::ImportOptions options = options_of(arguments);
  check_traffic_options(arguments, row.format);
  std::vector<control::ImportFile> files;
  for (const std::string& path : arguments.files) {
    auto file = read_file(path);
    if (!file) return Status::kWrongInput;
    files.push_back(std::move(*file));
  }
  control::Reader reader(arguments.files[0]);
  control::ImportOptions placed = options;
  placed.place = {.file = arguments.files[0], .path = {}};
  auto topology = import_topology(reader, row.format, files, placed);
  if (!topology) return fail(reader.finish());
  std::optional<control::ForeignTraffic> traffic;
  if (!read_traffic(arguments, *topology, reader, traffic)) return Status::kWrongInput;
  // Errors that a testbed has though the file is right: too many addresses, a link that no window fits.
  const auto text = imported_testbed(*topology, row.format, files, arguments.output, traffic ? &*traffic : nullptr);
  if (!text) return fail(text.error());
  return give(*text, *topology, arguments);
}

std::string known_formats() {
  std::string out;
  for (const auto& row : control::kImportFormats) out += std::string(row.word) + ", ";
  return out + kServerFormat + ", " + kFlowFormat;
}

}  // namespace

void add_import_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command = app.add_subcommand("import", "another system's topology as a testbed");
  command->footer(
      "Reads topology files of HPCC's ns-3 (hpcc) and of SimAI (simai), containerlab's *.clab.yml (containerlab), "
      "htsim's\n"
      "*.topo (htsim), and the config_db.json files of one or several SONiC switches (sonic: DEVICE_NEIGHBOR, PORT,\n"
      "CABLE_LENGTH, PORTCHANNEL, VLAN_INTERFACE). Each SONiC switch gets its file as its profile, too: hash, QoS, "
      "buffers,\n"
      "watchdog.\n"
      "The testbed says of every node and link where it comes from, and what could not be mapped. Roles that the file\n"
      "does not say follow from the distance to the nearest host. A testbed reads the same files by topology: {import: "
      "…}.\n"
      "Of nccl, a server's topology file (NCCL_TOPO_FILE), it prints each GPU's NIC; a testbed reads it by topology: "
      "{servers: …}.\n"
      "Of simai_flows, flows that SimAI recorded for its replay, it prints how many there are, and what waits; a "
      "testbed "
      "runs\n"
      "them by traces: {format: simai_flows}.\n"
      "Examples:\n"
      "  softspine import hpcc fat.txt -o fat.yaml\n"
      "  softspine import hpcc topology.txt --flows flow.txt --config config.txt -o twin.yaml\n"
      "  softspine import simai Spectrum-X_64g_8gps_400Gbps_H100 > spectrum.yaml\n"
      "  softspine import containerlab clos.clab.yml --rate 25Gbps --as 'spine*=aggregation' --as linux=host\n"
      "  softspine import sonic leaf1.json leaf2.json spine1.json -o pod.yaml\n"
      "  softspine import htsim fat_tree_1024.topo -o fat.yaml\n"
      "  softspine import nccl ndv4-topo.xml\n"
      "  softspine import simai_flows flow_file.txt\n"
      "  softspine import hpcc fat.txt --json | jq .rates");
  command->add_option("FORMAT", arguments->format, known_formats())->required()->check([](const std::string& word) {
    return format_row(word) != nullptr || word == kServerFormat || word == kFlowFormat
               ? ""
               : control::shown(word) + " is none of " + known_formats();
  });
  command->add_option("FILE", arguments->files, "the file; of sonic several")->required();
  command->add_option("-o,--output", arguments->output, "the testbed's file; stdout if not given");
  command->add_option("--flows", arguments->flows, "hpcc, simai: the flow file; its flows are the workload");
  command->add_option("--config", arguments->config,
                      "hpcc, simai: the config file; sizes, marks and congestion control of the flows");
  command->add_option("--as", arguments->rules, control::kNodeRuleHelp)->expected(1)->take_all();
  command->add_option("--rate", arguments->rate, "of links that the file gives none; 100Gbps");
  command->add_option("--length", arguments->length, "of links that the file gives none; 3m");
  command->add_flag("--json", arguments->json, "counts and notes, for programs; the testbed, too, without -o");
  command->callback([arguments, &status] { status = import_files(*arguments); });
}

}  // namespace softspine::tools
