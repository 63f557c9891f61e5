"""What Bolt calls: thin, unpack and hand on."""
