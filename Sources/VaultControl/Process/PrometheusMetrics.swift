import Metrics
import Synchronization

/// The figures of this process, as text for Prometheus: the swift-metrics backend of a program that has no other.
final class PrometheusMetrics: MetricsFactory, Sendable {
    /// A name and its dimensions, as written.
    fileprivate struct Series: Hashable {
        let label: String
        let dimensions: String

        init(_ label: String, _ dimensions: [(String, String)]) {
            self.label = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
            self.dimensions = dimensions.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        }

        private static func escaped(_ value: String) -> String {
            value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        }
    }

    fileprivate enum Value {
        case counter(Int64)
        case gauge(Double)
        case timer(count: Int64, nanoseconds: Double)
    }

    fileprivate final class Figures: Sendable {
        let values = Mutex<[Series: Value]>([:])

        func change(_ series: Series, _ body: (Value?) -> Value) {
            values.withLock { $0[series] = body($0[series]) }
        }
    }

    private let figures = Figures()
    private let survey = Mutex<[Series: Value]>([:])

    /// Replaces all earlier gauges: missing ones are no longer written.
    func replaceSurvey(_ gauges: [(label: String, dimensions: [(String, String)], value: Double)]) {
        let values = gauges.map { (Series($0.label, $0.dimensions), Value.gauge($0.value)) }
        survey.withLock { $0 = Dictionary(values) { _, last in last } }
    }

    var text: String {
        let all = figures.values.withLock { $0 }.merging(survey.withLock { $0 }) { own, _ in own }
        let byLabel = Dictionary(grouping: all) { $0.key.label }.sorted { $0.key < $1.key }
        return byLabel.map { label, series in
            Self.text(label, series.sorted { $0.key.dimensions < $1.key.dimensions })
        }.joined()
    }

    private static func text(_ label: String, _ series: [(key: Series, value: Value)]) -> String {
        guard let kind = series.first?.value else { return "" }
        let lines = series.map { series, value in
            let place = series.dimensions.isEmpty ? "" : "{\(series.dimensions)}"
            switch value {
            case .counter(let count): return "\(label)\(place) \(count)\n"
            case .gauge(let value): return "\(label)\(place) \(value)\n"
            case .timer(let count, let nanoseconds):
                return "\(label)_seconds_sum\(place) \(nanoseconds / 1e9)\n\(label)_seconds_count\(place) \(count)\n"
            }
        }.joined()
        switch kind {
        case .counter: return "# TYPE \(label) counter\n" + lines
        case .gauge: return "# TYPE \(label) gauge\n" + lines
        case .timer: return "# TYPE \(label)_seconds summary\n" + lines
        }
    }

    // MARK: MetricsFactory

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        CountedSeries(figures: figures, series: Series(label, dimensions))
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        CountedSeries(figures: figures, series: Series(label, dimensions))
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        CountedSeries(figures: figures, series: Series(label, dimensions))
    }

    // A figure lasts as long as the process: a counter that vanishes looks like a restart.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    /// Receives the figures of one series from swift-metrics.
    private final class CountedSeries: CounterHandler, RecorderHandler, TimerHandler, Sendable {
        let figures: Figures
        let series: Series

        init(figures: Figures, series: Series) {
            self.figures = figures
            self.series = series
        }

        func increment(by amount: Int64) {
            figures.change(series) { value in
                guard case .counter(let count)? = value else { return .counter(amount) }
                return .counter(count &+ amount)
            }
        }

        func reset() { figures.change(series) { _ in .counter(0) } }

        func record(_ value: Int64) { record(Double(value)) }

        func record(_ value: Double) { figures.change(series) { _ in .gauge(value) } }

        func recordNanoseconds(_ duration: Int64) {
            figures.change(series) { value in
                guard case .timer(let count, let sum)? = value else {
                    return .timer(count: 1, nanoseconds: Double(duration))
                }
                return .timer(count: count &+ 1, nanoseconds: sum + Double(duration))
            }
        }
    }
}
