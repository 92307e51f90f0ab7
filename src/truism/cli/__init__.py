"""The command line: it parses and prints; the library does the work.

Arguments and files come in; text on standard output, files and an exit code go out.

- `app`: the ``truism`` command, its exit codes, and how failures are shown
- `options`: the options that several commands share
- `rows`: the rows of files for a model, in batches
- `screen`: where output goes
- every other module: one command

A command's module is imported only when the command is called, so that ``truism --help`` answers at
once.
"""

from truism.cli.app import app, main

__all__ = ["app", "main"]
