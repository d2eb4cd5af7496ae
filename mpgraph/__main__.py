"""``python -m mpgraph``: the same as the command ``mpgraph``."""

from mpgraph.cli import main

if __name__ == "__main__":
    main()
