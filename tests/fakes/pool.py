"""What a pool of connections holds at the moment."""

from proxy.upstream.connection_pool import ConnectionPool


def busy(pool: ConnectionPool) -> int:
    """Connections that carry an exchange."""
    return len(pool._busy)


def idle(pool: ConnectionPool) -> int:
    """Open connections that wait for one."""
    return sum(connection.is_open for connection, _ in pool._idle)


def paused(pool: ConnectionPool) -> int:
    """Connections whose upstream has to wait until what came was read."""
    return sum(connection._is_paused for connection in pool._busy)
