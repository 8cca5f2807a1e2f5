import Glibc
import HTTP1
import Reactor

/// A server and its clients on one loop.
final class HTTP1Loop {
    let reactor: Reactor
    private(set) var server: HTTP1Server?
    /// What arrived and is not answered by `answer`.
    private(set) var requests: [HTTP1Request] = []
    var answer: ((HTTP1Request) -> Void)?

    init(_ settings: HTTP1Settings = HTTP1Settings()) throws {
        reactor = try Reactor()
        server = try HTTP1Server(reactor: reactor, settings: settings) { [unowned self] request in
            if let answer { answer(request) } else { requests.append(request) }
        }
    }

    func close() {
        requests = []
        server = nil
    }

    /// One turn; sleeps until something happens, at most 100 ms.
    func turn() throws {
        let delay = min(100_000_000, server?.delay(now: Reactor.now) ?? .max)
        try reactor.wait(atMostNanoseconds: delay)
        server?.receive()
        server?.flush()
    }

    /// Turns until it is so; false when it never became so.
    func turn(until isDone: () -> Bool) throws -> Bool {
        let deadline = Reactor.now + 10_000_000_000
        while Reactor.now < deadline {
            if isDone() { return true }
            try turn()
        }
        return isDone()
    }

    func connect() -> HTTP1Client {
        var pair: [Int32] = [-1, -1]
        _ = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair)
        let client = HTTP1Client(descriptor: pair[0])
        client.isTaken = server?.add(pair[1]) != nil
        return client
    }
}

/// The other end of a connection.
final class HTTP1Client {
    private var descriptor: Int32
    fileprivate(set) var isTaken = false
    private(set) var received: [UInt8] = []
    private(set) var isEnded = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Int { Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
    func send(_ text: String) { send([UInt8](text.utf8)) }

    /// Takes what has come; gives back all of it.
    @discardableResult
    func text() -> String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while !isEnded {
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count > 0 { received += bytes[..<count] }
            if count == 0 || (count < 0 && errno != EAGAIN) { isEnded = true }
            if count <= 0 { break }
        }
        return String(decoding: received, as: UTF8.self)
    }

    var hasEnded: Bool {
        text()
        return isEnded
    }
}
