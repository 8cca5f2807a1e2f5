extension TemplateObject {
    /// Puts the picture where each platform looks for it, and takes it out of all of them where it renders empty.
    ///
    /// The iOS client's service extension runs only with `mutable-content` 1 and reads `fcm_options.image`.
    mutating func addImage(_ option: String?, androidNotification: [String]?) throws(TemplateError) {
        let places = [["notification"], androidNotification, ["apns", "fcm_options"]].compactMap { $0 }
        let own = places.compactMap { text(at: $0 + ["image"]) }
        let image: TemplateText
        if let option {
            guard own.isEmpty else {
                throw TemplateError("--image is given and the template has an image", remedy: "leave one of them out")
            }
            guard
                self["notification"] != nil || androidNotification.flatMap({ object(at: $0) }) != nil
                    || object(at: ["apns", "payload", "aps"])?["alert"] != nil
            else {
                throw TemplateError(
                    "--image is given and the template shows no notification",
                    remedy: "give the template a notification with title and body")
            }
            image = try TemplateText(option)
        } else {
            guard let first = own.first else { return }
            image = first
        }
        let presence = image.presence
        for place in places {
            try modify(place, presence: presence) { (object) throws(TemplateError) in
                let text = object["image"].map { $0.text } ?? image
                // Something that is not a string stays for the payload rules to report.
                guard let text else { return }
                object.set("image", .text(text), presence: text.presence)
            }
        }
        try modify(["apns", "payload", "aps"], presence: presence) { (aps) throws(TemplateError) in
            switch aps["mutable-content"] {
            case nil: aps.set("mutable-content", .raw("1"), presence: presence)
            case .raw("1")?, .raw("true")?: break
            default:
                throw TemplateError(
                    "apns.payload.aps.mutable-content is not 1 and there is an image",
                    remedy: "leave it out: it is set to 1 with every image")
            }
        }
    }
}
