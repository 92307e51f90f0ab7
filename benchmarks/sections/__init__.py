"""The parts of the page: each turns results into Markdown and figures, or None where nothing is."""
