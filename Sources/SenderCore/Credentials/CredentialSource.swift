import Operations

/// Where credentials come from, so that they can be read again.
enum CredentialSource: Equatable {
    /// A key file and what named it, such as `--credentials`.
    case file(String, namedBy: String)
    case metadataServer(MetadataServer)

    /// Two apps with the same file share its tokens, whatever named it.
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.file(let left, _), .file(let right, _)): left == right
        case (.metadataServer(let left), .metadataServer(let right)): left == right
        default: false
        }
    }

    /// Reads the file; nothing is asked over the network.
    ///
    /// - Parameter isAgain: a running sender reads anew, and must not be kept waiting by a pipe.
    func load(isAgain: Bool = false) throws(Failure) -> Credential {
        switch self {
        case .metadataServer(let server): return .metadataServer(server)
        case .file(let path, let option):
            let bytes: [UInt8]
            do {
                bytes = try SmallFile.read(path, mayWait: !isAgain)
            } catch {
                throw Failure(
                    .configuration, "the key file \(path) cannot be read: \(error.why)",
                    remedy: "check \(option), and that this user may read the file")
            }
            return try Credential(json: bytes, path: path)
        }
    }

    /// For the log.
    var description: String {
        switch self {
        case .file(let path, let option): "\(path) (\(option))"
        case .metadataServer(let server): "the metadata server \(server.host)"
        }
    }
}
