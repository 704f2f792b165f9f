-- A download by a link, which needs no bearer token.
dofile(os.getenv("PHONE"))
local path = os.getenv("PATH_OF_REQUESTS")
in_turn(1, function() return wrk.format("GET", path, headers_of(nil, {})) end)
