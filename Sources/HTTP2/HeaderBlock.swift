import CNGHTTP2

/// The status and headers of a response, laid out once in memory that libnghttp2 reads without copying.
///
/// `content-length` is added for each response; names must be lower case.
package final class HeaderBlock {
    package let status: Int
    let fields: UnsafeMutableBufferPointer<nghttp2_nv>
    private let text: UnsafeMutableBufferPointer<UInt8>

    package init(status: Int, fields named: [(name: String, value: String)]) {
        self.status = status
        let all = [(name: ":status", value: String(status))] + named
        text = .allocate(capacity: all.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count })
        fields = .allocate(capacity: all.count)
        var end = 0
        for (index, field) in all.enumerated() {
            let name = end
            for byte in field.name.utf8 { append(byte, at: &end) }
            let value = end
            for byte in field.value.utf8 { append(byte, at: &end) }
            fields.initializeElement(
                at: index,
                to: nghttp2_nv(
                    name: text.baseAddress.map { $0 + name }, value: text.baseAddress.map { $0 + value },
                    namelen: value - name, valuelen: end - value, flags: Self.borrowed))
        }
    }

    deinit {
        fields.deallocate()
        text.deallocate()
    }

    /// libnghttp2 may point at name and value until the frame is sent: the stream keeps the block that long.
    static let borrowed = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)

    private func append(_ byte: UInt8, at end: inout Int) {
        text.initializeElement(at: end, to: byte)
        end += 1
    }
}
