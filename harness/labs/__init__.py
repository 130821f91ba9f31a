"""Labs: tools on top of the harness, one folder each; the core knows a lab by its record `LAB` alone."""
