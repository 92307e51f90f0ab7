"""The command line: it parses and prints; the library does the work.

Arguments and files come in; text on standard output, files and an exit code go out.

- `app`: the ``truism`` command, its exit codes, and how failures are shown
- `demo`, `plant`, `look`, `learn`, `check`, `calibrate`, `explain`, `rules`, `compare`, `export`: one
  command each
- `options`: the options that several commands share
- `reading`, `fitting`: the options for reading tables, and tables read for a model
- `calibrating`: the options that choose a threshold
- `checking`, `machines`: one check, and one for each of several machines
- `screen`: where output goes
- `streams`: standard output and standard error, closed, full or cut

A command's module is imported only when the command is called, so that ``truism --help`` answers at
once and ``truism check`` loads no compiler.
"""

from truism.cli.app import app, main

__all__ = ["app", "main"]
