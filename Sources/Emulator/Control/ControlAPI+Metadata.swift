import Delivery
import HTTP1

/// The part of Google's metadata server that clients get their tokens from, for `GCE_METADATA_HOST`.
extension ControlAPI {
    static let metadataTokenPath = "/computeMetadata/v1/instance/service-accounts/default/token"
    private static let flavor = (name: "Metadata-Flavor", value: "Google")

    /// Whether a client of the metadata server asks; web pages cannot send this header to another site.
    private static func isOfMetadata(_ request: HTTP1Request) -> Bool {
        request.header("metadata-flavor").map { $0.elementsEqual(flavor.value.utf8) } ?? false
    }

    /// An access token for whoever asks with the right header, as in a machine of Google's cloud.
    func answerMetadata(_ request: HTTP1Request) throws(ControlError) -> HTTP1Response {
        guard Self.isOfMetadata(request) else {
            throw ControlError(403, "Missing Metadata-Flavor:Google header.", remedy: "send that header")
        }
        return HTTP1Response(
            status: 200, headers: [("Content-Type", "application/json")],
            body: service.metadataToken())
    }

    /// Clients know the metadata server by the header that it sends back.
    func markMetadata(_ response: HTTP1Response, of request: HTTP1Request) -> HTTP1Response {
        guard Self.isOfMetadata(request) else { return response }
        var marked = response
        marked.headers.append(Self.flavor)
        return marked
    }
}
