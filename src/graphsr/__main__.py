"""python -m graphsr"""

from graphsr.cli import main

if __name__ == "__main__":  # workers of a cluster import this file too
    main()
