import Delivery

/// The one person who has agreed to send for the emulated project, as gcloud's file knows them.
struct AuthorizedUser {
    let project: String
    let clientID = "100000000000-emulator.apps.googleusercontent.com"
    let clientSecret = "GOCSPX-\(Randomness.hex(bytes: 14))"
    let refreshToken = "1//0\(Randomness.hex(bytes: 48))"

    /// What `gcloud auth application-default login` writes; Google's own has no `token_uri`, since it is always the same.
    func json(endpoint: String) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.members([
            ("account", .string("")),
            ("client_id", .string(clientID)),
            ("client_secret", .string(clientSecret)),
            ("quota_project_id", .string(project)),
            ("refresh_token", .string(refreshToken)),
            ("token_uri", .string(ServiceAccount.tokenURI(endpoint: endpoint))),
            ("type", .string("authorized_user")),
            ("universe_domain", .string("googleapis.com")),
        ]).writeIndented(to: &bytes)
        return bytes
    }
}
