-- Spends one credit of a random user.
local users = tonumber(os.getenv("USERS"))
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

function request()
  local user = string.format("00000000-0000-7000-8000-%012d", math.random(users))
  return wrk.format(nil, nil, nil, '{"user_id":"' .. user .. '","cost":1,"transaction_type":"generation"}')
end
