import Testing

@testable import Operations

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("9464", "127.0.0.1", 9464), ("0.0.0.0:9464", "0.0.0.0", 9464), ("[::1]:0", "::1", 0),
        ("localhost:65535", "localhost", 65535),
    ])
    func reads(text: String, host: String, port: Int) throws {
        let address = try ListenAddress(text, option: "metrics-listen", barePortHost: "127.0.0.1")
        #expect(address.host == host)
        #expect(address.port == port)
    }

    @Test(
        "What cannot be meant, or is not said clearly, is refused",
        arguments: [
            "", ":9464", "65536", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "::1:9464", "[]:1", "-1",
        ])
    func refuses(text: String) {
        #expect(throws: Failure.self) {
            try ListenAddress(text, option: "metrics-listen", barePortHost: "127.0.0.1")
        }
    }

    @Test func aBarePortNeedsAHostOfItsOwn() {
        #expect(throws: Failure.self) { try ListenAddress("9464", option: "listen") }
    }
}
