/// The prices in credits of the apps' operations.
let operationCosts = [
  "generate_balanced": 5, "generate_hd": 10, "generate_hyper": 5, "generate_gemini3": 5, "chat": 1,
  "temporal_jump": 2,
]
