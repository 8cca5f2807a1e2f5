import Operations

/// The id of the project that a request is charged to.
enum QuotaProject {
    /// Letters, digits, dashes, and the dots and colons of ids with a domain: nothing that could end a header line.
    static func isValid(_ id: String) -> Bool {
        id.utf8.count <= 200
            && id.utf8.allSatisfy { byte in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "-._:".utf8.contains(byte)
            }
    }

    /// `GOOGLE_CLOUD_QUOTA_PROJECT`, which goes before what the key files name.
    static func find(_ environment: [String: String]) throws(Failure) -> String? {
        guard let project = environment["GOOGLE_CLOUD_QUOTA_PROJECT"], !project.isEmpty else { return nil }
        guard isValid(project) else {
            throw Failure(
                .configuration, "GOOGLE_CLOUD_QUOTA_PROJECT is not a project's id",
                remedy: "set it to the id of a Google Cloud project, or take it out")
        }
        return project
    }
}
