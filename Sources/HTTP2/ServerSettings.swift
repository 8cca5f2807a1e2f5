/// What a server tells its clients and how much it takes from them.
package struct ServerSettings: Sendable {
    /// SETTINGS_MAX_CONCURRENT_STREAMS; FCM's is 100.
    package var maxConcurrentStreams = 100
    /// Bytes a client may send on one stream before it hears back.
    package var streamWindow = 1 << 20
    /// Bytes a client may send on all streams of a connection before it hears back.
    package var connectionWindow = 16 << 20
    /// Bytes of a request's body that are kept; the request is marked when there were more.
    package var maxBodyBytes = 128 << 10

    package init() {}
}
