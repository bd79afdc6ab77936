-- SPDX-License-Identifier: Apache-2.0
-- Runs a script of SONiC's, which asks a Redis server, for each of many cases:
--
--   lua5.1 redis.lua SCRIPT CASES
--
-- CASES returns a list of {argv = {…}, db = {[number] = {[key] = {[field] = value}}}}. For each a line with what the
-- script returned, its parts joined by blanks. Redis answers with false where there is nothing.
local script, cases = arg[1], dofile(arg[2])

local function call_on(databases)
  local selected = {}
  local commands = {}
  function commands.SELECT(number)
    selected = databases[tonumber(number)] or {}
  end
  function commands.KEYS(pattern)
    local start = pattern:gsub('%*$', '')
    local found = {}
    for key in pairs(selected) do
      if key:sub(1, #start) == start then found[#found + 1] = key end
    end
    table.sort(found)
    return found
  end
  function commands.HGET(key, field)
    return (selected[key] or {})[field] or false
  end
  function commands.HGETALL(key)
    local out = {}
    for field, value in pairs(selected[key] or {}) do
      out[#out + 1] = field
      out[#out + 1] = value
    end
    return out
  end
  return function(name, ...)
    return commands[name](...)
  end
end

for _, case in ipairs(cases) do
  KEYS, ARGV, redis = {'profile'}, case.argv, {call = call_on(case.db)}
  print(table.concat(assert(loadfile(script))(), ' '))
end
