"""The report as one HTML file, made from what a run folder has, and the same of a comparison.

The page is a small program with the data beside it: `web/` has its sources, `bundle/` what is built of them.
"""

from harness.report.html.comparisons import Material, write_comparison_html
from harness.report.html.runs import write_html

__all__ = ["Material", "write_comparison_html", "write_html"]
