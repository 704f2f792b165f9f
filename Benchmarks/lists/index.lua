-- The index of lists.
dofile(os.getenv("PHONE"))
get("/api/v1/lists")
