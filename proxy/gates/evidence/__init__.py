"""Whether an answer says only what its sources say."""
