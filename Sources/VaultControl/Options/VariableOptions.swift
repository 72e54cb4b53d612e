import ArgumentParser
import OAuthClient

/// Values that the provider's profile wants of each log-in.
struct VariableOptions: ParsableArguments {
    @Option(
        help: .init(
            "A value that the provider's profile wants of each log-in, such as shop=acme. Repeatable.",
            valueName: "name=value"))
    var variable: [String] = []

    var values: [String: String] {
        get throws(Failure) {
            var values: [String: String] = [:]
            for text in variable {
                let parameter = try FormParameter(argument: text, example: "shop=acme", option: "--variable")
                values[parameter.name] = parameter.value
            }
            return values
        }
    }
}
