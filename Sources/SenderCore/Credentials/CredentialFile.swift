import FoundationEssentials
import Operations

/// Finds and reads the key file: `--credentials`, else `GOOGLE_APPLICATION_CREDENTIALS`.
enum CredentialFile {
    static func load(option: String?, environment: [String: String]) throws(Failure) -> ServiceAccount {
        guard let path = option ?? environment["GOOGLE_APPLICATION_CREDENTIALS"], !path.isEmpty else {
            throw Failure(
                .configuration, "no credentials are given",
                remedy: "name a service account's key file with --credentials or GOOGLE_APPLICATION_CREDENTIALS")
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(
                .configuration, "the key file \(path) cannot be read",
                remedy: "check --credentials or GOOGLE_APPLICATION_CREDENTIALS, and the file's rights")
        }
        return try ServiceAccount(json: Array(data), path: path)
    }

    /// Checks a CA file before libcurl meets it, so that the error names the file.
    static func checkAuthorities(path: String) throws(Failure) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(.configuration, "the CA file \(path) cannot be read", remedy: "check --ca-file")
        }
        guard String(decoding: data, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            throw Failure(
                .configuration, "the CA file \(path) holds no PEM certificate",
                remedy: "give a file of PEM certificates to --ca-file")
        }
    }
}
