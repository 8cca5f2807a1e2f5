/// Keys of `data` that FCM keeps for itself.
enum DataKey {
    /// What is wrong with a key; nil if nothing is.
    ///
    /// The sources name `gcm.notification.` (API reference), `gcm.` (message types page) and `gcm` (error page); the
    /// widest reading holds, with exact lower case as documented. Android strips such keys before the app sees them.
    static func fault(_ key: Span<UInt8>) -> String? {
        guard key.count >= 3 else { return nil }
        let first = key[0]
        guard first == UInt8(ascii: "f") || first == UInt8(ascii: "g") || first == UInt8(ascii: "m") else { return nil }
        if ASCII.equal(key, "from") || ASCII.equal(key, "message_type") || ASCII.equal(key, "gcm") {
            return "is a reserved key"
        }
        if ASCII.hasPrefix(key, "google.") || ASCII.hasPrefix(key, "gcm.") {
            return "is reserved: keys must not start with google. or gcm."
        }
        return nil
    }
}
