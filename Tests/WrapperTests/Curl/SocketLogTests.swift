import Testing

@testable import Curl

/// What the loop learns of descriptors whose numbers come back within one call of libcurl.
struct SocketLogTests {
    /// `CURL_POLL_IN`, `CURL_POLL_OUT` and `CURL_POLL_REMOVE`.
    private static let (reads, writes, removed): (Int32, Int32, Int32) = (1, 2, 4)

    @Test func aDescriptorOfTheResolverIsClosedUnseen() {
        let log = SocketLog(connectsOnce: true)
        log.watchChanged(900, Self.reads)
        #expect(log.takeChanges() == [.init(descriptor: 900, read: true, write: false)])
        log.watchChanged(900, Self.removed)
        log.opened(900)
        log.watchChanged(900, Self.writes)
        #expect(log.takeChanges() == [.init(descriptor: 900, read: false, write: true, wasClosed: true)])
    }

    @Test func aConnectionThatNothingIsWaitedForIsNotClosed() {
        let log = SocketLog(connectsOnce: true)
        log.opened(900)
        log.watchChanged(900, Self.reads)
        log.watchChanged(900, Self.removed)
        #expect(log.takeChanges() == [.init(descriptor: 900, read: false, write: false)])
    }
}
