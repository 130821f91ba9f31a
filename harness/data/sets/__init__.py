"""Question sets read whole: those that come along, published layouts, a user's own; and packages."""
