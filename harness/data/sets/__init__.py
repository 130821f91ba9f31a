"""Load question sets, built-in, published or a user's own, and fetch published packages."""
