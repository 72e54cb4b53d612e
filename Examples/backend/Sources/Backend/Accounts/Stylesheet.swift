/// How the pages look: in light and dark, wide and narrow, and with a keyboard.
enum Stylesheet {
    static let text = """
        :root { color-scheme: light dark; --page: #f4f6f9; --card: #fff; --line: #ccd3dd; --quiet: #566072;
          --accent: #1f5fd0; --on-accent: #fff; --good: #176b3a; --bad: #a33a00; --bad-back: #fff1e8; --ring: #1f5fd0; }
        @media (prefers-color-scheme: dark) { :root { --page: #15181d; --card: #1e2229; --line: #3d4552; --quiet: #a6b0c0;
          --accent: #8ab0fa; --on-accent: #10203f; --good: #7fd6a2; --bad: #ffb184; --bad-back: #3a2416; --ring: #a9c6ff; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: CanvasText; font: 16px/1.5 system-ui, sans-serif; }
        main { max-width: 44rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
        h1 { font-size: 1.6rem; margin: 0; line-height: 1.25; }
        h2 { font-size: 1.15rem; margin: 0; overflow-wrap: anywhere; }
        p { margin: .25rem 0 0; overflow-wrap: anywhere; }
        header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between;
          margin-bottom: 1.5rem; }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.25rem;
          margin: 0 0 1rem; }
        ul.accounts { list-style: none; margin: 0; padding: 0; }
        .top { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; justify-content: space-between; }
        .state { font-weight: 600; white-space: nowrap; }
        .state.good { color: var(--good); }
        .state.bad { color: var(--bad); }
        .quiet { color: var(--quiet); font-size: .925rem; }
        .why { background: var(--bad-back); border-radius: 8px; padding: .6rem .8rem; margin-top: .75rem; }
        .buttons { display: flex; flex-wrap: wrap; gap: .6rem; margin-top: 1rem; align-items: flex-start; }
        form.inline { display: contents; }
        button, .button, summary { display: inline-block; font: inherit; font-weight: 600; line-height: 1.4;
          padding: .45rem .9rem; border-radius: 8px; border: 1px solid var(--line); background: transparent;
          color: inherit; cursor: pointer; text-decoration: none; }
        button:hover, .button:hover, summary:hover { border-color: currentColor; }
        .primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
        .danger { color: var(--bad); }
        summary { list-style: none; }
        summary::-webkit-details-marker { display: none; }
        details[open] { flex-basis: 100%; }
        details form { margin-top: .75rem; }
        label { display: block; font-weight: 600; margin-bottom: .25rem; }
        .field { display: flex; flex-wrap: wrap; gap: .6rem; }
        input[type=text] { font: inherit; flex: 1 1 12rem; min-width: 0; padding: .45rem .65rem; border-radius: 8px;
          border: 1px solid var(--quiet); background: var(--page); color: CanvasText; }
        time { white-space: nowrap; }
        a:focus-visible, button:focus-visible, summary:focus-visible, input:focus-visible, [tabindex]:focus-visible {
          outline: 3px solid var(--ring); outline-offset: 2px; }
        .notice { border: 1px solid var(--line); border-left: 5px solid var(--accent); background: var(--card);
          border-radius: 8px; padding: .75rem 1rem; margin: 0 0 1.25rem; }
        .notice.bad { border-left-color: var(--bad); }
        .section { margin: 2rem 0 .75rem; }
        .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
          white-space: nowrap; }
        """
}
