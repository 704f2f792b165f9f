-- New tasks, spread over the lists that the users own.
dofile(os.getenv("PHONE"))
local own_lists = tonumber(os.getenv("OWN_LISTS"))

function request()
  local user = next_user()
  local number = tonumber(user.id:sub(-12))
  local list = (number - 1) * own_lists + math.random(own_lists)
  local headers = headers_of(user, { ["Content-Type"] = "application/json" })
  return wrk.format("POST", "/api/v1/lists/" .. list .. "/tasks", headers, '{"task":{"title":"A task"}}')
end
