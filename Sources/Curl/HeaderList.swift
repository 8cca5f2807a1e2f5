import CCurl

/// Request headers, made once and shared by any number of transfers.
///
/// Prints nothing of what it holds: a bearer token is in there.
package final class HeaderList: CustomStringConvertible, CustomReflectable {
    let raw: UnsafeMutablePointer<curl_slist>?

    /// Takes whole lines (`"Content-Type: application/json"`); `"Name:"` keeps libcurl from sending that header.
    ///
    /// `Expect` and `Accept`, which libcurl adds by itself, are switched off unless a line sets them.
    package init(_ lines: [String]) throws(CurlError) {
        var list: UnsafeMutablePointer<curl_slist>?
        var names: Set<String> = []
        for line in lines {
            guard !line.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }), line.contains(":") else {
                curl_slist_free_all(list)
                throw CurlError(usage: "a header is one line with a colon in it")
            }
            names.insert(line.prefix { $0 != ":" }.lowercased())
        }
        let silenced = ["Expect:", "Accept:"].filter { !names.contains($0.dropLast().lowercased()) }
        for line in lines + silenced {
            guard let longer = curl_slist_append(list, line) else {
                curl_slist_free_all(list)
                throw CurlError(.outOfMemory, "out of memory")
            }
            list = longer
        }
        raw = list
    }

    deinit { curl_slist_free_all(raw) }

    package var description: String { "headers" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
