import Curl
import Delivery
import Operations

/// The JSON of a key file, and what is wrong with it in words that name the file and the member, never a value.
struct KeyFile {
    /// Where new tokens of service accounts and of users come from, unless the file says otherwise.
    static let googleTokenURL = "https://oauth2.googleapis.com/token"

    let path: String
    let type: String
    private let value: JSONValue

    /// Reads a key file's text; `path` is for the error messages.
    init(json: [UInt8], path: String) throws(Failure) {
        self.path = path
        do {
            value = try JSONValue.parse(json.span)
        } catch {
            throw Self.malformed(path, "it is not JSON (line \(error.line), column \(error.column))")
        }
        guard case .string(let type)? = value["type"], !type.isEmpty else {
            throw Self.malformed(path, "\"type\" is missing")
        }
        self.type = type
    }

    /// A member that has to be there.
    func required(_ name: String) throws(Failure) -> String {
        guard let text = try optional(name) else { throw malformed("\"\(name)\" is missing") }
        return text
    }

    /// A member that may be missing, `null` or empty.
    func optional(_ name: String) throws(Failure) -> String? {
        switch value[name] {
        case nil, .null?: return nil
        case .string(let text)?: return text.isEmpty ? nil : text
        default: throw malformed("\"\(name)\" is not a text")
        }
    }

    /// `token_uri`: where the file's owner gets access tokens; https, or http to a loopback address.
    func tokenURL() throws(Failure) -> String {
        let url = try optional("token_uri") ?? Self.googleTokenURL
        do {
            _ = try EndpointURL(url)
        } catch {
            throw malformed("\"token_uri\" is not a URL that begins with https://")
        }
        return url
    }

    /// The project that pays, where the file names one: FCM wants to know it of users.
    func quotaProject() throws(Failure) -> String? {
        guard let project = try optional("quota_project_id") else { return nil }
        guard QuotaProject.isValid(project) else { throw malformed("\"quota_project_id\" is not a project's id") }
        return project
    }

    /// Keys of another cloud than Google's public one would be sent to the wrong place.
    func checkUniverse() throws(Failure) {
        guard let universe = try optional("universe_domain"), universe != "googleapis.com" else { return }
        throw Failure(
            .configuration, "\(path) belongs to another universe than googleapis.com (\"universe_domain\")",
            remedy: "use credentials of a Google Cloud project at googleapis.com, where FCM is")
    }

    func malformed(_ why: String) -> Failure { Self.malformed(path, why) }

    private static func malformed(_ path: String, _ why: String) -> Failure {
        Failure(
            .configuration, "\(path) cannot be used as credentials: \(why)",
            remedy:
                "download the JSON key of a service account from the Google Cloud console and name it with --credentials, "
                + "or name the file that gcloud auth application-default login writes")
    }
}
