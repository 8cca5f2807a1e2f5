import CCrypto
import CTLS

/// The TLS side of a server: one certificate, TLS 1.2 or newer, ALPN `h2` and `http/1.1`.
package final class TLSContext {
    /// What clients may choose by ALPN; without ALPN they get HTTP/1.1.
    package enum Versions: Sendable { case http1, http2, both }

    /// For the handshakes from now on; a client that offers none of these is refused with no_application_protocol.
    package var versions = Versions.both
    let raw: OpaquePointer

    /// Takes the server's certificate and private key, both PEM.
    package init(certificatePEM: [UInt8], privateKeyPEM: [UInt8]) throws(HTTP2Error) {
        guard let raw = SSL_CTX_new(TLS_server_method()) else { throw .fromTLS("TLS is not available") }
        var isComplete = false
        defer { if !isComplete { SSL_CTX_free(raw) } }
        guard tls_shim_set_min_version(raw, TLS1_2_VERSION) == 1,
            Self.use(certificatePEM, privateKeyPEM, in: raw), SSL_CTX_check_private_key(raw) == 1
        else { throw .fromTLS("the server's certificate cannot be used") }

        _ = tls_shim_set_mode(
            raw, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY))
        // Tickets are two more records per handshake that no client here resumes from.
        SSL_CTX_set_num_tickets(raw, 0)
        _ = SSL_CTX_set_session_id_context(raw, "todoke", 6)
        // One read(2) takes in several records instead of two calls for each.
        _ = SSL_CTX_ctrl(raw, SSL_CTRL_SET_READ_AHEAD, 1, nil)
        SSL_CTX_set_default_read_buffer_len(raw, 64 << 10)
        isComplete = true
        self.raw = raw
        // The context outlives its connections, which hold it, and with them every call of the callback.
        SSL_CTX_set_alpn_select_cb(
            raw,
            { _, selected, selectedCount, offered, offeredCount, context in
                guard let context else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                return Unmanaged<TLSContext>.fromOpaque(context).takeUnretainedValue()
                    .select(selected, selectedCount, offered, offeredCount)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { SSL_CTX_free(raw) }

    /// Points into the client's own list at the first of our names that it has.
    private func select(
        _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ selectedCount: UnsafeMutablePointer<UInt8>?,
        _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32
    ) -> Int32 {
        guard let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        let names = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
        let ours =
            switch versions {
            case .http1: ["http/1.1"]
            case .http2: ["h2"]
            case .both: ["h2", "http/1.1"]
            }
        for wanted in ours {
            var position = 0
            while position < names.count {
                let name = names[(position + 1)...].prefix(Int(names[position]))
                if name.elementsEqual(wanted.utf8) {
                    selected?.pointee = offered + position + 1
                    selectedCount?.pointee = UInt8(name.count)
                    return SSL_TLSEXT_ERR_OK
                }
                position += 1 + Int(names[position])
            }
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }

    private static func use(_ certificatePEM: [UInt8], _ privateKeyPEM: [UInt8], in context: OpaquePointer) -> Bool {
        guard let certificate = read(certificatePEM, { PEM_read_bio_X509($0, nil, nil, nil) }) else { return false }
        defer { X509_free(certificate) }
        // The callback gives no passphrase: without it libcrypto would ask at the terminal.
        guard let key = read(privateKeyPEM, { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in 0 }, nil) })
        else { return false }
        defer { EVP_PKEY_free(key) }
        return SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1
    }

    private static func read(_ pem: [UInt8], _ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        pem.withUnsafeBytes { bytes in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free_all(bio) }
            return body(bio)
        }
    }
}
