-- New tasks, spread over the lists.
local first, last = tonumber(os.getenv("FIRST")), tonumber(os.getenv("LAST"))
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

function request()
  return wrk.format(nil, "/api/v1/lists/" .. math.random(first, last) .. "/tasks", nil, '{"task":{"title":"A task"}}')
end
