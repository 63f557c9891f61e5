"""The same question in other words, as people write: what each way of asking loses against the plain form."""
