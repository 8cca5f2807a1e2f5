extension FuzzTarget {
    /// Every target there is; a new one is a file beside this, a line here, and a directory of its name in `Corpus`.
    static let all = [
        message, json, answer, retryAfter, template, csv, ndjson, serviceAccount, tokenAnswer, conninfo, endpointURL,
        headers, options, databaseText, migration, form, assertion, envelope, wording, route, lint, explain, scenario,
        controlQuery,
    ]
}
