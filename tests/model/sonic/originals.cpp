// SPDX-License-Identifier: Apache-2.0
#include "tests/model/sonic/originals.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/harness/samples.hpp"

namespace softspine::tests {
namespace {

constexpr const char* kLua = "/usr/bin/lua5.1";

Samples swss() {
  return samples_of("SOFTSPINE_SONIC_SWSS", "sonic-swss", "sonic-swss's buffer_*.lua");
}
std::filesystem::path path_of(std::string_view script) {
  return swss().folder / script;
}

std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

std::string lua_of(const RedisCase& one) {
  std::string out = "{argv = {";
  for (const std::string& each : one.argv) out += quoted(each) + ", ";
  out += "}, db = {";
  for (const auto& [number, tables] : one.databases) {
    out += "[" + std::to_string(number) + "] = {";
    for (const auto& [key, fields] : tables) {
      out += "[" + quoted(key) + "] = {";
      for (const auto& [field, value] : fields) out += "[" + quoted(field) + "] = " + quoted(value) + ", ";
      out += "}, ";
    }
    out += "}, ";
  }
  return out + "}},\n";
}

Figures figures_of(const std::string& line) {
  Figures out;
  std::istringstream parts(line);
  for (std::string part; parts >> part;) {
    std::istringstream fields(part);
    std::string name;
    std::getline(fields, name, ':');
    for (std::string field; std::getline(fields, field, ':');) {
      uint64_t value = 0;
      const auto end = std::from_chars(field.data(), field.data() + field.size(), value);
      if (end.ec == std::errc{}) out[name].push_back(value);
    }
  }
  return out;
}

}  // namespace

std::string why_not(std::string_view script) {
  if (const Samples found = swss(); !found.missing.empty()) return found.missing;
  if (!std::filesystem::is_regular_file(path_of(script))) return path_of(script).string() + " is not there";
  return std::filesystem::exists(kLua) ? "" : std::string(kLua) + " is not there: tools/install tests";
}

std::vector<Figures> run_original(std::string_view script, const std::vector<RedisCase>& cases) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("softspine-redis-" + std::to_string(getpid()) + ".lua");
  {
    std::ofstream out(file);
    out << "return {\n";
    for (const RedisCase& one : cases) out << lua_of(one);
    out << "}\n";
  }
  const std::string command =
      std::string(kLua) + " " SOFTSPINE_REDIS_LUA " " + path_of(script).string() + " " + file.string();
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::string printed;
  std::array<char, 4096> buffer{};
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) printed.append(buffer.data(), got);
  std::filesystem::remove(file);
  std::vector<Figures> out;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) out.push_back(figures_of(line));
  return out;
}

}  // namespace softspine::tests
