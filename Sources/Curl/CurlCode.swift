import CCurl

/// How a transfer ended, as libcurl's `CURLcode`.
package struct CurlCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    init(_ code: CURLcode) { rawValue = Int32(bitPattern: code.rawValue) }

    package static let ok = CurlCode(rawValue: 0)
    package static let unsupportedProtocol = CurlCode(rawValue: 1)
    package static let malformedURL = CurlCode(rawValue: 3)
    package static let cannotResolveProxy = CurlCode(rawValue: 5)
    package static let cannotResolveHost = CurlCode(rawValue: 6)
    package static let cannotConnect = CurlCode(rawValue: 7)
    package static let http2 = CurlCode(rawValue: 16)
    package static let partialFile = CurlCode(rawValue: 18)
    package static let writeFailed = CurlCode(rawValue: 23)
    package static let outOfMemory = CurlCode(rawValue: 27)
    package static let timedOut = CurlCode(rawValue: 28)
    package static let tlsConnect = CurlCode(rawValue: 35)
    package static let abortedByCallback = CurlCode(rawValue: 42)
    package static let badArgument = CurlCode(rawValue: 43)
    package static let gotNothing = CurlCode(rawValue: 52)
    package static let sendFailed = CurlCode(rawValue: 55)
    package static let receiveFailed = CurlCode(rawValue: 56)
    package static let peerNotVerified = CurlCode(rawValue: 60)
    package static let caFileUnusable = CurlCode(rawValue: 77)
    package static let http2Stream = CurlCode(rawValue: 92)

    /// The attempt ended before a request could be sent: no address, no connection, no TLS session, no trust in the peer.
    ///
    /// Proof that the server has not seen the request only where `Transfer.issues` is 0: libcurl tries again by itself,
    /// and the code is about its last attempt.
    package var isBeforeRequest: Bool {
        [
            .unsupportedProtocol, .malformedURL, .cannotResolveProxy, .cannotResolveHost, .cannotConnect, .tlsConnect,
            .peerNotVerified, .caFileUnusable,
        ].contains(self)
    }
}

extension CurlCode: CustomStringConvertible {
    /// libcurl's own words for it.
    package var description: String {
        String(cString: curl_easy_strerror(CURLcode(rawValue: UInt32(bitPattern: rawValue))))
    }
}
