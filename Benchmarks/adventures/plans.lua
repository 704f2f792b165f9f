-- A user's plans, as Supabase's client reads them.
dofile(os.getenv("PHONE"))
in_turn(#users, function(user)
  return wrk.format("GET", "/rest/v1/adventure_plans?select=*&user_id=eq." .. user.id, headers_of(user, {}))
end)
