-- What wrk sends, and one line of JSON about how it went.
local upload = tonumber(os.getenv("UPLOAD_BYTES"))
if upload > 0 then
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/octet-stream"
  wrk.body = string.rep("x", upload)
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"errors":{"connect":%d,"read":%d,"write":%d,'
      .. '"status":%d,"timeout":%d}}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end

-- Connections that pause leave the processors time: what is then measured is latency, not the queue for a processor.
local pause = tonumber(os.getenv("PAUSE") or "0")
if pause > 0 then
  function delay() return math.random(0, pause) end
end
