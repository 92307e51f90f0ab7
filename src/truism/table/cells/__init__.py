"""Cells: columns of text come in; columns of numbers, times and states go out, and how they were read.

- `layouts`: how a table is to be read (`Layout`), and how it was (`Reading`)
- `words`: words that mean "missing", and words in names
- `numerals`: numbers as they are written, with signs, groups, units and limits
- `timeformats`, `times`: dates and times as they are written
- `timelines`: whether times ascend, repeat or leave gaps, and in which zone they are shown
- `names`: names of columns, and renaming
- `texts`, `interpreting`: what a column of text holds, decided from the whole column
- `conforming`: a new column read as an earlier one was
"""
