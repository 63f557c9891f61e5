"""What Footnote answers over HTTP: for now, its own commands, over the control socket."""
