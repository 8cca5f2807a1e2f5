import Reactor

/// One of libcurl's sockets in the reactor.
final class CurlSocket: PollSource {
    let descriptor: Int32
    /// What the kernel was told to wait for.
    var interest: Interest = []
    /// libcurl waits for nothing here now; only the end of the connection is of interest.
    var isIdle = false
    private unowned let owner: CurlDriver

    init(descriptor: Int32, owner: CurlDriver) {
        self.descriptor = descriptor
        self.owner = owner
    }

    func ready(_ readiness: Interest) { owner.socketReady(self, readiness) }
}
