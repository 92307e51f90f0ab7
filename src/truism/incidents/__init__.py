"""What happens in checked rows: evidence and what earlier rows left behind go in, events come out.

- `rates`: how often normal rows form incidents
- `events`: an event as a value, and what is unusual
- `delays`: on-delay, off-delay, and how far apart rows of one event may lie
- `deviations`: how far variables deviate
- `kernels`: the compiled loop over the rows of a series
- `phases`: how events begin, stand and end, between rows
- `marks`: what is wrong with each anomalous row, in two words
- `following`: tables followed from row to row
- `outlines`: the events of a table, the gravest story first
"""
