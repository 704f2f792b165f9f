-- New tasks, spread over the lists.
local lists = tonumber(os.getenv("LISTS"))
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

function request()
  return wrk.format(nil, "/api/v1/lists/" .. math.random(1, lists) .. "/tasks", nil, '{"task":{"title":"A task"}}')
end
