-- Spends of one credit by another service, for the users in turn. KEYED=1 sends an Idempotency-Key in the header.
dofile(os.getenv("PHONE"))
local headers = {
  ["Content-Type"] = "application/json",
  ["X-Service-Key"] = os.getenv("CALLER_KEY"),
  ["User-Agent"] = "AsyncHTTPClient/1.30.0",
}
local is_keyed = os.getenv("KEYED") == "1"
local run = os.getenv("RUN")
local count = 0

function request()
  count = count + 1
  if is_keyed then headers["Idempotency-Key"] = "spend-" .. run .. "-" .. count end
  headers["X-Request-ID"] = string.format("%032x", count)
  local body = '{"user_id":"' .. next_user().id .. '","cost":1,"description":"A scene","transaction_type":"generation"}'
  return wrk.format("POST", "/internal/credits/spend", headers, body)
end
