"""What Footnote answers over HTTP: its own commands over the control socket, and, where a port is configured, webhooks and health."""
