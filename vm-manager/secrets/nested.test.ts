// Secrets in a document that stands in another document, in values of several lines, and in addresses written as forms.
import t from 'tap';
import { maskSecrets } from './mask.js';

const secret = 'Qz7vk-plmr9Tw';
/** Each way to write a text into another text, as tools and proxies do. */
const layers: Readonly<Record<string, (text: string) => string>> = {
  json: (text) => JSON.stringify({ body: text }),
  inner: (text) => JSON.stringify(text).slice(1, -1),
  numbers: (text) => text.replaceAll('"', '\\u0022').replaceAll(':', '\\u003a'),
  bytes: (text) => text.replaceAll('"', '\\x22'),
};
const documents: Readonly<Record<string, (value: string) => string>> = {
  member: (value) => `{"clientSecret":"${value}"}`,
  spaced: (value) => `{ "db_password" : "${value}" }`,
  manifest: (value) => `kind: Secret\nstringData:\n  a: ${value}\n\n  b: |-\n    ${value}\n    pw=${value}\nx: 1\n`,
};

t.test('22 Q5: a document in a document, up to four deep', async (t) => {
  const names = Object.keys(layers);
  for (const [name, make] of Object.entries(documents))
    for (const first of names)
      for (const second of names)
        for (const depth of [1, 2, 3, 4]) {
          let text = make(secret);
          for (let at = 0; at < depth; at++) text = layers[at === 0 ? first : second]?.(text) ?? '';
          t.notOk(maskSecrets(text).includes(secret), `${name}: ${text}`);
        }
});

t.test('22 Q5: nothing else of such a document changes', async (t) => {
  for (const text of [
    'C:\\\\new\\\\test\\\\x.ts',
    '{\\\\"name\\\\":\\\\"shop\\\\"}',
    '\\u0022colour\\u0022:\\u0022green\\u0022',
    'https://h.example/s?q=blue+shoes+for+eva&page=2',
    'stringData:\n  # of the shop\n\n  a: $(FOO)\nmetadata:\n  name: shop',
    'data:\n  text: |\n    hello there',
  ])
    t.equal(maskSecrets(text), text);
});

t.test('22 Q5: values of several lines', async (t) => {
  const manifest = (one: string, two: string): string =>
    `stringData:\n  # of the shop\n  app.yaml: |-\n    spring:\n      pass: ${one}\n    ${two}\n\n    other: ${one}\n` +
    `  b: >\n    ${two}\n  c: ${one}\nmetadata:\n  name: shop\n`;
  t.equal(maskSecrets(manifest(secret, 'blue horse lamp')), manifest('****', '****'));
});

t.test('22 N7: commands in an address, with either blank of forms', async (t) => {
  for (const command of [
    String.raw`net use z: \\srv\share /user:eva ${secret}`,
    String.raw`net use z: \\srv\share ${secret} /user:eva`,
    `curl -u eva:${secret} http://x`,
    `mysql -u root -p${secret} db`,
    `sshpass -p ${secret} ssh x`,
  ])
    for (const written of [
      encodeURIComponent(command),
      encodeURIComponent(command).replaceAll('%20', '+'),
      command.replaceAll(' ', '+'),
    ]) {
      const masked = maskSecrets(`https://h.example/run?a=1&cmd=${written}`);
      t.notOk(masked.includes(secret), masked);
      t.match(masked, 'https://h.example/run?a=1&cmd=');
    }
});
