import t from 'tap';
import { createBodySink } from './empty-sink.js';
import { processText } from './text.js';

const limits = {
  argumentsMax: 100,
  jsonDepthMax: 10,
  noFilesBytesMax: 200,
  uploadFilesMax: 10,
  argumentSeparator: '&',
  parseXmlIntoArgs: false,
};

function read(body: string | Buffer) {
  const sink = createBodySink();
  const outcome = processText(Buffer.from(body), 'text/plain', sink, limits);
  const { names, values } = sink.argsPost;
  return { ...outcome, args: names.map((name, index) => `${name}=${values[index]}`) };
}

t.test('U2: text is a value, JSON is read as JSON besides, other bytes are opaque', async (t) => {
  const rows: readonly [string | Buffer, readonly string[]][] = [
    ['', []],
    ['a note', ['body=a note']],
    ['a\tb\r\nc', ['body=a\tb\r\nc']],
    ['\\u0041', ['body=\\u0041', 'body=A']],
    ['{"a":"b"}', ['json.a=b', 'body={"a":"b"}']],
    ['\ufeff \n[{"a":1}]', ['json.0.a=1']],
    ['{"a":"b"} and more', ['json.a=b']],
    ['{"a":"b"}\u0000', ['json.a=b']],
    ['{"a":', []],
    [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a]), []],
    [Buffer.from([0, 1, 2]), []],
    [Buffer.from('x\u007fy'), []],
  ];
  for (const [body, args] of rows) {
    const got = read(body);
    t.equal(got.error, null, JSON.stringify(body));
    for (const arg of args) t.ok(got.args.includes(arg), `${JSON.stringify(body)}: ${arg} in ${got.args.join(' | ')}`);
    if (args.length === 0)
      t.same(
        got.args.filter((arg) => !arg.startsWith('body={')),
        [],
      );
  }
});

t.test('U2: what is too long is refused where it looks like JSON, else looked at in part', async (t) => {
  const json = read(`{"a":"${'x'.repeat(300)}"}`);
  t.not(json.error, null);
  t.ok(json.truncated);
  const text = read('x'.repeat(300));
  t.equal(text.error, null);
  t.ok(text.truncated);
  t.same(text.args, [`body=${'x'.repeat(200)}`]);
});
