"""What every room stands on: errors, places, files, processes, and the store of what was computed."""
