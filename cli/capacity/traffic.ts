// The requests that a machine is measured with: a page, a search, a static file, a form and a JSON document in turn, as
// a browser sends them. Slots get fresh values in every request, because a firewall that remembers values would
// otherwise be measured at remembering.

const letters = 'abcdefghijklmnopqrstuvwxyz';
const alphabets = { d: '0123456789', h: '0123456789abcdef', a: letters } as const;
type Slot = { readonly alphabet: string; readonly length: number };

/** latin1 text of a request, with slots in between. */
export type Template = readonly (string | Slot)[];

/** `…{h:32}…` → pieces: d digits, h lower-case hex, a letters; always exactly so many bytes. */
function parse(text: string): Template {
  return text.split(/(\{[dha]:\d+\})/).map((part) => {
    const [, kind, length] = /^\{([dha]):(\d+)\}$/.exec(part) ?? [];
    return kind === undefined ? part : { alphabet: alphabets[kind as keyof typeof alphabets], length: Number(length) };
  });
}

const lengthOf = (template: Template): number => template.reduce((sum, piece) => sum + piece.length, 0);

const browser = [
  'Host: shop.example.com',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'Accept-Language: en-GB,en;q=0.7,de;q=0.3',
  'Accept-Encoding: gzip, deflate, br',
  'Referer: https://shop.example.com/products/{d:5}',
  'Cookie: session={h:32}; consent=all; visitor=v1.{d:9}.{d:10}; theme=light',
];

function compose(line: string, type: string | null = null, body = ''): Template {
  const content = parse(body);
  const extra = type === null ? [] : [`Content-Type: ${type}`, `Content-Length: ${lengthOf(content)}`];
  return [...parse(`${[`${line} HTTP/1.1`, ...browser, ...extra].join('\r\n')}\r\n\r\n`), ...content];
}

const templates: readonly Template[] = [
  compose('GET /'),
  compose('GET /search?q={a:6}+lamp+{d:4}&category=lamps&sort=price_desc&page={d:2}'),
  compose('GET /static/chunk-{h:12}.js'),
  compose(
    'POST /login',
    'application/x-www-form-urlencoded',
    'username={a:8}{d:3}%40example.org&password=Quiet-{a:6}-{d:3}&remember=1&token={h:24}',
  ),
  compose(
    'POST /api/orders',
    'application/json',
    '{"customer":{"id":4{d:5},"name":"{a:7} Example"},"items":[{"sku":"LA-{d:4}","qty":1,"price":64.9},' +
      '{"sku":"MU-1370","qty":4,"price":18.5}],"note":"leave it with {a:6} next door","gift":false}',
  ),
];

function fill({ alphabet, length }: Slot): string {
  let text = '';
  for (let at = 0; at < length; at += 1) text += alphabet[Math.floor(Math.random() * alphabet.length)] ?? '';
  return text;
}

/** The next request each time, whole, as latin1 text. */
export function createTraffic(): () => string {
  let next = 0;
  return () => {
    const template = templates[next] as Template;
    next = (next + 1) % templates.length;
    return template.map((piece) => (typeof piece === 'string' ? piece : fill(piece))).join('');
  };
}
