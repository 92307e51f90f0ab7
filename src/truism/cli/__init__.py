"""The command line: it parses and prints, the library works.

One module holds one command. A command's module is imported only when the command is called, so that
``truism --help`` answers at once and ``truism check`` loads no compiler.
"""

from truism.cli.app import app, main

__all__ = ["app", "main"]
