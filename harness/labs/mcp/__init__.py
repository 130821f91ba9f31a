"""Serves databases to agents by the Model Context Protocol."""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="mcp",
    commands={
        "mcp": LabCommand(
            "harness.labs.mcp.cli",
            "Serve databases to agents by the Model Context Protocol, on standard input and output",
            "lab mcp --set mini_dev",
        ),
    },
)
