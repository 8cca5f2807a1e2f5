import Glibc

/// An address that cannot be listened on, in words for a person.
package struct ListenError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The address is at fault: nobody has it here, somebody else listens there, or it may not be used.
    package let isAddressFault: Bool
    /// One line.
    package let message: String

    package var description: String { message }
}

/// A bound and listening TCP socket; accepts without blocking.
package final class ListeningSocket {
    package let descriptor: Int32
    /// The port it got, also when port 0 was asked for.
    package let port: Int
    /// Given up for a moment when the process has no other descriptor left, so that a client can be turned away.
    private var spare: Int32

    /// Listens at a numeric address or a name that resolves to one; port 0 takes a free one.
    package init(host: String, port: Int) throws(ListenError) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &found)
        guard status == 0, let address = found else {
            throw ListenError(
                isAddressFault: true, message: "cannot resolve \(host): \(String(cString: gai_strerror(status)))")
        }
        defer { freeaddrinfo(address) }

        let descriptor = socket(address.pointee.ai_family, address.pointee.ai_socktype, address.pointee.ai_protocol)
        guard descriptor >= 0 else { throw ListenError(isAddressFault: false, message: "no socket: \(Self.reason)") }
        var isComplete = false
        defer { if !isComplete { _ = close(descriptor) } }
        Self.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        guard Self.makeNonblocking(descriptor),
            bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0, listen(descriptor, 1024) == 0
        else {
            throw ListenError(isAddressFault: true, message: "cannot listen on \(host) port \(port): \(Self.reason)")
        }
        self.port = try Self.port(of: descriptor)
        self.descriptor = descriptor
        spare = Self.makeSpare()
        isComplete = true
    }

    deinit {
        _ = close(descriptor)
        if spare >= 0 { _ = close(spare) }
    }

    /// The next waiting connection, nonblocking and without Nagle's delay; nil when there is none.
    ///
    /// A client for whom there is no descriptor is turned away: left waiting, it would make the socket ready for ever.
    package func accept() -> Int32? {
        while true {
            let descriptor = acceptOne()
            if descriptor < 0 {
                // A client that left before it was accepted is skipped; everything else waits for the next turn.
                if errno == EINTR || errno == ECONNABORTED { continue }
                if errno == EMFILE, turnOneAway() { continue }
                return nil
            }
            guard Self.makeNonblocking(descriptor) else {
                _ = close(descriptor)
                continue
            }
            Self.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
            return descriptor
        }
    }

    private func acceptOne() -> Int32 {
        Glibc.accept(descriptor, nil, nil)
    }

    /// False when nobody waits, or not even that works.
    private func turnOneAway() -> Bool {
        if spare >= 0 { _ = close(spare) }
        let turnedAway = acceptOne()
        if turnedAway >= 0 { _ = close(turnedAway) }
        spare = Self.makeSpare()
        return turnedAway >= 0
    }

    private static func makeSpare() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }

    private static func set(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        _ = setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func makeNonblocking(_ descriptor: Int32) -> Bool {
        let flags = fcntl(descriptor, F_GETFL)
        return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0
            && fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static func port(of descriptor: Int32) throws(ListenError) -> Int {
        var storage = sockaddr_storage()
        var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let port: Int? = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard getsockname(descriptor, $0, &count) == 0 else { return nil }
                // The port stands at the same place for IPv4 and IPv6.
                return UnsafeRawPointer($0).withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    Int(UInt16(bigEndian: $0.pointee.sin_port))
                }
            }
        }
        guard let port else {
            throw ListenError(isAddressFault: false, message: "no address of the listening socket: \(reason)")
        }
        return port
    }
}
