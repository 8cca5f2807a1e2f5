extension MessageChecker {
    /// What is allowed, and does something else than most people mean.
    mutating func checkHabits(_ bytes: Span<UInt8>) {
        checkLife()
        checkCollapsing()
        checkTokenHabit(bytes)
        // FCM puts the data beside `aps` in what it hands to APNs.
        let apple = seen.payloadLength + (seen.data ?? 0)
        if seen.payloadLength > 0 && seen.payloadLength <= Self.mostBytes && apple > Self.mostBytes {
            warn(
                "message.apns.payload",
                "and data take \(apple) bytes together, and APNs takes \(Self.mostBytes): iOS devices may get nothing")
        }
    }

    /// A time to live that is longer than the message is of use.
    private mutating func checkLife() {
        guard let life = seen.timeToLive, let expiry = expiresIn, life > expiry else { return }
        warn(
            "message.android.ttl",
            "is \(life) s and the message expires in \(expiry) s: a device that is off until then gets it too late")
    }

    /// FCM keeps four collapse keys for a device, and delivers few collapsible messages in a row
    /// ("Collapsible message types", "Throttling and quotas"); one that is not stored is exempt.
    private mutating func checkCollapsing() {
        guard seen.hasCollapseKey, seen.timeToLive != 0 else { return }
        warn(
            "message.\(seen.hasAndroidV2 ? "android_v2" : "android").collapse_key",
            "makes the message collapsible: a device gets 20 at once, then one every 3 minutes, and FCM keeps no more "
                + "than 4 different keys for it")
    }

    /// FCM takes an installation id as a token too, for the time being: `token` is deprecated in favour of `fid`.
    private mutating func checkTokenHabit(_ bytes: Span<UInt8>) {
        guard seen.targets.count == 1, case (.token, let string)? = seen.targets.first,
            string.withContents(in: bytes, { Self.isInstallationID($0) })
        else { return }
        warn("message.token", "looks like an installation id, which belongs in fid: token takes it only for now")
    }

    /// 22 characters of base64url, the first four bits 0111 ("Manage Firebase installations").
    private static func isInstallationID(_ text: Span<UInt8>) -> Bool {
        guard text.count == 22, (UInt8(ascii: "c")...UInt8(ascii: "f")).contains(text[0]) else { return false }
        for index in 0..<text.count {
            let byte = text[index]
            guard ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            else { return false }
        }
        return true
    }
}
