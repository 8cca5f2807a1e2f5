import Foundation
import Testing

@testable import Delivery

/// The tables of message types against Google's discovery document itself, as PyPI's google-api-python-client ships it.
///
/// `deploy/test` installs that package and sets `TODOKE_DISCOVERY`.
@Suite struct DiscoveryDocumentTests {
    /// What the document says of each type that a request can hold: field → type, in the words of `SchemaTests`.
    static func published() throws -> [String: [String: String]] {
        let path = try #require(
            ProcessInfo.processInfo.environment["TODOKE_DISCOVERY"],
            "TODOKE_DISCOVERY must be the path of fcm.v1.json from google-api-python-client; deploy/test sets it")
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
        let schemas = try #require(JSONValue.parse(bytes.span)["schemas"])
        var found: [String: [String: String]] = [:]
        var waiting = ["SendMessageRequest"]
        while let name = waiting.popLast() {
            guard found[name] == nil else { continue }
            let properties = try #require(schemas[name], "no schema \(name)")["properties"]?.objectValue ?? []
            for property in properties {
                if let reference = Self.reference(property.value) { waiting.append(reference) }
            }
            found[name] = Dictionary(uniqueKeysWithValues: properties.map { ($0.key, Self.type(of: $0.value)) })
        }
        return found
    }

    private static func reference(_ property: JSONValue) -> String? {
        property["$ref"]?.stringValue ?? property["items"]?["$ref"]?.stringValue
    }

    /// The type of a property in a few words.
    private static func type(of property: JSONValue) -> String {
        if let reference = property["$ref"]?.stringValue { return "message \(reference)" }
        if let names = property["enum"]?.arrayValue {
            return "enum " + names.compactMap(\.stringValue).joined(separator: " ")
        }
        if let format = property["format"]?.stringValue { return format }
        switch property["type"]?.stringValue {
        case "array"?: return "list of " + (property["items"].map(type) ?? "nothing")
        case "object"?:
            guard let values = property["additionalProperties"] else { return "object" }
            return values["type"]?.stringValue == "string" ? "map" : "object"
        case let name?: return name
        case nil: return "nothing"
        }
    }

    @Test func `every type and field of Google's document is ours, and no other`() throws {
        var published = try Self.published()
        // Both generations of light settings are one type here, and must stay alike.
        let second = "GoogleFirebaseFcmV1AndroidNotificationV2LightSettings"
        #expect(published[second] != nil && published[second] == published["LightSettings"])
        published[second] = nil
        var ours: [String: [String: String]] = [:]
        for schema in Schema.all {
            guard let name = schema.id.discoveryName else { continue }
            ours[name] = Dictionary(
                uniqueKeysWithValues: schema.fields.map { ($0.camelName, SchemaTests.describe($0.type)) })
        }
        #expect(Set(ours.keys) == Set(published.keys))
        for (name, fields) in published {
            #expect(
                ours[name] == fields.mapValues { $0 == "message \(second)" ? "message LightSettings" : $0 }, "\(name)")
        }
    }

    @Test func `the extract that the other tests read is that document's`() throws {
        let extract = SchemaTests.published.objectValue ?? []
        let read = Dictionary(
            uniqueKeysWithValues: extract.map { type in
                let fields = (type.value.objectValue ?? []).map { ($0.key, $0.value.stringValue ?? "") }
                return (type.key, Dictionary(uniqueKeysWithValues: fields))
            })
        let published = try Self.published()
        for (name, fields) in published { #expect(read[name] == fields, "\(name)") }
        #expect(Set(read.keys) == Set(published.keys))
    }
}
