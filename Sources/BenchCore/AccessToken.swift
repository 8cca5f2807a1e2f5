import CCurl
import Delivery
import Glibc
import Operations
import Signing

/// The access token that the emulator gives for its own service account, as the sender gets it.
enum AccessToken {
    static func fetch(directory: String) throws(Failure) -> String {
        let fault = Failure(
            .unavailable, "fcm-emulator gives no access token", remedy: "check that --bin has the programs of one build"
        )
        guard let account = try? JSONValue.parse(Array(TextFile.read("\(directory)/service-account.json").utf8).span),
            let url = account["token_uri"]?.stringValue, let email = account["client_email"]?.stringValue,
            let pem = account["private_key"]?.stringValue, let key = try? PrivateKey(pem: Array(pem.utf8)),
            let assertion = try? JSONWebToken.sign(
                header: [:],
                claims: [
                    "iss": .string(email), "scope": "https://www.googleapis.com/auth/firebase.messaging",
                    "aud": .string(url), "iat": .int(time(nil)), "exp": .int(time(nil) + 3_600),
                ], with: key)
        else { throw fault }
        let answer = post(
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)", to: url,
            caFile: "\(directory)/ca.pem")
        guard let token = (try? JSONValue.parse(answer.span))?["access_token"]?.stringValue else { throw fault }
        return token
    }

    /// The answer's body; empty when there is none.
    private static func post(_ form: String, to url: String, caFile: String) -> [UInt8] {
        guard let easy = curl_easy_init() else { return [] }
        defer { curl_easy_cleanup(easy) }
        let answer = Answer()
        _ = curl_shim_set_string(easy, CURLOPT_URL, url)
        _ = curl_shim_set_string(easy, CURLOPT_CAINFO, caFile)
        _ = curl_shim_set_string(easy, CURLOPT_PROXY, "")
        _ = curl_shim_set_string(easy, CURLOPT_COPYPOSTFIELDS, form)
        _ = curl_shim_set_long(easy, CURLOPT_TIMEOUT_MS, 10_000)
        // The callback runs only within `curl_easy_perform`, while `answer` lives.
        _ = curl_shim_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(answer).toOpaque())
        _ = curl_shim_set_data_callback(easy, CURLOPT_WRITEFUNCTION) { data, size, count, context in
            guard let context, let data else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
            Unmanaged<Answer>.fromOpaque(context).takeUnretainedValue().bytes.append(contentsOf: bytes)
            return size * count
        }
        _ = curl_easy_perform(easy)
        return withExtendedLifetime(answer) { answer.bytes }
    }

    private final class Answer {
        var bytes: [UInt8] = []
    }
}
