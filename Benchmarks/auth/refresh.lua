-- Refreshes: each request exchanges a refresh token that has not been used.
dofile(os.getenv("PHONE"))
local group = os.getenv("GROUP")
local count = 0

function request()
  count = count + 1
  local headers = headers_of(nil, { ["Content-Type"] = "application/json" })
  local body = '{"refresh_token":"refresh-token-of-the-benchmark-' .. group .. "-" .. count .. '"}'
  return wrk.format("POST", "/api/v1/auth/refresh", headers, body)
end
