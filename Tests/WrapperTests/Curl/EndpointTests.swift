import Curl
import Testing

struct EndpointTests {
    @Test(arguments: [
        "https://fcm.googleapis.com/v1/projects/x/messages:send", "https://localhost:8443", "http://127.0.0.1:80/",
        "http://127.1.2.3/", "http://localhost/", "http://[::1]:8080/x",
    ])
    func accepted(url: String) throws { _ = try EndpointURL(url) }

    @Test(arguments: [
        "http://fcm.googleapis.com/", "http://127.0.0.1.example.com/", "http://128.0.0.1/", "http://localhost.example/",
        "ftp://localhost/", "file:///etc/passwd", "https://user:hunter2@localhost/", "localhost:80", "", "https://",
        "http://[::2]/", "https://a\0b/", "gopher://127.0.0.1/",
    ])
    func refused(url: String) throws {
        let error = try #require(throws: CurlError.self) { try EndpointURL(url) }
        #expect(!error.description.contains("hunter2"))
    }

    @Test(arguments: [
        "http://metadata.google.internal/computeMetadata/v1/", "http://169.254.169.254:80/", "http://[fd20:ce::254]/",
        "http://127.0.0.1:8080/", "http://METADATA.google.internal./",
    ])
    func theMetadataServerIsAskedInClearText(url: String) throws { _ = try EndpointURL(metadataServer: url) }

    @Test(arguments: [
        "http://169.254.169.253/", "http://metadata/", "http://metadata.google.internal.example.com/",
        "http://10.0.0.1/", "http://user@169.254.169.254/", "http://[fd20:ce::255]/",
    ])
    func nothingElseIsAskedInClearText(url: String) {
        #expect(throws: CurlError.self) { try EndpointURL(metadataServer: url) }
    }

    @Test func theMetadataServerIsNoEndpointForPosts() {
        #expect(throws: CurlError.self) { try EndpointURL("http://169.254.169.254/") }
    }

    @Test func headersAreWholeLinesAndSecret() throws {
        for line in ["no colon", "Two: lines\r\nHost: evil", "Nul: \0"] {
            #expect(throws: CurlError.self) { try HeaderList(["Good: one", line]) }
        }
        let list = try HeaderList(["Authorization: Bearer secret"])
        var text = "\(list)"
        dump(list, to: &text)
        #expect(!text.contains("secret"))
    }

    @Test func theLibraryIsNamed() throws {
        try CurlLibrary.initialize()
        try CurlLibrary.initialize()
        #expect(CurlLibrary.version.hasPrefix("libcurl/"))
        #expect(CurlLibrary.version.contains("nghttp2"))
        #expect("\(CurlCode.timedOut)" == "Timeout was reached")
    }
}
