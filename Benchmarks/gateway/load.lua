-- A GET of PATH_OF_REQUESTS by the users in turn, or a POST of UPLOAD_BYTES.
dofile(os.getenv("PHONE"))
local path = os.getenv("PATH_OF_REQUESTS")
local upload = tonumber(os.getenv("UPLOAD_BYTES") or "0")

if upload == 0 then
  get(path)
else
  local body = string.rep("x", upload)
  -- Each written request has a body of its own in memory.
  in_turn(20, function(user)
    return wrk.format("POST", path, headers_of(user, { ["Content-Type"] = "application/octet-stream" }), body)
  end)
end

-- Connections that pause leave the processors time: the latency is then that of the programs, not of the scheduler.
local pause = tonumber(os.getenv("PAUSE") or "0")
if pause > 0 then
  function delay() return math.random(0, pause) end
end
