/// What to do about a refusal, which differs by the kind of credentials.
extension Credential {
    /// Who is asked, for messages: `the token endpoint oauth2.googleapis.com`.
    var endpointName: String {
        switch self {
        case .serviceAccount(let account): "the token endpoint \(Provider.host(of: account.tokenURL))"
        case .authorizedUser(let user): "the token endpoint \(Provider.host(of: user.tokenURL))"
        case .metadataServer: name
        }
    }

    /// What to do where it is not the right server that answered.
    var endpointRemedy: String {
        switch self {
        case .serviceAccount, .authorizedUser: "check \"token_uri\" in the key file, and proxies on the way"
        case .metadataServer: "check GCE_METADATA_HOST, or name a key file with --credentials"
        }
    }

    func remedy(for refusal: Refusal) -> String {
        switch self {
        case .serviceAccount:
            // Google words it so where the times in the assertion do not fit its own clock.
            if refusal.description.contains("iat and exp") { return "set this machine's clock right (NTP)" }
            if refusal.code == "invalid_grant" {
                return "put a new key of the service account into the file, and send SIGHUP"
            }
            return refusal.code.hasPrefix("HTTP")
                ? endpointRemedy : "check the service account in the Google Cloud console"
        case .authorizedUser:
            if ["invalid_grant", "invalid_rapt"].contains(refusal.code) {
                return "run gcloud auth application-default login again, and send SIGHUP"
            }
            return refusal.code.hasPrefix("HTTP") ? endpointRemedy : "check the OAuth client that the file names"
        case .metadataServer:
            return refusal.status == 404
                ? "attach a service account to this machine, or name a key file with --credentials"
                : "check that the machine's service account may use the scope cloud-platform or firebase.messaging"
        }
    }
}
