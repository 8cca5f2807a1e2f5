/// What a code means to a person and what to do about it.
package enum Hint {
    /// The hint for a code of `Verdict`; for an unknown code a general one for its class.
    package static func text(for code: String, kind: VerdictClass) -> String {
        texts[code] ?? general(kind)
    }

    /// Said of every message that is sent, so it is not looked up.
    static let accepted = "The provider accepted the message."

    static let badToken = "The provider does not know this token. Delete it."

    static let redirect = "The provider's address answers with a redirect, which is not followed. Check the endpoint."

    static let ownSettings = "libcurl cannot use our settings. Check the endpoint, the CA file and the proxy."

    static let proxy = "A proxy on the way asks for credentials. Check the proxy settings."

    /// Whatever the code, once the request went out: "no connection" would say that nothing was posted.
    static let unknownOutcome = general(.unknown)

    static func badField(_ field: String) -> String {
        // The name is a stranger's text; a `Character` alone may be as long as the whole body.
        var name = String.UnicodeScalarView()
        for scalar in field.unicodeScalars.prefix(120) {
            name.append(scalar.value < 0x20 || scalar.value == 0x7F ? "?" : scalar)
        }
        return "FCM refused the field \(String(name)). Correct the template or the data behind it."
    }

    private static func general(_ kind: VerdictClass) -> String {
        switch kind {
        case .sent: accepted
        case .retry: "A passing fault. The message is tried again."
        case .retryAfter: "The provider asked to wait. The message is tried again after that, or after an hour at most."
        case .tokenInvalid: "The token is no longer valid. The app has to register the device again."
        case .permanent: "The provider refused this message for good. The token was kept."
        case .authConfig: "The provider refused our credentials or settings. Sending stops until they are corrected."
        case .payload: "The provider refused the message. Correct the template or the data behind it."
        case .unknown: "The connection broke after the message went out. Whether it arrived is not known."
        }
    }

    static let texts: [String: String] = [
        "OK": accepted,

        // FCM and google.rpc
        "UNREGISTERED": "The app was uninstalled or the token expired. Delete the token.",
        "INVALID_ARGUMENT": "FCM refused the message without naming a field. Check its size, keys and values.",
        "SENDER_ID_MISMATCH":
            "The token belongs to another Firebase project. Check which project the app registers with.",
        "QUOTA_EXCEEDED": "A rate limit of the project, the device or the topic was reached. Sending slows down.",
        "RATE_LIMIT_EXCEEDED":
            "The project's messages per minute are used up. Sending slows down; ask Google for more.",
        "RESOURCE_EXHAUSTED": "A quota of the project is used up. Sending slows down.",
        "UNAVAILABLE": "FCM is overloaded. The message is tried again.",
        "INTERNAL": "A fault inside FCM. The message is tried again.",
        "THIRD_PARTY_AUTH_ERROR":
            "The APNs key or the web push key in the Firebase console is missing or wrong. Upload it there.",
        "APNS_AUTH_ERROR": "The APNs key in the Firebase console is missing or wrong. Upload it there.",
        "UNAUTHENTICATED": "FCM did not accept the access token. Check the service account file and the clock.",
        "ACCESS_TOKEN_EXPIRED": "The access token ran out. Check the clock if this repeats.",
        "CREDENTIALS_MISSING": "The request carried no access token. Check the service account file.",
        "PERMISSION_DENIED":
            "The service account may not send for this project. Grant it the role Firebase Cloud Messaging API Admin.",
        "IAM_PERMISSION_DENIED":
            "The service account may not send for this project. Grant it the role Firebase Cloud Messaging API Admin.",
        "SERVICE_DISABLED":
            "The Firebase Cloud Messaging API is not enabled in this project. Enable it in the console.",
        "NOT_FOUND": "FCM does not know the project in the address. Check the project id of the application.",

        // APNs
        "Unregistered": "The app was uninstalled. Delete the token.",
        "ExpiredToken": "The token expired. Delete it.",
        "BadDeviceToken":
            "The token is not one of this environment. Check sandbox against production before deleting many.",
        "DeviceTokenNotForTopic": "The token belongs to another app. Check the bundle id of the application.",
        "BadTopic": "The topic is wrong. Check the bundle id of the application.",
        "MissingTopic": "The topic is missing. Set the bundle id of the application.",
        "TopicDisallowed": "The key may not push to this bundle id. Check the key and the bundle id.",
        "ExpiredProviderToken": "The provider token is older than an hour. Check the clock if this repeats.",
        "InvalidProviderToken": "Apple does not accept the provider token. Check key, key id and team id.",
        "MissingProviderToken": "The request carried no provider token. Check the key file.",
        "UnrelatedKeyIdInToken": "The key belongs to another team than this connection. Open a new connection.",
        "TooManyProviderTokenUpdates": "Provider tokens are made too often. Use one for at least 20 minutes.",
        "TooManyRequests": "Too many pushes to this device. The message is tried again later.",
        "PayloadTooLarge": "The payload is larger than 4096 bytes. Shorten it.",
        "ChannelNotRegistered": "The broadcast channel does not exist any more.",
        "CannotCreateChannelConfig": "The limit of 10,000 broadcast channels is reached.",
        "IdleTimeout": "The connection was idle too long. The message is tried again on a new one.",

        // HTTP and transport
        "HTTP_401": "The provider did not accept our credentials. Check the key file and the clock.",
        "HTTP_403": "The provider refuses us. Check the service account's roles and the project id.",
        "HTTP_404": "There is nothing at this address. Check the endpoint and the project id.",
        "HTTP_413": "The message is too large. Shorten it.",
        "HTTP_429": "The provider asked to slow down. The message is tried again.",
        "CURL_6": "The provider's host name could not be resolved. Check the endpoint and DNS.",
        "CURL_7": "No connection to the provider. Check the network and the firewall.",
        "CURL_28": "The provider did not answer in time.",
        "CURL_35": "The TLS handshake failed. Check the endpoint and what stands between.",
        "CURL_60": "The provider's certificate is not trusted. Check the CA file and the host name.",
        "CURL_77": "The CA file could not be read. Check its path and rights.",
    ]
}
