"""The day: what is needed to try the connector, and no part of it."""
