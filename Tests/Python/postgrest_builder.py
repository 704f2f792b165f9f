"""Prints the requests that Supabase's builder for Python makes, each with its answer, as a JSON array.

Fails when a method of the builder is called nowhere. Run it as a module, with this folder in PYTHONPATH.
"""

import json

# Both make their calls when they are imported.
import postgrest_reads
import postgrest_writes
from postgrest_calls import built, methods_called_nowhere

missed = methods_called_nowhere()
assert not missed, f"called nowhere: {missed}"
print(json.dumps(built))
