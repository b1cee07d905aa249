"""The contract on one request: plan, attempts, steps, verdict, delivery, record."""
