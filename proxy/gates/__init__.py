"""Gates: pure judgements on one reply. They do no I/O."""
