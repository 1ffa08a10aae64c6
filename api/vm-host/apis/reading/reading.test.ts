// The thread that reads specifications: nothing that is sent holds the thread that serves, or ends the process.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import t from 'tap';
import { ReadingThread } from './reading-thread.js';

t.setTimeout(300_000);

const head = 'openapi: 3.1.0\ninfo: {title: x, version: "1"}\n';
/** Of about a megabyte, with members that have to be looked at. */
function large(): string {
  const lines = [`${head}paths:`];
  for (let at = 0; at < 1900; at++)
    lines.push(
      `  /things${at}/{id}:`,
      '    parameters: [{name: id, in: path, required: true, schema: {type: string}}]',
      '    post:',
      '      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Big"}}}}',
      '      responses:',
      '        "200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Big"}}}}',
    );
  lines.push('components:', '  schemas:', '    Big:', '      type: object', '      properties:');
  for (let at = 0; at < 2000; at++)
    lines.push(`        member${at}: {type: string, description: "${'x'.repeat(100)}"}`);
  return `${lines.join('\n')}\n`;
}

/** The longest time that this thread did not come round, in milliseconds. */
async function heldFor(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const began = process.cpuUsage();
  await work();
  delay.disable();
  t.comment(`${Math.round(process.cpuUsage(began).user / 1000)} ms of processor time`);
  return delay.max / 1e6;
}

t.test('a megabyte is read and looked at while others are served', async (t) => {
  const thread = new ReadingThread(120_000);
  t.teardown(() => thread.close());
  const text = large();
  t.ok(text.length > 700_000 && text.length < 1024 * 1024, `${text.length} characters`);
  const turns = { count: 0 };
  const clock = setInterval(() => turns.count++, 5);
  const held = await heldFor(async () => {
    await thread.with(async (ask) => {
      const read = await ask({ kind: 'read', text }, 'head');
      t.match(read.head, { title: 'x', operations: 1900 });
      const found = await ask({ kind: 'lint', sha256: read.head.sha256, body: text }, 'count');
      t.ok(found.total >= 1900, `${found.total} gaps`);
      const { gaps } = await ask({ kind: 'gaps', from: 0, count: 1000 }, 'gaps');
      t.equal(gaps.length, 1000);
    });
  });
  clearInterval(clock);
  t.ok(turns.count > 20, 'this thread had its turns');
  t.comment(`held for ${Math.round(held)} ms at most`);
});

t.test('hostile documents are refused, and the next one is read', async (t) => {
  const thread = new ReadingThread(60_000);
  t.teardown(() => thread.close());
  const bomb = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
  for (let at = 1; at < 12; at++)
    bomb.push(
      `a${at}: &a${at} [${Array(9)
        .fill(`*a${at - 1}`)
        .join(',')}]`,
    );
  const hostile: Readonly<Record<string, string>> = {
    'a YAML bomb': `${head}paths: {}\n${bomb.join('\n')}\n`,
    'nested brackets': '['.repeat(300_000),
    'nested braces': `{"a":`.repeat(200_000),
    'nested lists': '- '.repeat(300_000),
    'deep, and whole': `${head}x-a: ${'['.repeat(5000)}${']'.repeat(5000)}\npaths: {}\n`,
    'a circle of references': `${head}paths: {/a: {$ref: "#/paths/~1b"}, /b: {$ref: "#/paths/~1a"}}\n`,
    'an anchor within itself': `${head}paths: &p {/a: *p}\n`,
    'a reference to elsewhere': `${head}paths: {/a: {$ref: "https://elsewhere.example/x"}}\n`,
    'no operations': `${head}paths: {}\n`,
    'half a text': `${head}paths: [`,
    nothing: ' ',
  };
  for (const [what, text] of Object.entries(hostile))
    await thread.with(async (ask) => {
      const outcome = await ask({ kind: 'read', text }, 'problems').catch((error: Error) => error);
      const refusal = outcome instanceof Error ? outcome.message : outcome.problems[0]?.reason;
      t.ok(refusal, `${what}: ${refusal?.slice(0, 100)}`);
    });
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const odd = `${head}paths:\n${names
    .map(
      (name) =>
        `  /${name}/{${name}}:\n    parameters: [{name: ${name}, in: path, required: true, schema: {type: string}}]\n` +
        '    get: {responses: {"200": {description: x}}}\n',
    )
    .join('')}components: {securitySchemes: {__proto__: {type: http, scheme: basic}}}\n`;
  await thread.with(async (ask) => {
    const read = await ask({ kind: 'read', text: odd }, 'head');
    t.equal(read.head.operations, names.length, 'names of prototypes are names');
    const { total } = await ask({ kind: 'lint', sha256: read.head.sha256, body: odd }, 'count');
    t.ok(total >= names.length);
  });
  t.equal(({} as Record<string, unknown>)['scheme'], undefined);
});

t.test('what takes too long is ended; the next question gets another thread', async (t) => {
  const thread = new ReadingThread(20_000);
  const hasty = new ReadingThread(1);
  t.teardown(async () => {
    await thread.close();
    await hasty.close();
  });
  const question = (of: ReadingThread) => of.with(async (ask) => ask({ kind: 'read', text: large() }, 'head'));
  await t.rejects(question(hasty), { code: 'unfit', message: /took more than/ });
  await t.rejects(question(hasty), { code: 'unfit' }, 'again, by a new thread');
  const crowd = Array.from({ length: 40 }, async () =>
    thread
      .with(async (ask) => ask({ kind: 'read', text: ' ' }, 'problems'))
      .catch((error: { code?: string }) => error.code),
  );
  const outcomes = await Promise.all(crowd);
  t.equal(outcomes.filter((one) => one === 'busy').length, 24, 'of a crowd the first sixteen wait');
});

t.test('one place leaves room for the others, and does not keep them waiting', async (t) => {
  const thread = new ReadingThread(20_000);
  t.teardown(() => thread.close());
  const ended: string[] = [];
  const put = async (of: string): Promise<void> =>
    thread
      .with(async (ask) => ask({ kind: 'read', text: ' ' }, 'problems'), { of })
      .then(
        () => void ended.push(of),
        (error: { code?: string }) => void ended.push(`${of} ${error.code}`),
      );
  const crowd = [...Array.from({ length: 20 }, async () => put('greedy')), put('small'), put('other')];
  await Promise.all(crowd);
  t.equal(ended.filter((one) => one === 'greedy busy').length, 16, 'four of one place wait');
  t.same(
    ended.filter((one) => !one.endsWith('busy')),
    ['greedy', 'greedy', 'small', 'other', 'greedy', 'greedy'],
    'the others come after the one that was begun, and the one that was next',
  );
  const own = await Promise.all(
    Array.from({ length: 40 }, async () =>
      thread.with(async (ask) => ask({ kind: 'read', text: ' ' }, 'problems'), { isOwn: true }),
    ),
  );
  t.equal(own.length, 40, 'what the process asks itself is never refused');
  await put('small');
  t.equal(ended.at(-1), 'small', 'and nobody is counted for ever');
});
