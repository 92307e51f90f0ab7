"""``python -m truism``."""

from truism.cli import main

if __name__ == "__main__":
    main()
