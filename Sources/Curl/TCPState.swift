import Glibc

/// What the kernel knows of a TCP connection.
enum TCPState {
    /// Whether neither side has ended the connection and no error was seen on it: TCP's ESTABLISHED.
    ///
    /// False where the system does not tell.
    static func isEstablished(_ socket: Int32) -> Bool {
        // The state is the first byte of Linux's `struct tcp_info`, and 1 is ESTABLISHED (linux/tcp.h, net/tcp_states.h).
        var state: UInt8 = 0
        var size = socklen_t(1)
        return getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &state, &size) == 0 && size == 1 && state == 1
    }
}
