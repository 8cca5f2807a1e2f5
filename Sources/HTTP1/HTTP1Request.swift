import CMicroHTTPD

/// One request, complete with its body, and the one way to answer it: at once or at any time later.
///
/// Not `Sendable`: it belongs to the loop of its server.
package final class HTTP1Request {
    /// Grows by one with each request of the server.
    package let id: Int
    package let connectionID: Int
    package internal(set) var method: [UInt8] = []
    /// The path with its query, as sent.
    package let target: [UInt8]
    /// In the order in which they came; names in lower case.
    package internal(set) var headers: [(name: [UInt8], value: [UInt8])] = []
    package internal(set) var body: [UInt8] = []
    /// The body was longer than the server takes, and cut.
    package internal(set) var isBodyCut = false
    /// The client left, or the answer has been sent: answering does nothing any more.
    package internal(set) var isGone = false
    /// Called, outside of libmicrohttpd, when the client leaves while it waits for the answer.
    package var whenGone: (() -> Void)?

    enum State { case reading, waiting, decided, sending }
    var state = State.reading
    var hasHead = false
    /// Somebody watches its socket, to see the client leave.
    var isWatched = false
    var receivedBytes = 0
    /// When its answer began to go out.
    var sendingSince: Int64 = 0
    var response: HTTP1Response?
    /// The body of an answer that goes out bit by bit.
    var heldBody: HeldBody?
    private let shared: HTTP1Shared
    /// Held by libmicrohttpd until the request is gone.
    let raw: OpaquePointer

    init(id: Int, connectionID: Int, target: [UInt8], shared: HTTP1Shared, raw: OpaquePointer) {
        self.id = id
        self.connectionID = connectionID
        self.target = target
        self.shared = shared
        self.raw = raw
    }

    /// It came with a body, of any length.
    package var receivedBody: Bool { receivedBytes > 0 }

    /// The value of the first header of that name, which is in lower case.
    package func header(_ name: String) -> [UInt8]? {
        headers.first { $0.name.elementsEqual(name.utf8) }?.value
    }

    /// Answers it; later answers to the same request do nothing.
    package func respond(_ response: HTTP1Response) { shared.decide(self, response) }

    /// Lets so many more bytes of the answer's body go out; true while some are still held.
    package func release(_ count: Int) -> Bool {
        guard !isGone, let body = heldBody else { return false }
        return shared.release(count, of: body, request: self)
    }

    /// Closes its connection without an answer.
    package func cut() { shared.decide(self, nil) }
}
