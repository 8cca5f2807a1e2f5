import Delivery
import Operations
import Signing

/// The one service account of the emulated project, with a fresh key.
struct ServiceAccount {
    let project: String
    let key: PrivateKey
    let keyID: String
    let email: String

    init(project: String) throws(Failure) {
        self.project = project
        do {
            key = try .generateRSA()
        } catch {
            throw Failure(.software, "no service account key: \(error)", remedy: "report this")
        }
        keyID = Randomness.hex(bytes: 20)
        email = "firebase-adminsdk@\(project).iam.gserviceaccount.com"
    }

    /// Where assertions are sent and which audience they name.
    static func tokenURI(endpoint: String) -> String { "\(endpoint)/token" }

    /// The key file as Google's console writes it, its `token_uri` pointing at the emulator.
    func json(endpoint: String) throws(Failure) -> [UInt8] {
        let pem: [UInt8]
        do {
            pem = try key.pkcs8PEM()
        } catch {
            throw Failure(.software, "no service account key: \(error)", remedy: "report this")
        }
        let tree = JSONValue.members([
            ("type", .string("service_account")),
            ("project_id", .string(project)),
            ("private_key_id", .string(keyID)),
            ("private_key", .string(String(decoding: pem, as: UTF8.self))),
            ("client_email", .string(email)),
            ("client_id", .string("100000000000000000000")),
            ("auth_uri", .string("https://accounts.google.com/o/oauth2/auth")),
            ("token_uri", .string(Self.tokenURI(endpoint: endpoint))),
            ("universe_domain", .string("googleapis.com")),
        ])
        var bytes: [UInt8] = []
        tree.writeIndented(to: &bytes)
        return bytes
    }
}
