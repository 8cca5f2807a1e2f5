extension MessageChecker {
    /// Checks a map from strings to strings: `data`, or headers.
    mutating func map(
        _ rule: MapRule, _ owner: SchemaID, _ field: Field, _ bytes: Span<UInt8>, _ kind: JSONScanner.Kind
    ) throws(JSONError) -> Outcome {
        guard kind == .object else {
            return try mismatch(field, "must be an object from strings to strings", bytes)
        }
        var size = 0
        var members = try scanner.openObject(bytes)
        while let key = try scanner.nextKey(bytes, &members) {
            if rule == .data, let fault = key.string.withContents(in: bytes, { DataKey.fault($0) }) {
                within(key) { $0.fail(fault, bytes) }
            }
            // Unlike a field, a value in a map cannot be null.
            guard try scanner.nextKind(bytes) == .string else {
                let found = describeNext(bytes, isSecret: true)
                within(key) { $0.fail("must be a string; found \(found)", bytes) }
                try scanner.skipValue(bytes)
                continue
            }
            let value = try scanner.string(bytes)
            size += key.string.length + value.length
            switch rule {
            case .data: break
            case .apnsHeaders: apnsHeader(key, value, bytes)
            case .webpushHeaders: webHeader(key, value, bytes)
            }
        }
        if rule == .data { seen.noteData(owner, size) }
        return .set(length: size)
    }

    private mutating func apnsHeader(_ key: JSONKey, _ value: JSONString, _ bytes: Span<UInt8>) {
        guard let header = key.string.withContents(in: bytes, { PushHeader.APNs($0) }) else { return }
        // Exact repetitions are refused as JSON; HTTP's names have no case, and APNs answers DuplicateHeaders.
        if seen.appleHeaders & header.bit != 0 {
            within(key) { $0.fail("is given twice: the names of headers have no case", bytes) }
        }
        seen.appleHeaders |= header.bit
        if let fault = value.withContents(in: bytes, { header.fault($0) }) {
            let found = describe(value, bytes, isSecret: false)
            return within(key) { $0.fail("\(fault); found \(found)", bytes) }
        }
        switch header {
        case .priority: seen.priority = value
        case .pushType: seen.pushType = value.withContents(in: bytes) { PushHeader.pushType($0) }
        case .topic: seen.topic = value
        case .expiration where value.length > 10:
            within(key) { $0.warn("is centuries ahead; it counts seconds, not milliseconds", bytes) }
        case .expiration, .collapseID, .id: break
        }
    }

    private mutating func webHeader(_ key: JSONKey, _ value: JSONString, _ bytes: Span<UInt8>) {
        let fault = key.string.withContents(in: bytes) { name in
            value.withContents(in: bytes) { PushHeader.webFault(name, $0) }
        }
        guard let fault else { return }
        let found = describe(value, bytes, isSecret: false)
        within(key) { $0.fail("\(fault); found \(found)", bytes) }
    }
}
