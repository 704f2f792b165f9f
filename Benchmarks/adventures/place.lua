-- New places, as Supabase's client saves them when it reads the row back.
dofile(os.getenv("PHONE"))

function request()
  local user = next_user()
  local headers = headers_of(user, { ["Content-Type"] = "application/json", ["Prefer"] = "return=representation" })
  local body = '{"user_id":"' .. user.id .. '","name":"A place","address":"1 Street","latitude":48.2,"longitude":16.4,'
    .. '"category":"cafe"}'
  return wrk.format("POST", "/rest/v1/saved_places?select=*", headers, body)
end
