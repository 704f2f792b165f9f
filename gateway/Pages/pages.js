// The two pages that show the API: /docs tries calls, /redoc explains them.
// What comes from the document or from an answer becomes text nodes and attribute values, never markup.

const page = document.body.dataset.page;
const main = document.querySelector("main");
const PLAIN = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
let spec = {};

// Elements

/** `el("p.hint", { id }, "words", otherElement)`; what is missing or false is left out. */
function el(name, ...children) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElement(tag);
  node.classList.add(...classes);
  const attributes = children[0]?.constructor === Object ? children.shift() : {};
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value !== false && value != null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}

/** Text with `code` in backticks. */
const inline = (text) => String(text ?? "").split(/(`[^`\n]+`|\n)/).map((part) =>
  part === "\n" ? el("br") : /^`.+`$/.test(part) ? el("code", part.slice(1, -1)) : part);

const prose = (text) =>
  text && el("div.prose", String(text).trim().split(/\n\s*\n/).map((part) => el("p", inline(part))));

const joined = (list, between) => list.flatMap((item, index) => (index ? [between, item] : [item]));

const dotted = (list) => list.length > 0 && el("p.facts", joined(list, " · "));

const button = (words, click) => el("button", { type: "button", click }, words);

/** A disclosure whose inside is built when it is first opened: recursion ends with the reader's patience. */
function disclosure(name, summary, build) {
  const node = el(`details.${name}`, el("summary", summary));
  node.addEventListener("toggle", () => node.open && node.children.length === 1 && node.append(el("div", build())));
  return node;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Over plain HTTP there is no clipboard.
    const area = el("textarea", text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

const codeBlock = (title, content, text) => el("figure",
  el("figcaption", el("span", title), button("Copy", async ({ target }) => {
    await copy(text());
    target.textContent = "Copied";
  })),
  el("pre", { tabindex: 0 }, content));

/** JSON indented and coloured; its numbers stay as they were written, however long. */
function coloured(text) {
  try { JSON.parse(text); } catch { return text; }
  const tokens = text.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g);
  const line = (depth) => `\n${"  ".repeat(depth)}`;
  let depth = 0;
  return tokens.map((token, index) => {
    const next = tokens[index + 1];
    if (/^[{[]$/.test(token)) return /^[}\]]$/.test(next) ? token : token + line(++depth);
    if (/^[}\]]$/.test(token)) return /^[{[]$/.test(tokens[index - 1]) ? token : line(--depth) + token;
    if (token === ",") return token + line(depth);
    if (token === ":") return ": ";
    return el(token[0] !== '"' ? "span.literal" : next === ":" ? "span.key" : "span.string", token);
  });
}

const written = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "");
const onOneLine = (value) => (typeof value === "string" ? value : JSON.stringify(value) ?? "");

const sampleBlock = (title, value) => codeBlock(title, coloured(written(value)), () => written(value));

/** Panes `[title, build]`, of which one is shown. */
function tabs(name, panes) {
  const panel = el("div");
  const buttons = panes.map(([title], index) => button(title, () => show(index)));
  const show = (chosen) => {
    buttons.forEach((each, index) => each.setAttribute("aria-pressed", index === chosen));
    panel.replaceChildren(panes[chosen][1]());
  };
  show(0);
  return el("div.tabs", { role: "group", "aria-label": name }, buttons, panel);
}

// The document

const anchor = (kind, name) => `#${kind}/${encodeURIComponent(name)}`;

/** What a `$ref` points to; words beside the reference win. */
function resolve(node, seen = []) {
  if (typeof node?.$ref !== "string") return Object(node);
  const { $ref, ...beside } = node;
  const keys = decodeURI($ref).split("/").slice(1).map((key) => key.replace(/~1/g, "/").replace(/~0/g, "~"));
  const target = $ref.startsWith("#/") && !seen.includes($ref)
    && keys.reduce((at, key) => (at && Object.hasOwn(at, key) ? at[key] : undefined), spec);
  if (!target) return { description: `The reference \`${$ref}\` leads nowhere.`, ...beside };
  return { ...resolve(target, [...seen, $ref]), ...beside };
}

/** A schema with its references followed and its `allOf` poured together. */
function shape(schema, seen = []) {
  if (schema === false) return { description: "Nothing is valid here." };
  const { allOf = [], ...own } = resolve(schema);
  const parts = allOf.filter((part) => !seen.includes(part.$ref)).map((part) => shape(part, [...seen, part.$ref]));
  return [...parts, own].reduce((whole, part) => {
    const merged = { ...whole, ...part };
    if (whole.properties && part.properties) merged.properties = { ...whole.properties, ...part.properties };
    if (whole.required && part.required) merged.required = [...whole.required, ...part.required];
    return merged;
  });
}

const entries = (map) => Object.entries(map ?? {});
const types = (s) => [].concat(s.type ?? (s.properties || s.additionalProperties ? "object" : s.items ? "array" : []));
const isNull = (schema) => schema.type === "null";
const alternatives = (s) => s.oneOf ?? s.anyOf ?? [];
const choices = (s) => alternatives(s).filter((each) => !isNull(each));

/** The type in words; in the reference the names of schemas are links. */
function label(schema, depth = 0) {
  if (depth > 3) return ["…"];
  const s = shape(schema);
  const name = schema?.$ref?.match(/^#\/components\/schemas\/([^/]+)$/)?.[1];
  const options = choices(s);
  const plain = types(s).filter((type) => type !== "null");
  const orNull = types(s).includes("null") || s.nullable || alternatives(s).some(isNull) ? [" or null"] : [];
  if (name && (s.properties || options.length > 1)) {
    return [page === "redoc" ? el("a", { href: anchor("schema", name) }, name) : name, ...orNull];
  }
  if (options.length) return [...joined(options.map((each) => label(each, depth + 1)), " or "), ...orNull];
  if (plain.includes("array") && s.items) return ["array of ", label(s.items, depth + 1), ...orNull];
  return [plain.join(" or ") || (!s.enum && "anything"), s.format && ` · ${s.format}`, ...orNull];
}

/** The rules of a schema, each in a word or two. */
function facts(s, example) {
  const item = shape(s.items);
  const code = (value) => el("code", onOneLine(value));
  const range = (low, high, unit) => (low === undefined && high === undefined ? false
    : (low === undefined ? `≤ ${high}` : high === undefined ? `≥ ${low}` : `${low} … ${high}`) + unit);
  return [
    s.enum && [s.enum.length > 1 ? "one of " : "always ", joined(s.enum.map(code), ", ")],
    "const" in s && ["always ", code(s.const)],
    range(s.minimum, s.maximum, ""),
    s.exclusiveMinimum !== undefined && `> ${s.exclusiveMinimum}`,
    s.exclusiveMaximum !== undefined && `< ${s.exclusiveMaximum}`,
    range(s.minLength, s.maxLength, " characters"),
    range(s.minItems, s.maxItems, " items"),
    s.pattern && ["matches ", code(s.pattern)],
    "default" in s && ["default ", code(s.default)],
    example !== undefined && ["example ", code(example)],
    s.readOnly && "only in answers",
    s.writeOnly && "only in requests",
    ...(s.items && !item.items ? facts(item).map((fact) => ["each ", fact]) : []),
  ].filter(Boolean);
}

/** The fields of an object. */
const fieldsOf = (s) => entries(s.properties).map(([name, sub]) =>
  ({ name, sub, required: Array.isArray(s.required) && s.required.includes(name) }));

/** What is inside a schema: fields, alternatives. An array shows the inside of its items. */
function branches(schema, depth = 0) {
  if (depth > 3) return [];
  const s = shape(schema);
  const rows = fieldsOf(s);
  const options = choices(s);
  const rest = s.additionalProperties;
  if (Object(rest) === rest) rows.push({ note: rows.length ? "any other key" : "any key", sub: rest });
  if (s.items) rows.push(...branches(s.items, depth + 1));
  if (options.length === 1) rows.push(...branches(options[0], depth + 1));
  else rows.push(...options.map((sub, index) => ({ note: `option ${index + 1}`, sub })));
  return rows;
}

const required = (is) => is && el("span.required", "required");
const deprecation = (is) => is && el("span.tag", "deprecated");

const headline = ({ name, note, sub, place, ...row }) => [
  name === undefined ? el("em", note) : el("code.name", name), el("span.type", label(sub), place && ` · ${place}`),
  required(row.required), deprecation(row.deprecated || shape(sub).deprecated),
];

function rowView(row, trail) {
  const s = shape(row.sub);
  const inside = branches(row.sub);
  const ref = row.sub?.$ref ?? s.items?.$ref ?? (choices(s).length === 1 ? choices(s)[0].$ref : undefined);
  const kind = inside[0]?.note?.startsWith("option") ? "options" : inside.length > 1 ? "fields" : "field";
  return el("li",
    el("div.field", headline(row), trail.includes(ref) && el("span.tag", "recursive")),
    prose(row.description ?? s.description), dotted(facts(s, row.example)),
    inside.length > 0 && disclosure("inside", `${inside.length} ${kind}`, () => rowList(inside, [...trail, ref])));
}

const rowList = (rows, trail = [null]) =>
  rows.length > 0 && el("ul.tree", rows.map((row) => rowView(row, trail.filter(Boolean))));

const schemaView = (schema = {}) => [
  el("p.type", label(schema)), prose(shape(schema).description), dotted(facts(shape(schema))),
  rowList(branches(schema), [schema.$ref]),
];

const FORMATS = {
  "date-time": "2026-01-31T12:00:00Z", date: "2026-01-31", email: "robin@example.com", uri: "https://example.com",
  uuid: "01a1fd2c-bd4b-7c1e-8a42-5d3f0b9e6a17",
};

/** A value that the schema would allow, from its own examples where it has some. */
function sample(schema, hidden = "readOnly", trail = []) {
  const ref = schema?.$ref;
  if (ref && trail.includes(ref)) return undefined;
  const s = shape(schema);
  const given = s.example ?? s.examples?.[0] ?? s.default ?? s.const ?? s.enum?.[0];
  if (given !== undefined) return given;
  const deeper = (sub) => sub && sample(sub, hidden, [...trail, ref]);
  const choice = deeper(choices(s)[0]);
  const type = types(s).find((each) => each !== "null");
  if (type === "object") {
    const fields = entries(s.properties).filter(([, sub]) => !shape(sub)[hidden]);
    if (!fields.length && s.additionalProperties) fields.push(["key", s.additionalProperties]);
    const all = [...fields.map(([key, sub]) => [key, deeper(sub)]), ...entries(choice)];
    return Object.fromEntries(all.filter(([, value]) => value !== undefined));
  }
  if (choice !== undefined) return choice;
  if (type === "array") return [deeper(s.items)].filter((item) => item !== undefined);
  if (type === "string") return FORMATS[s.format] ?? "text";
  if (type === "boolean") return true;
  return type ? s.minimum ?? (s.exclusiveMinimum ?? -1) + 1 : null;
}

/** The examples of a body as `[name, value]`; made up when the document has none. */
function examples({ examples: named, example, schema }, hidden) {
  if (named) return entries(named).map(([name, each]) => [name, resolve(each).value]);
  return [["Example", example === undefined ? sample(schema, hidden) : example]];
}

function parameterOf(raw) {
  const one = resolve(raw);
  const sub = one.schema ?? Object.values(one.content ?? {})[0]?.schema ?? {};
  const named = Object.values(one.examples ?? {})[0];
  const example = one.example ?? resolve(named).value ?? shape(sub).example ?? shape(sub).examples?.[0];
  return { ...one, sub, example, place: one.in, required: one.required || one.in === "path" };
}

/** The value of a field of a form; lists have a line for each item. */
const asText = (value) => (Array.isArray(value) ? value.map(onOneLine).join("\n") : onOneLine(value));

function readOperations() {
  const taken = new Set();
  return entries(spec.paths).flatMap(([path, raw]) => {
    const item = resolve(raw);
    const methods = ["get", "post", "put", "patch", "delete", "head", "options"].filter((method) => item[method]);
    return methods.map((method) => {
      const own = item[method];
      let id = (own.operationId ?? method + path).replace(/\s+/g, "-");
      while (taken.has(id)) id += "-2";
      taken.add(id);
      const parameters = [...(item.parameters ?? []), ...(own.parameters ?? [])].map(parameterOf);
      const title = own.summary ?? own.operationId ?? path;
      const tag = own.tags?.[0] ?? "Other";
      return {
        ...own, id, method, path, title, tag,
        parameters: [...new Map(parameters.map((each) => [`${each.in} ${each.name}`, each])).values()],
        body: resolve(own.requestBody),
        responses: entries(own.responses).map(([status, each]) => [status, resolve(each)]),
        servers: own.servers ?? item.servers,
        ways: (own.security ?? spec.security ?? []).map((way) => schemes().filter(({ key }) => key in way)),
        words: [method, path, title, id, tag, own.description].join(" ").toLowerCase(),
      };
    });
  });
}

/** Operations by their first tag, in the order of the document's tags. */
function groups(operations) {
  const descriptions = new Map((spec.tags ?? []).map((tag) => [tag.name, tag.description]));
  return [...new Set([...descriptions.keys(), ...operations.map(({ tag }) => tag)])]
    .map((name) => ({ name, description: descriptions.get(name), list: operations.filter(({ tag }) => tag === name) }))
    .filter(({ list }) => list.length);
}

/** The addresses of servers, without a slash at the end. */
const addresses = (servers = []) => servers.flatMap(({ url = "/", variables = {} }) => {
  const filled = url.replace(/{(\w+)}/g, (all, name) => variables[name]?.default ?? all);
  return URL.canParse(filled, location.origin) ? [new URL(filled, location.origin).href.replace(/\/$/, "")] : [];
});

const isHere = (address) => new URL(address).origin === location.origin;

// Credentials: forgotten with the tab.

const schemes = () => entries(spec.components?.securitySchemes).map(([key, scheme]) => ({ ...resolve(scheme), key }));
const isKey = (scheme) => scheme.type === "apiKey";
const schemeTitle = (scheme) => (isKey(scheme) ? scheme.name : "Bearer token");
const wayTitle = (way) => way.map(schemeTitle).join(" and ") || "No credentials";

let secrets = {};
try { secrets = JSON.parse(sessionStorage.credentials); } catch { /* none yet, or no storage */ }

function keep(scheme, value) {
  secrets[scheme.key] = value;
  try { sessionStorage.credentials = JSON.stringify(secrets); } catch { /* for this visit only */ }
  document.dispatchEvent(new Event("credentials"));
}

// Requests

/** `valueOf` gives the text of a parameter; `body` is `{ mime, text }`, or `{ mime, fields }` for a form. */
function compose(operation, base, valueOf, credentials, body) {
  const headers = [];
  const query = [];
  let path = operation.path;
  for (const parameter of operation.parameters) {
    const text = valueOf(parameter);
    if (!text) continue;
    const list = types(shape(parameter.sub)).includes("array") ? text.split("\n") : [text];
    const { name } = parameter;
    if (parameter.in === "path") path = path.replaceAll(`{${name}}`, () => list.map(encodeURIComponent).join());
    if (parameter.in === "header") headers.push([name, list.join()]);
    if (parameter.in !== "query") continue;
    query.push(...(parameter.explode === false ? [list.join()] : list).map((item) => [name, item]));
  }
  for (const [scheme, value] of credentials) {
    if (scheme.in === "query") query.push([scheme.name, value]);
    else headers.push(isKey(scheme) ? [scheme.name, value] : ["Authorization", `Bearer ${value}`]);
  }
  if (body?.text) headers.push(["Content-Type", body.mime]);
  const search = query.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
  return { method: operation.method.toUpperCase(), url: base + path + (search && `?${search}`), headers, body };
}

function payload(body) {
  if (!body?.fields) return body?.text;
  const form = new FormData();
  for (const [name, value] of body.fields) form.append(name, value);
  return form;
}

function curl({ method, url, headers, body }) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  return [
    `curl ${{ GET: "", HEAD: "-I " }[method] ?? `-X ${method} `}${quoted(url)}`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body?.text ? [`--data-raw ${quoted(body.text)}`] : []),
    ...(body?.fields ?? []).map(([name, value]) =>
      (value.name ? `-F ${quoted(`${name}=@${value.name}`)}` : `--form-string ${quoted(`${name}=${value}`)}`)),
  ].join(" \\\n  ");
}

function swift({ method, url, headers, body }) {
  const quoted = JSON.stringify;
  return [
    `var request = URLRequest(url: URL(string: ${quoted(url)})!)`,
    ...(method === "GET" ? [] : [`request.httpMethod = ${quoted(method)}`]),
    ...headers.map(([name, value]) => `request.setValue(${quoted(value)}, forHTTPHeaderField: ${quoted(name)})`),
    ...(body?.text ? ['request.httpBody = Data(#"""', body.text.replace(/^/gm, "  "), '  """#.utf8)'] : []),
    "let (data, response) = try await URLSession.shared.data(for: request)",
  ].join("\n");
}

const isForm = (mime) => mime.startsWith("multipart/");

/** The fields of a form, and whether each is a file. */
const formFields = (media) => fieldsOf(shape(media.schema)).map((row) => {
  const item = shape(shape(row.sub).items ?? row.sub);
  const mime = media.encoding?.[row.name]?.contentType ?? item.contentMediaType ?? "";
  const file = item.format === "binary" || /^(image|audio|video|application\/(?!json))/.test(mime);
  return { ...row, file, example: file ? undefined : media.example?.[row.name] ?? sample(row.sub) };
});

// Parts of both pages

const badge = (method) => el(`span.method.${method}`, method.toUpperCase());

/** A path that may wrap at its slashes. */
const pathView = (path) => el("code.path", path.split(/(?=\/)/).map((part) => [el("wbr"), part]));

const lock = () => el("span.lock", { role: "img", "aria-label": "needs credentials" });

const bodyTitle = (mime, body) =>
  [el("h4", "Body", el("span.type", mime), required(body.required)), prose(body.description)];

const responsesView = ({ responses }) => responses.map(([status, { description, headers, content }]) => {
  const title = [el(/^[23]/.test(status) ? "strong.good" : "strong.bad", status), el("span", inline(description))];
  const rows = entries(headers).map(([name, raw]) => ({ ...parameterOf(raw), name }));
  if (!headers && !content) return el("p.response", title);
  return disclosure("response", title, () => [
    entries(content).map(([mime, media]) => [
      el("h5", mime), schemaView(media.schema),
      examples(media, "writeOnly").map(([name, value]) => sampleBlock(name, value)),
    ]),
    headers && [el("h5", "Headers"), rowList(rows)],
  ]);
});

/** A field that hides the rows `{ node, group, words }` that lack one of its words. */
function filterBox(rows) {
  const none = el("p.empty", { hidden: true, role: "status" }, "Nothing fits the filter.");
  const input = ({ target }) => {
    const words = target.value.toLowerCase().split(/\s+/);
    for (const row of rows) row.node.hidden = !words.every((word) => row.words.includes(word));
    for (const { group } of rows) {
      group.hidden = rows.every((row) => row.group !== group || row.node.hidden);
      group.open ||= target.value !== "";
    }
    none.hidden = rows.some((row) => !row.node.hidden);
  };
  const attributes = { type: "search", id: "filter", placeholder: "Filter", "aria-label": "Filter", ...PLAIN };
  return [el("input", { ...attributes, input }), none];
}

const intro = () => el("header.intro",
  el("h1", spec.info?.title ?? "API", " ", el("small", spec.info?.version)), prose(spec.info?.description));

// /docs

/** A labelled control for a parameter or a field of a form. What is required starts with its example. */
function control(prefix, row) {
  const id = `${prefix}-${row.name}`;
  const s = shape(row.sub);
  const several = types(s).includes("array");
  const options = s.enum ?? (types(s).includes("boolean") ? [true, false] : undefined);
  const hint = asText(row.example ?? (row.required ? sample(row.sub) : s.default));
  const value = row.required ? hint : "";
  const attributes = { id, ...PLAIN, placeholder: hint };
  const input = row.file ? el("input", { id, type: "file", multiple: several })
    : options ? el("select", { id }, [...(row.required ? [] : [""]), ...options].map(asText).map((option) =>
      el("option", { value: option, selected: option === value }, option || "—")))
      : several ? el("textarea", { ...attributes, rows: 2 }, value)
        : el("input", { ...attributes, value, required: row.place === "path" });
  const fill = () => {
    input.value = hint;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const view = el("div.control",
    el("label", { for: id }, headline(row)),
    el("div.input", input, input.placeholder && button("Example", fill)),
    prose(row.description ?? s.description), several && !row.file && el("p.facts", "One on each line."),
    dotted(facts({ ...s, enum: undefined })));
  return { ...row, input, view };
}

/** The editor of a request body: `view` to show, `read` to send. */
function bodyEditor(id, mime, media) {
  if (isForm(mime)) {
    const fields = formFields(media).map((row) => control(id, row));
    const values = ({ input }) => (input.files ? [...input.files] : [input.value].filter(Boolean));
    const read = () => ({ mime, fields: fields.flatMap((field) => values(field).map((value) => [field.name, value])) });
    return { view: fields.map(({ view }) => view), read };
  }
  const list = examples(media);
  const trouble = el("p.bad", { role: "status" });
  const check = () => {
    trouble.textContent = "";
    try { if (/json/.test(mime) && area.value.trim()) JSON.parse(area.value); } catch (error) {
      trouble.textContent = `Not JSON yet: ${error.message}`;
    }
  };
  const area = el("textarea.body", { ...PLAIN, "aria-label": "Body", rows: 8, input: check }, written(list[0][1]));
  const choose = ({ target }) => { area.value = written(list[target.value][1]); };
  const picker = list.length > 1 && el("select", { "aria-label": "Example", change: choose },
    list.map(([name], index) => el("option", { value: index }, name)));
  const view = [picker, area, trouble, disclosure("inside", "Schema", () => schemaView(media.schema))];
  return { view, read: () => (area.value.trim() ? { mime, text: area.value } : undefined) };
}

function operationForm(operation) {
  const { id, body } = operation;
  const sendable = operation.parameters.filter((row) => row.in !== "cookie");
  const parameters = sendable.map((row) => control(`${row.in}-${id}`, row));
  const media = entries(body.content)[0];
  const editor = media && bodyEditor(`body-${id}`, ...media);
  const ways = [...operation.ways, []];
  const picker = el("select", { id: `way-${id}`, input: () => { picker.chosen = true; } },
    ways.map((way, index) => el("option", { value: index }, wayTitle(way))));
  const missing = el("p.hint");
  const line = el("code");
  const send = el("button.primary", "Send");
  const status = el("p.status", { role: "status" });
  const answer = el("div");
  let abort;

  function request(masked) {
    const base = addresses(operation.servers)[0] ?? document.querySelector("#server").value;
    const values = new Map(parameters.map(({ name, place, input }) => [`${place} ${name}`, input.value.trim()]));
    const credentials = ways[picker.value].filter(({ key }) => secrets[key])
      .map((scheme) => [scheme, masked ? "***" : secrets[scheme.key]]);
    return compose(operation, base, ({ name, place }) => values.get(`${place} ${name}`), credentials, editor?.read());
  }

  /** Shows the curl line (only its copy has the secrets) and takes the first way in that is open. */
  function refresh() {
    const open = ways.findIndex((way) => way.length && way.every(({ key }) => secrets[key]));
    if (!picker.chosen) picker.value = Math.max(open, 0);
    const lacking = ways[picker.value].filter(({ key }) => !secrets[key]);
    missing.replaceChildren(...(lacking.length
      ? [el("a", { href: "#credentials" }, `Enter ${wayTitle(lacking)}`), ", or the call goes without."] : []));
    line.textContent = curl(request(true));
  }

  async function submit(event) {
    event.preventDefault();
    if (abort) return abort.abort();
    const say = (kind, ...words) => {
      status.className = `status ${kind}`;
      status.replaceChildren(...words);
    };
    const { method, url, headers, body: asked } = request();
    answer.replaceChildren();
    if (!isHere(url)) return say("bad", "This page may only call its own server; use the curl line for this one.");
    abort = new AbortController();
    send.textContent = "Cancel";
    say("", "Waiting for the answer …");
    const start = performance.now();
    try {
      const { signal } = abort;
      const response = await fetch(url, { method, headers, body: payload(asked), signal, cache: "no-store" });
      const blob = await response.blob();
      say(response.ok ? "good" : "bad", el("strong", `${response.status} ${response.statusText}`),
        ` · ${Math.round(performance.now() - start)} ms · ${blob.size.toLocaleString("en")} bytes`);
      answer.replaceChildren(...await answerView(operation, response, blob));
    } catch (error) {
      say("bad", error.name === "AbortError" ? "Cancelled." : `No answer: ${error.message}`);
    }
    abort = undefined;
    send.textContent = "Send";
  }

  const hurry = ({ key, metaKey, ctrlKey, currentTarget }) =>
    key === "Enter" && (metaKey || ctrlKey) && currentTarget.requestSubmit();

  document.addEventListener("credentials", refresh);
  refresh();
  return [
    prose(operation.description),
    el("p.hint", el("a", { href: `/redoc${anchor("operation", id)}` }, "Read the reference")),
    el("form", { input: refresh, change: refresh, submit, keydown: hurry },
      el("div",
        parameters.length > 0 && [el("h4", "Parameters"), parameters.map(({ view }) => view)],
        editor && [bodyTitle(media[0], body), editor.view],
        codeBlock("curl", line, () => curl(request()))),
      el("div",
        ways.length > 1 && el("div.control",
          el("label", { for: picker.id }, el("strong", "Send with")), picker, missing),
        el("div.send", send, status), answer)),
    el("h4", "Documented answers"), responsesView(operation),
  ];
}

async function answerView(operation, response, blob) {
  const mime = response.headers.get("content-type") ?? "";
  const documented = operation.responses.find(([status]) => status === String(response.status))?.[1];
  const view = [el("p.hint", documented ? inline(documented.description) : "This answer is not documented.")];
  if (!blob.size) view.push(el("p.hint", "The body is empty."));
  else if (/json|text|xml|^$/.test(mime)) {
    const text = await blob.text();
    const bearer = schemes().find((scheme) => !isKey(scheme));
    let token;
    try { token = bearer && JSON.parse(text).access_token; } catch { /* no token */ }
    view.push(codeBlock(mime, coloured(text), () => text));
    if (token) {
      view.push(button("Use as bearer token", ({ target }) => {
        document.getElementById(`credential-${bearer.key}`).value = token;
        keep(bearer, token);
        target.replaceWith("Calls are now sent with this token.");
      }));
    }
  } else view.push(el("a", { href: URL.createObjectURL(blob), download: "answer" }, `Save the body (${mime})`));
  const headers = [...response.headers];
  view.push(disclosure("inside", `${headers.length} headers`,
    () => el("dl", headers.map(([name, value]) => [el("dt", name), el("dd", value)]))));
  return view;
}

function credentialsView() {
  const urls = addresses(spec.servers);
  const bases = [...new Set([urls.find(isHere) ?? location.origin, ...urls])];
  const fields = schemes().map((scheme) => {
    const id = `credential-${scheme.key}`;
    const input = ({ target }) => keep(scheme, target.value.trim());
    const attributes = { id, ...PLAIN, placeholder: scheme.description ?? " ", value: secrets[scheme.key], input };
    return el("div.control", el("label", { for: id }, schemeTitle(scheme)), el("input.secret", attributes));
  });
  const change = () => document.dispatchEvent(new Event("credentials"));
  const server = el("div.control", { hidden: bases.length === 1 }, el("label", { for: "server" }, "Server"),
    el("select", { id: "server", change }, bases.map((url) => el("option", url))));
  return el("section.card", { id: "credentials", hidden: bases.length === 1 && !fields.length },
    el("div.grid", fields, server),
    el("p.hint", "Credentials are forgotten when this tab is closed, and go only to this server."));
}

function showDocs(operations) {
  const rows = [];
  const sections = groups(operations).map(({ name, description, list }) => {
    const group = el("details.group", { open: true },
      el("summary", el("h2", name), el("span.hint", inline(description))));
    for (const operation of list) {
      const { id, method, path, title, deprecated, ways, words } = operation;
      const node = disclosure(deprecated ? "operation.card.deprecated" : "operation.card", [
        badge(method), pathView(path), el("span.title", inline(title)),
        deprecation(deprecated), ways.some((way) => way.length) && lock(),
      ], () => operationForm(operation));
      node.id = `operation/${id}`;
      group.append(node);
      rows.push({ node, group, words });
    }
    return group;
  });
  main.replaceChildren(intro(), credentialsView(), ...filterBox(rows), ...sections);
}

// /redoc

function samplesView(operation) {
  const base = addresses(operation.servers)[0] ?? addresses(spec.servers)[0] ?? location.origin;
  const value = (row) => (row.required ? asText(row.example ?? sample(row.sub)) : "");
  const credentials = (operation.ways[0] ?? []).map((scheme) => [scheme, isKey(scheme) ? "KEY" : "ACCESS_TOKEN"]);
  const bodies = entries(operation.body.content).map(([mime, media]) => (isForm(mime)
    ? { mime, fields: formFields(media).map(({ name, file, example }) => [name, file ? { name } : asText(example)]) }
    : { mime, text: written(examples(media)[0][1]) }));
  const request = compose(operation, base, value, credentials, bodies[0]);
  const lines = (title, text) => [title, () => codeBlock("Request", text, () => text)];
  const answers = operation.responses.flatMap(([status, { content }]) => Object.values(content ?? {})
    .filter((media) => status[0] === "2" || media.example !== undefined || media.examples)
    .flatMap((media) => examples(media, "writeOnly").map(([name, item]) =>
      [media.examples ? `${status} ${name}` : status, () => sampleBlock("Answer", item)])));
  return el("div.shown",
    tabs("Request", [lines("curl", curl(request)), lines("Swift", swift(request))]),
    answers.length > 0 && tabs("Answers", answers));
}

function operationView(operation) {
  const { id, method, path, title, body, ways, parameters } = operation;
  const places = { path: "In the path", query: "In the query", header: "Headers", cookie: "Cookies" };
  return el("article", { id: `operation/${id}` },
    el("div",
      el("h3", inline(title), deprecation(operation.deprecated),
        el("a.anchor", { href: anchor("operation", id), "aria-label": "Link to this operation" }, "#")),
      el("p.endpoint", badge(method), pathView(path), el("a", { href: `/docs${anchor("operation", id)}` }, "Try it")),
      prose(operation.description),
      ways.length > 0 && el("p.facts", lock(), " ",
        joined(ways.map((way) => el("a", { href: "#credentials" }, wayTitle(way))), " or ")),
      entries(places).map(([place, words]) => {
        const rows = parameters.filter((row) => row.in === place).map((row) => ({ ...row, place: undefined }));
        return rows.length > 0 && [el("h4", words), rowList(rows)];
      }),
      entries(body.content).map(([mime, media]) => [bodyTitle(mime, body), schemaView(media.schema)]),
      el("h4", "Answers"), responsesView(operation)),
    samplesView(operation));
}

const schemaArticle = (name, schema) => el("article", { id: `schema/${name}` },
  el("div", el("h3", name), schemaView(shape(schema))),
  el("div.shown", sampleBlock("Example", sample(schema, "none"))));

const credentialsList = () => el("section", { id: "credentials" },
  addresses(spec.servers).map((url, index) => [!index && el("h4", "Servers"), el("p", el("code", url))]),
  schemes().length > 0 && el("h4", "Credentials"),
  el("ul.tree", schemes().map((scheme) => el("li",
    el("div.field", el("code.name", schemeTitle(scheme)),
      el("span.type", isKey(scheme) ? `in the ${scheme.in}` : "in the header Authorization")),
    prose(scheme.description)))));

function showReference(operations) {
  const nav = document.querySelector("#nav");
  const contents = document.querySelector("#contents");
  const schemas = Object.keys(spec.components?.schemas ?? {});
  const chapters = groups(operations).map(({ name, description, list }) => ({
    name, description, open: true, list: list.map((operation) => ({
      node: operationView(operation), words: operation.words,
      title: [badge(operation.method), el("span", inline(operation.title))],
    })),
  }));
  if (schemas.length) {
    chapters.push({ name: "Schemas", list: schemas.map((name) => ({
      node: schemaArticle(name, { $ref: `#/components/schemas/${name}` }), words: name.toLowerCase(), title: name,
    })) });
  }
  const rows = [];
  const links = chapters.map(({ name, open, list }) => {
    const group = el("details", { open }, el("summary", name));
    for (const { node: target, words, title } of list) {
      const node = el("a", { href: `#${encodeURI(target.id)}` }, title);
      group.append(node);
      rows.push({ node, group, words, target });
    }
    return group;
  });
  nav.replaceChildren(...filterBox(rows), ...links);
  main.replaceChildren(intro(), credentialsList(), ...chapters.flatMap(({ name, description, list }) =>
    [el("header.chapter", el("h2", name), prose(description) || ""), ...list.map(({ node }) => node)]));

  const toggle = (open) => {
    document.body.classList.toggle("contents", open);
    contents.setAttribute("aria-expanded", open);
  };
  contents.onclick = () => toggle(contents.ariaExpanded === "false");
  nav.onclick = ({ target }) => target.closest("a") && toggle(false);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && toggle(false));

  const observer = new IntersectionObserver((seen) => {
    const read = seen.find((entry) => entry.isIntersecting)?.target;
    if (!read) return;
    for (const { node, target } of rows) {
      node.setAttribute("aria-current", target === read && "location");
      const place = node.offsetTop - nav.scrollTop;
      const hidden = place < 0 || place > nav.clientHeight - 60;
      if (target === read && node.offsetParent && hidden) nav.scrollTop = node.offsetTop - nav.clientHeight / 2;
    }
  }, { rootMargin: "-15% 0px -80%" });
  for (const { target } of rows) observer.observe(target);
}

// Start

/** Opens and shows what the address names. */
function follow() {
  const node = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (node?.tagName === "DETAILS") node.open = true;
  node?.scrollIntoView();
}

async function load() {
  main.replaceChildren(el("p.empty", { role: "status" }, "Loading the document …"));
  try {
    const response = await fetch("/openapi.json", { cache: "no-store" });
    if (!response.ok) throw new Error(`the server answered ${response.status} ${response.statusText}`);
    spec = await response.json().catch(() => undefined);
    if (spec?.constructor !== Object) throw new Error("the answer is not an OpenAPI document");
    document.querySelector("#brand").textContent = spec.info?.title ?? "API";
    document.title = `${spec.info?.title ?? "API"} – ${page === "docs" ? "try it" : "reference"}`;
    const operations = readOperations();
    (page === "docs" ? showDocs : showReference)(operations);
    if (!operations.length) main.append(el("p.empty", "The document has no operations yet."));
  } catch (error) {
    main.replaceChildren(el("div.empty", { role: "alert" },
      el("h2", "The API’s description could not be shown"),
      el("p", `Its services may still be starting. The reason given: ${error.message}.`),
      el("button.primary", { click: load }, "Try again")));
  }
  follow();
}

addEventListener("hashchange", follow);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  document.querySelector("#filter")?.focus();
});
load();
