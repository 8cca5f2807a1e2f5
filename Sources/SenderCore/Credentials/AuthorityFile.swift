import Operations

/// The file of `--ca-file`, looked at before libcurl meets it, so that an error names it.
enum AuthorityFile {
    static func check(path: String) throws(Failure) {
        let bytes: [UInt8]
        do {
            bytes = try SmallFile.read(path)
        } catch {
            throw Failure(
                .configuration, "the CA file \(path) cannot be read: \(error.why)",
                remedy: "check --ca-file, and that this user may read the file")
        }
        guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            throw Failure(
                .configuration, "the CA file \(path) holds no PEM certificate",
                remedy: "give a file of PEM certificates to --ca-file")
        }
    }
}
