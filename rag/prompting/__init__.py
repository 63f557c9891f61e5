"""What all prompts and all replies of a language model have in common: marks around what is not ours, and strict JSON."""
