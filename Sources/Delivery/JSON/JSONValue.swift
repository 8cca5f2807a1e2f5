/// A JSON value as a tree: members keep their order, numbers keep their text.
package enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    /// The number exactly as it was written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A key and its value.
    package struct Member: Sendable {
        package var key: String
        package var value: JSONValue

        package init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// Reads one value and nothing after it but white space; see `JSONError` for what is refused.
    ///
    /// - Parameter takesRepeatedKeys: a key may be there twice; members then stand in reverse order, so that
    ///   look-ups find the last one written.
    package static func parse(
        _ bytes: Span<UInt8>, takesRepeatedKeys: Bool = false
    ) throws(JSONError) -> JSONValue {
        var scanner = JSONScanner()
        let value = try read(bytes, &scanner, takesRepeatedKeys)
        try scanner.finish(bytes)
        return value
    }

    private static func read(
        _ bytes: Span<UInt8>, _ scanner: inout JSONScanner, _ takesRepeatedKeys: Bool
    ) throws(JSONError) -> JSONValue {
        switch try scanner.nextKind(bytes) {
        case .null:
            try scanner.null(bytes)
            return .null
        case .boolean:
            return .boolean(try scanner.boolean(bytes))
        case .number:
            let text = bytes.extracting(try scanner.number(bytes))
            return .number(text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
        case .string:
            return .string(try scanner.string(bytes).text(in: bytes))
        case .array:
            var elements: [JSONValue] = []
            var isFirst = try scanner.openArray(bytes)
            while try scanner.nextElement(bytes, &isFirst) {
                elements.append(try read(bytes, &scanner, takesRepeatedKeys))
            }
            return .array(elements)
        case .object:
            var found: [Member] = []
            var members = try scanner.openObject(bytes, remembersKeys: !takesRepeatedKeys)
            while let key = try scanner.nextKey(bytes, &members) {
                found.append(Member(key.string.text(in: bytes), try read(bytes, &scanner, takesRepeatedKeys)))
            }
            return .object(takesRepeatedKeys ? found.reversed() : found)
        }
    }

    /// The member of an object, compared byte for byte; nil for a missing key and for anything but an object.
    ///
    /// Setting nil removes the member; setting on anything but an object does nothing.
    package subscript(key: String) -> JSONValue? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            // Lets go of the members first, so that the change does not copy them.
            self = .null
            let index = members.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key, value))
            case (nil, nil): break
            }
            self = .object(members)
        }
    }

    /// The text of a string, nil for anything else.
    package var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The elements of an array, nil for anything else.
    package var arrayValue: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of an object, nil for anything else.
    package var objectValue: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }
}

extension JSONValue: Equatable {
    /// Compares text byte for byte, where `String` would call "é" and "e" + accent equal.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.number(let left), .number(let right)), (.string(let left), .string(let right)):
            left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)):
            left.elementsEqual(right) { $0.key.utf8.elementsEqual($1.key.utf8) && $0.value == $1.value }
        default: false
        }
    }
}
