"""Who answers asks: functions, commands, models behind HTTP, files; `registry.open_predictor` opens each.

Nothing is imported here, because the command line reads `settings` for every command.
"""
