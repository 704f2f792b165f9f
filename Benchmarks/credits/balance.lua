-- The balance.
dofile(os.getenv("PHONE"))
get("/api/v1/credits/balance")
