import Foundation
import Testing

@testable import Delivery

/// The tables of message types against what Google publishes (names and types of the discovery document).
@Suite struct SchemaTests {
    static let published: JSONValue = {
        guard let url = Bundle.module.url(forResource: "fcm-v1-schema", withExtension: "json", subdirectory: "Vectors"),
            let bytes = try? [UInt8](Data(contentsOf: url)), let value = try? JSONValue.parse(bytes.span)
        else { return .null }
        return value["schemas"] ?? .null
    }()

    @Test func `every message type is in its place`() {
        #expect(Schema.all.count == SchemaID.allCases.count)
        for id in SchemaID.allCases {
            #expect(Schema.all[id.rawValue].id == id)
            #expect(Schema.all[id.rawValue].fields.count <= 64)
            #expect(Schema.all[id.rawValue].isOpen == (id.discoveryName == nil))
        }
    }

    @Test(arguments: SchemaID.allCases.filter { $0.discoveryName != nil })
    func `a message type has the published fields, no more and no less`(_ id: SchemaID) {
        let published = Self.published[id.discoveryName ?? ""]?.objectValue ?? []
        let expected = Dictionary(uniqueKeysWithValues: published.map { ($0.key, $0.value.stringValue ?? "") })
        let fields = Schema.all[id.rawValue].fields
        let ours = Dictionary(uniqueKeysWithValues: fields.map { ($0.camelName, Self.describe($0.type)) })
        #expect(Self.published[id.discoveryName ?? ""] != nil)
        #expect(
            ours
                == expected.mapValues {
                    $0 == "message GoogleFirebaseFcmV1AndroidNotificationV2LightSettings" ? "message LightSettings" : $0
                })
    }

    @Test func `both generations of light settings are one type`() {
        #expect(
            Self.published["LightSettings"]
                == Self.published["GoogleFirebaseFcmV1AndroidNotificationV2LightSettings"])
    }

    static func describe(_ type: FieldType) -> String {
        switch type {
        case .string: "string"
        case .boolean: "boolean"
        case .int32: "int32"
        case .float: "float"
        case .duration: "google-duration"
        case .timestamp: "google-datetime"
        case .enumeration(let id): "enum " + id.names.joined(separator: " ")
        case .strings: "list of string"
        case .durations: "list of google-duration"
        case .stringMap: "map"
        case .structure: "object"
        case .message(let id): "message \(id.discoveryName ?? "")"
        case .text, .number, .flag, .truth, .object, .textOrObject, .texts: "none of the protocol"
        }
    }
}
