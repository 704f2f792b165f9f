extension InvitePageHTML {
  /// The page's only style sheet: the content security policy allows it by its hash and nothing else.
  static let style = """
    :root{color-scheme:light dark;--ground:#f2f1f6;--card:#fff;--ink:#16151d;--soft:#5c5a66;--line:#e3e1ea;\
    --tint:#3d4fd8;--on:#fff;--wash:#e9ebfd}
    @media(prefers-color-scheme:dark){:root{--ground:#0b0b0f;--card:#18181f;--ink:#f5f4f8;--soft:#a9a6b5;\
    --line:#2d2c37;--tint:#93a0ff;--on:#0f1130;--wash:#242742}}
    *{box-sizing:border-box;margin:0}
    html{-webkit-text-size-adjust:100%}
    body{min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;\
    justify-content:center;gap:1.5rem;background:var(--ground);color:var(--ink);\
    font:1.0625rem/1.5 -apple-system,BlinkMacSystemFont,"SF Pro Text",system-ui,"Segoe UI",Roboto,sans-serif;\
    padding:max(1.5rem,env(safe-area-inset-top)) 1.25rem max(1.5rem,env(safe-area-inset-bottom))}
    main{width:100%;max-width:24rem;background:var(--card);border:1px solid var(--line);border-radius:1.5rem;\
    padding:2.25rem 1.5rem 1.75rem;text-align:center;overflow-wrap:anywhere}
    .mark{width:5rem;height:5rem;margin:0 auto 1.25rem;border-radius:50%;display:grid;place-items:center;\
    background:var(--wash);color:var(--tint)}
    h1{font-size:1.625rem;line-height:1.2;font-weight:700;letter-spacing:-.01em;text-wrap:balance}
    .say{margin-top:.625rem;color:var(--soft);text-wrap:pretty}
    .code{margin-top:1.5rem;padding:.875rem;border-radius:1rem;background:var(--wash)}
    .label{display:block;font-size:.8125rem;color:var(--soft)}
    .letters{font:600 1.75rem/1.3 ui-monospace,SFMono-Regular,Menlo,monospace;letter-spacing:.16em;\
    margin-right:-.16em;-webkit-user-select:all;user-select:all}
    .spoken{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
    .actions{display:grid;gap:.75rem;margin-top:1.75rem}
    .button{display:block;padding:.875rem 1rem;border-radius:1rem;font-weight:600;text-decoration:none;\
    background:var(--tint);color:var(--on);border:1px solid var(--tint)}
    .second{background:transparent;color:var(--tint);border-color:var(--line)}
    .button:focus-visible{outline:3px solid var(--tint);outline-offset:3px}
    .button:active{opacity:.8}
    .until{margin-top:1.25rem;font-size:.875rem;color:var(--soft)}
    footer{font-size:.8125rem;color:var(--soft)}
    """
}
