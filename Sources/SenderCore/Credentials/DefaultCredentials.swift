import Operations

/// Google's order of places for credentials that nobody named: Application Default Credentials.
enum DefaultCredentials {
    /// The first of: `GOOGLE_APPLICATION_CREDENTIALS`, gcloud's own file, the metadata server.
    ///
    /// A variable that names a file decides, also when the file is bad. Whether there is a metadata server is for the
    /// caller to find out.
    static func find(_ environment: [String: String]) throws(Failure) -> CredentialSource {
        if let path = environment["GOOGLE_APPLICATION_CREDENTIALS"], !path.isEmpty {
            try GivenText.checkFileName(path, option: "GOOGLE_APPLICATION_CREDENTIALS")
            return .file(path, namedBy: "GOOGLE_APPLICATION_CREDENTIALS")
        }
        if let (path, option) = wellKnownFile(environment) {
            do {
                _ = try SmallFile.read(path)
                return .file(path, namedBy: option)
            } catch {
                // One that is there and cannot be read is an error, and said when it is loaded.
                if !error.isMissing { return .file(path, namedBy: option) }
            }
        }
        guard let server = try MetadataServer.find(environment) else { throw noCredentials("NO_GCE_CHECK is set") }
        return .metadataServer(server)
    }

    /// gcloud's file and the variable that its place follows.
    private static func wellKnownFile(_ environment: [String: String]) -> (path: String, option: String)? {
        let name = "application_default_credentials.json"
        if let directory = environment["CLOUDSDK_CONFIG"], !directory.isEmpty {
            return ("\(directory)/\(name)", "CLOUDSDK_CONFIG")
        }
        guard let home = environment["HOME"], !home.isEmpty else { return nil }
        return ("\(home)/.config/gcloud/\(name)", "HOME")
    }

    /// Nobody gave credentials, and there is no metadata server.
    static func noCredentials(_ why: String) -> Failure {
        Failure(
            .configuration, "no credentials are given, and there is no metadata server: \(why)",
            remedy: "name a service account's key file with --credentials or GOOGLE_APPLICATION_CREDENTIALS")
    }
}
