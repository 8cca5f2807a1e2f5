import Operations

/// A person's consent, as `gcloud auth application-default login` writes it: a refresh token and the client it is for.
struct AuthorizedUser {
    let path: String
    let tokenURL: String
    let quotaProject: String?
    private let clientID: String
    private let clientSecret: String
    private let refreshToken: String

    init(_ file: KeyFile) throws(Failure) {
        path = file.path
        clientID = try file.required("client_id")
        clientSecret = try file.required("client_secret")
        refreshToken = try file.required("refresh_token")
        tokenURL = try file.tokenURL()
        quotaProject = try file.quotaProject()
        try file.checkUniverse()
    }

    /// The form body of a refresh (RFC 6749 §6).
    ///
    /// It names no scope: what the person agreed to then is what the token is good for.
    var grant: [UInt8] {
        FormBody.make([
            ("grant_type", "refresh_token"), ("client_id", clientID), ("client_secret", clientSecret),
            ("refresh_token", refreshToken),
        ])
    }
}

/// A file's secrets are in no description of it.
extension AuthorizedUser: CustomStringConvertible, CustomReflectable {
    var description: String { "authorized_user of \(path)" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
