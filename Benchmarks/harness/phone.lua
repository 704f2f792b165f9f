-- What the scripts of all rows share: users in turn, the headers of an app on a phone, and one line of JSON about how it
-- went. A script loads this file by `dofile(os.getenv("PHONE"))` and defines `request`.

-- The headers that URLSession sends by itself.
local phone = {
  ["User-Agent"] = "Kith/412 CFNetwork/1568.300.101 Darwin/24.2.0",
  ["Accept"] = "*/*",
  ["Accept-Language"] = "en-GB,en;q=0.9",
  ["Accept-Encoding"] = "gzip, deflate, br",
}

-- The users who send requests, from a file with a line for each: user, session, access token.
users = {}
for line in io.lines(os.getenv("USERS") or "/dev/null") do
  local user, session, token = line:match("(%S+) (%S+) (%S+)")
  users[#users + 1] = { id = user, session = session, token = token }
end

-- The position of the first user, so that runs after each other begin with other users.
local position = tonumber(os.getenv("FIRST") or "0")

function next_user()
  position = position + 1
  return users[(position - 1) % math.max(#users, 1) + 1]
end

-- The headers of a request as a program gets them: the gateway from the app, with its bearer token; a service from the
-- gateway, which has verified the token and names the user. Without a user for routes that need none.
function headers_of(user, more)
  local headers = {}
  for name, value in pairs(phone) do headers[name] = value end
  local key = os.getenv("SERVICE_KEY")
  if key then
    headers["X-Service-Key"] = key
    headers["X-User-ID"] = user and user.id
    headers["X-Session-ID"] = user and user.session
    headers["X-Forwarded-For"] = "192.0.2.1"
    headers["X-Request-ID"] = string.format("%032x", math.random(2 ^ 31))
  elseif user then
    headers["Authorization"] = "Bearer " .. user.token
  end
  for name, value in pairs(more) do headers[name] = value end
  return headers
end

-- Defines `request` as requests that are written before the load begins, by `write` for as many users.
function in_turn(count, write)
  local written, last = {}, 0
  function init()
    for index = 1, count do written[index] = write(next_user()) end
  end
  function request()
    last = last % count + 1
    return written[last]
  end
end

-- Defines `request` as a GET of one path by the users in turn. The entity tag is one of an earlier response, which has
-- changed since: every response has a body.
function get(path)
  in_turn(#users, function(user)
    return wrk.format("GET", path, headers_of(user, { ["If-None-Match"] = '"5f1c7d0b2a9e4c38"' }))
  end)
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"errors":{"connect":%d,"read":%d,"write":%d,'
      .. '"status":%d,"timeout":%d}}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
