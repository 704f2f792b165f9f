-- The index of lists.
wrk.path = "/api/v1/lists"
