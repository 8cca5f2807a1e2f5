/// The HTML page with which Google's front end answers what is not an API.
enum FrontEndPage {
    /// Appends the page; gives back its head.
    static func write(status: Int, path: [UInt8], to output: inout [UInt8]) -> AnswerHead {
        let (title, text) =
            status == 405
            ? ("Method Not Allowed", "The request method is inappropriate for the URL <code>\(escaped(path))</code>.")
            : ("Not Found", "The requested URL <code>\(escaped(path))</code> was not found on this server.")
        return write(status: status, title: title, text: text, to: &output)
    }

    /// Appends the page for a server that the front end cannot reach; gives back its head.
    static func writeServerError(status: Int, to output: inout [UInt8]) -> AnswerHead {
        write(
            status: status, title: "Server Error",
            text: "The server encountered a temporary error and could not complete your request.<p>"
                + "Please try again in 30 seconds.", to: &output)
    }

    private static func write(status: Int, title: String, text: String, to output: inout [UInt8]) -> AnswerHead {
        let page = """
            <!DOCTYPE html>
            <html lang=en>
              <meta charset=utf-8>
              <title>Error \(status) (\(title))!!1</title>
              <p><b>\(status).</b> <ins>That’s an error.</ins>
              <p>\(text)  <ins>That’s all we know.</ins>

            """
        output.append(contentsOf: page.utf8)
        return AnswerHead(status: status, content: .html)
    }

    private static func escaped(_ path: [UInt8]) -> String {
        var text = ""
        for character in String(decoding: path.prefix(1024), as: UTF8.self) {
            switch character {
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "&": text += "&amp;"
            default: text.append(character)
            }
        }
        return text
    }
}
