-- Holds of two credits by another service, for the users in turn, and the capture of each as soon as it is there.
dofile(os.getenv("PHONE"))
local headers = {
  ["Content-Type"] = "application/json",
  ["X-Service-Key"] = os.getenv("CALLER_KEY"),
  ["User-Agent"] = "AsyncHTTPClient/1.30.0",
}
local run = os.getenv("RUN")
local count, open = 0, {}

function request()
  count = count + 1
  headers["X-Request-ID"] = string.format("%032x", count)
  local id = table.remove(open)
  if id then return wrk.format("POST", "/internal/credits/holds/" .. id .. "/capture", headers) end
  local body = '{"user_id":"' .. next_user().id .. '","cost":2,"idempotency_key":"hold-' .. run .. "-" .. count .. '"}'
  return wrk.format("POST", "/internal/credits/holds", headers, body)
end

function response(status, _, body)
  if status == 201 then open[#open + 1] = body:match('"id":"([^"]+)"') end
end
