import Curl
import Operations

/// What access tokens are got with.
enum Credential {
    case serviceAccount(ServiceAccount)
    case authorizedUser(AuthorizedUser)
    case metadataServer(MetadataServer)

    /// What is asked for: to send messages and nothing else.
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// Reads a key file's text; `path` is for the error messages.
    init(json: [UInt8], path: String) throws(Failure) {
        let file = try KeyFile(json: json, path: path)
        switch file.type {
        case "service_account": self = .serviceAccount(try ServiceAccount(file))
        case "authorized_user": self = .authorizedUser(try AuthorizedUser(file))
        case "external_account", "external_account_authorized_user", "impersonated_service_account",
            "gdch_service_account":
            throw Failure(
                .configuration, "\(path) is of type \"\(file.type)\", which Todoke cannot use",
                remedy: Self.alternatives[file.type] ?? Self.otherwise)
        default:
            // Nothing of a file that is something else goes into an error, but a word such as "gdch_service_account".
            let isWord =
                file.type.utf8.count <= 40
                && file.type.utf8.allSatisfy { $0 == UInt8(ascii: "_") || ($0 | 0x20) &- 0x61 < 26 }
            throw file.malformed(
                isWord ? "\"type\" is \"\(file.type)\"" : "\"type\" is none that Google's libraries know")
        }
    }

    private static let otherwise = "give the JSON key of a service account, or an authorized_user file"
    private static let alternatives = [
        "external_account":
            "give the JSON key of a service account, or run where a metadata server gives tokens (GKE, Compute Engine)",
        "impersonated_service_account":
            "give the JSON key of the service account itself, or an authorized_user file whose user may send",
    ]

    /// For messages to people: `service account a@b (/etc/key.json)`.
    var name: String {
        switch self {
        case .serviceAccount(let account): "service account \(account.clientEmail) (\(account.path))"
        case .authorizedUser(let user): "the user of \(user.path)"
        case .metadataServer(let server): "the metadata server \(server.host)"
        }
    }

    /// The project that requests are charged to, where the file names one.
    var quotaProject: String? {
        switch self {
        case .serviceAccount(let account): account.quotaProject
        case .authorizedUser(let user): user.quotaProject
        case .metadataServer: nil
        }
    }

    /// What to send for a new access token; `now` in Unix seconds.
    func tokenRequest(now: Int) throws(Failure) -> TokenRequest {
        switch self {
        case .serviceAccount(let account): TokenRequest(form: try account.grant(now: now), to: account.tokenURL)
        case .authorizedUser(let user): TokenRequest(form: user.grant, to: user.tokenURL)
        case .metadataServer(let server): server.tokenRequest
        }
    }
}

/// One request for an access token.
struct TokenRequest {
    let url: String
    let method: TransferSettings.Method
    let headers: [String]
    let body: [UInt8]
    /// The metadata server is the machine's own: asked in clear text, and past every proxy.
    let isToMetadataServer: Bool

    init(form body: [UInt8], to url: String) {
        self.url = url
        self.body = body
        method = .post
        headers = ["Content-Type: application/x-www-form-urlencoded"]
        isToMetadataServer = false
    }

    init(metadata url: String) {
        self.url = url
        body = []
        method = .get
        headers = ["Metadata-Flavor: Google"]
        isToMetadataServer = true
    }
}
