"""The tables, each of the samples of one row or two."""
import collections
import statistics

from .recorded import AGAIN, NAMES, PARTS, ROWS, documents, lost, medians, ordered_days, read, recorded, samples, short


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def reads_table() -> str:
    drawn, again = medians("reads", "hot read", 1), medians("reads", AGAIN)
    two, cold = medians("reads", "hot read, 2 threads"), medians("reads", "read after drop_caches")

    def time(values: dict[str, float], name: str) -> str:
        return f"{short(values[name] / 1000)} µs" if name in values else ""

    def ratio(values: dict[str, float], name: str) -> str:
        if name not in values:
            return ""
        value = values[name] / values["TokenVault"]
        return f"{value:.2f}" if value < 10 else f"{value:.0f}"

    rows = [
        [NAMES.get(name, name), time(again, name), ratio(again, name), time(drawn, name), ratio(drawn, name), time(two, name),
         time(cold, name)]
        for name, _ in sorted((drawn | again).items(), key=lambda pair: pair[1])]
    return table(["store", "one of 1 000 logins, again", "TokenVault = 1", "any of 100 000", "TokenVault = 1",
                  "each of 2 threads' reads", "after drop_caches"], rows)


def meeting_table() -> str:
    """What a process's first look at a user costs."""
    first, later = (medians("reads", f"{word} read of a user")["TokenVault"] for word in ("first", "later"))
    return table(["a process reads users of 100 000 in random order", "each read"],
                 [["for the first time", f"{short(first / 1000)} µs"], ["again", f"{short(later / 1000)} µs"]])


def commits_table() -> str:
    one, many = medians("commits", "durable renewal, 1 caller"), medians("commits", "durable renewal, 64 callers")
    rows = [
        [NAMES.get(name, name), f"{short(time / 1e6)} ms", short(1e9 / time), short(1e9 / many[name]) if name in many else ""]
        for name, time in sorted(one.items(), key=lambda pair: pair[1])]
    return table(["store", "one caller waits", "a second, 1 caller", "a second, 64 callers"], rows)


def thousand_table() -> str:
    renewals, found = medians("commits", "1 000 accounts, renewal"), medians("commits", "1 000 accounts, hot read")
    rows = [[NAMES.get(name, name), f"{short(found[name] / 1000)} µs", f"{short(time / 1e6)} ms"] for name, time in renewals.items()]
    return table(["store of 1 000 accounts", "hot read", "renewal"], rows)


def opening_table() -> str:
    opens = medians("opening", "open and first read")
    values = {(sample["name"], sample["work"]): sample for sample in samples("opening")}
    rows = []
    for name, time in sorted(opens.items(), key=lambda pair: pair[1]):
        size = values.get((name, "bytes"))
        rows.append([
            NAMES.get(name, name), f"{short(time / 1e6)} ms", f"{values[name, 'memory']['MiB']} MiB",
            str(size["bytes"]) if size else ""])
    return table(["store", "open, read once, close", "client's peak memory", "bytes a login on disk"], rows)


def flight_table() -> str:
    found = samples("flight")
    delays = sorted({sample["delay"] for sample in found})
    rows = []
    for name in dict.fromkeys(sample["name"] for sample in found):
        cells = []
        for delay in delays:
            runs = [sample for sample in found if sample["name"] == name and sample["delay"] == delay]
            numbers = sorted({run["requests"] for run in runs})
            cells.append("–".join(str(number) for number in {numbers[0]: 0, numbers[-1]: 0})
                         + (" ✗" if any(run["revoked"] for run in runs) else ""))
        rows.append([name, *cells])
    return table(["requests for one renewal; ✗: the chain was lost", *(f"provider takes {delay:g} s" for delay in delays)], rows)


def day_table() -> str:
    rows = []
    for sample in ordered_days():
        clients = [sample["forgiving"], sample["demo"]]
        renewals = sum(client["renewals"] for client in clients)
        each = 10_000 / renewals
        rows.append([
            sample["name"], str(renewals), str(sample["kills"]), str(sample["lost_replies"]), str(sample["slow"]),
            f"{sum(client['requests'] for client in clients) / renewals:.3f}",
            f"{each * sum(client['reuse'] for client in clients):.0f}",
            *(f"{client['lost']} ({lost(sample, kind):.0f})" for client, kind in zip(clients, ("forgiving", "demo"))),
            f"{sample['p99_ms']:.0f} ms"])
    return table(
        ["service", "renewals run", "kills", "lost replies", "slow answers", "requests a renewal", "reuse detected, per 10 000",
         "chains lost, forgiving (per 10 000)", "chains lost, strict (per 10 000)", "p99 of a read"], rows)


def growth_table() -> str:
    values = collections.defaultdict(lambda: collections.defaultdict(list))
    for sample in samples("growth"):
        values[sample["name"]][sample["logins"]].append(sample["value"])
    titles = {
        "read": "read, µs", "update": "durable update, µs", "open": "open, first read, close, µs", "tick": "tick with 100 due, µs",
        "memory": "peak memory, MiB", "bytes": "bytes a login on disk"}
    sizes = sorted(values["read"])
    rows = [[titles[work], *(short(statistics.median(found[size])) for size in sizes)] for work, found in values.items()]
    return table(["logins", *(f"{size:,}".replace(",", " ") for size in sizes)], rows)


def tick_table() -> str:
    values = collections.defaultdict(list)
    for sample in samples("tick"):
        values[sample["name"], sample["logins"]].append(sample["ns"])
    sizes = sorted({size for _, size in values})
    names = list(dict.fromkeys(name for name, _ in values))
    rows = [[name, *(f"{short(statistics.median(values[name, size]) / 1000)} µs" for size in sizes)] for name in names]
    return table(["100 due among", *(f"{size:,}".replace(",", " ") for size in sizes)], rows)


def upkeep_table() -> str:
    values, logins = collections.defaultdict(list), 0
    for sample in samples("upkeep"):
        values[sample["name"]].append(sample["seconds"])
        logins = sample["logins"]
    rows = [[name, f"{short(statistics.median(found))} s", short(logins / statistics.median(found) / 1000)]
            for name, found in values.items()]
    return table([f"{logins:,} logins".replace(",", " "), "time", "thousand a second"], rows)


def cells_table() -> str:
    values = collections.defaultdict(list)
    for sample in samples("cells"):
        values[sample["name"]].append(sample)
    rows = [
        [name, *(f"{short(statistics.median(sample[verb] for sample in found) / 1000)} µs" for verb in ("seal_ns", "open_ns")),
         str(found[0]["bytes"])]
        for name, found in values.items()]
    return table(["1 000 bytes", "seal", "open", "bytes stored"], rows)


def server_table() -> str:
    found = collections.defaultdict(list)
    for sample in samples("server"):
        found[sample["work"], sample["name"]].append(sample)
    rows = []
    for (work, name), some in found.items():
        if "ns_by_size" in some[0]:
            rows += [[f"{work}, of {short(float(size))} logins", name,
                      f"{short(statistics.median(sample['ns_by_size'][size] for sample in some) / 1000)} µs", "", ""]
                     for size in some[0]["ns_by_size"]]
            continue
        if "rate" in some[0]:
            rows.append([work, name, "", "", short(statistics.median(sample["rate"] for sample in some))])
            continue
        each = statistics.median(sample["ns"] for sample in some)
        rows.append([
            work, name, *(f"{short(statistics.median(sample[part] for sample in some) / 1000)} µs" for part in ("p50", "p99")),
            short(1e9 / each)])
    return table(["work", "program", "half take at most", "99 of 100", "a second"], rows)


def serve_table() -> str:
    found = collections.defaultdict(list)
    for sample in samples("serve"):
        found[sample["work"], sample["name"]].append(sample)
    columns = {
        "mean_us": "on average", "p50_us": "half take at most", "p99_us": "99 of 100", "rate": "a second",
        "cpu_us": "the server's processor time"}

    def cell(some: list[dict], part: str) -> str:
        if part not in some[0]:
            return ""
        return short(statistics.median(sample[part] for sample in some)) + (" µs" if part.endswith("_us") else "")

    rows = [[work, name, *(cell(some, part) for part in columns)] for (work, name), some in found.items()]
    return table(["asked by", "who answers", *columns.values()], rows)


def machine_table() -> str:
    rows = []
    for document in documents():
        machine = document["machine"]
        rows.append([
            f"`{document['command'].split(' --binaries')[0].strip()}`", document["measured"][:16], document["commit"],
            f"{machine['load']:.1f}", f"{machine['fdatasync_us'] / 1000:.2f} ms"])
    return table(["command", "when", "commit", "load at the start", "a 4 KiB write and its fdatasync"], rows)


def goals_table() -> str:
    """Each figure that has a goal; those of `flight` are all the same."""
    rows = []
    for row in ROWS[1:]:
        figures = [figure for figure in recorded(row)["figures"] if figure["goal"]]
        rows += [
            [f"`{row}`", figure["title"], short(figure["value"]), figure["goal"], "" if figure["isMet"] else "**missed**"]
            for figure in figures]
    return table(["row", "figure", "measured", "goal", ""], rows)


def plain_table() -> str:
    """What `Benchmarks/run` has measured, beside C and by itself."""
    rows = []
    for part in PARTS:
        rows += [
            [figure["title"], f"{figure['value']:.2f}", figure["goal"], "" if figure["isMet"] else "**missed**", figure["note"]]
            for figure in read(f"run-{part}.json")["figures"]]
    return table(["work", "measured", "goal", "", "how much that is"], rows)


def cost_table() -> str:
    """What comes first."""
    one, commit = medians("reads", "hot read", 1), medians("commits", "durable renewal, 1 caller")
    again = medians("reads", AGAIN)
    many = medians("commits", "durable renewal, 64 callers")
    growing = {
        work: statistics.median(
            sample["value"] for sample in samples("growth") if sample["name"] == work and sample["logins"] == 1_000_000)
        for work in ("read", "memory", "bytes", "open")}

    def times(values: dict[str, float], name: str) -> str:
        return short(values[name] / values["TokenVault"])

    rows = [
        ["reading a token again", f"{short(again['TokenVault'] / 1000)} µs",
         f"PostgreSQL with AES-GCM over loopback: {times(again, 'postgres-aesgcm')} times as long; sqlite3 with Fernet:"
         f" {times(again, 'sqlite-fernet')} times"],
        ["reading any token", f"{short(one['TokenVault'] / 1000)} µs with 100 000 logins, {short(growing['read'])} µs with a million",
         f"PostgreSQL with AES-GCM over loopback: {times(one, 'postgres-aesgcm')} times as long; sqlite3 with Fernet:"
         f" {times(one, 'sqlite-fernet')} times"],
        ["durable changes a second", f"{short(1e9 / commit['TokenVault'])} by one caller, {short(1e9 / many['TokenVault'])} by 64",
         f"PostgreSQL: {short(1e9 / commit['postgres-aesgcm'])} and {short(1e9 / many['postgres-aesgcm'])}"],
        ["a million logins", f"{short(growing['memory'])} MiB of memory, {short(growing['bytes'])} bytes a login on disk,"
         f" {short(growing['open'] / 1000)} ms to open and read", ""]]
    return "".join("| " + " | ".join(line) + " |\n" for line in [["", "TokenVault", "beside"], ["---"] * 3, *rows])


TABLES = (
    cost_table, reads_table, meeting_table, commits_table, thousand_table, opening_table, flight_table, day_table, growth_table, tick_table, upkeep_table,
    cells_table, server_table, serve_table, plain_table, goals_table, machine_table)
