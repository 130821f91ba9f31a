"""The foundation of all packages: errors, paths, files, processes, and the store of computed values."""
