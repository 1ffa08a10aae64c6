-- Load for wrk: reads the templates that bench/traffic.ts wrote (first argument after --), sends them in turn and puts
-- a new random value into every slot. Each thread starts elsewhere and has its own random numbers. Prints one line of
-- JSON.
local alphabets = { d = "0123456789", h = "0123456789abcdef", a = "abcdefghijklmnopqrstuvwxyz",
  m = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" }
local threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

local function load(path)
  local file = assert(io.open(path, "rb"))
  local list = {}
  while true do
    local head = file:read("*l")
    if not head then break end
    local count = tonumber(head:match("^R (%d+)$"))
    local pieces = {}
    for index = 1, count do
      local line = file:read("*l")
      local bytes = line:match("^L (%d+)$")
      if bytes then
        pieces[index] = file:read(tonumber(bytes))
        file:read(1)
      else
        local kind, length = line:match("^F (%a) (%d+)$")
        pieces[index] = { alphabet = alphabets[kind], length = tonumber(length) }
      end
    end
    list[#list + 1] = pieces
  end
  file:close()
  return list
end

local templates, position
-- Two characters a draw: half the calls of the random generator, which is most of the cost of making a request.
local pairs_of = {}
local function fill(alphabet, length)
  local two = pairs_of[alphabet]
  if not two then
    two = {}
    for i = 1, #alphabet do for j = 1, #alphabet do two[#two + 1] = alphabet:sub(i, i) .. alphabet:sub(j, j) end end
    pairs_of[alphabet] = two
  end
  local out = {}
  for index = 1, math.floor(length / 2) do out[index] = two[math.random(#two)] end
  if length % 2 == 1 then
    local at = math.random(#alphabet)
    out[#out + 1] = alphabet:sub(at, at)
  end
  return table.concat(out)
end

function init(arguments)
  math.randomseed(os.time() * 64 + number)
  for _ = 1, 10 do math.random() end
  templates = load(arguments[1])
  position = math.random(#templates)
  -- wrk parses what its first thread would send first, and ends where it does not know the method
  for _ = 1, #templates do
    local first = templates[position % #templates + 1][1]
    if type(first) == "string" and first:sub(1, 4) == "GET " then break end
    position = position % #templates + 1
  end
end

function request()
  position = position % #templates + 1
  local pieces = templates[position]
  local out = {}
  for index = 1, #pieces do
    local piece = pieces[index]
    if type(piece) == "string" then out[index] = piece else out[index] = fill(piece.alphabet, piece.length) end
  end
  return table.concat(out)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"durationUs":%d,"p50Us":%d,"p90Us":%d,"p99Us":%d,"maxUs":%d,' ..
      '"non2xx":%d,"socketErrors":%d,"timeouts":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(90), latency:percentile(99),
    latency.max, errors.status, errors.connect + errors.read + errors.write, errors.timeout))
end
