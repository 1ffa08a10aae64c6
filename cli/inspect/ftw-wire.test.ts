// The CRS regression suite over real sockets: every stage's exact bytes through each listener of the data plane, the
// real compiled rules behind it, the suite's backend behind that; matches are read from the audit log. What a listener
// delivers must pass; what it does not deliver must be explained by its bytes. Rules and cases live outside the
// repository.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createFileCache, emitArtifact } from '#compiler';
import { findCrsOf, withoutVersion4 } from '#compiler/testing/core-rules';
import { automataCacheDirectory, sharedDirectory } from '../environment/directories.js';
import { loadRules } from '../rules/load-rules.js';
import { sections, undeliveredReasons } from '../testing/wire-stage.js';
import {
  exchange,
  startWirePlane,
  type AuditTransaction,
  type WireListener,
  type WirePlane,
  type WireReply,
} from '../testing/wire-plane.js';
import { judgeStage, type FtwOutput } from './ftw-judge.js';
import { readFtwCases, type FtwCase } from './ftw-suite.js';

const corpus = join(sharedDirectory(), 'corpora/ftw');
const connections = 48; // silent stages hold one each until `waitMs`
const waitMs = 1_500;
const patienceMs = 120_000; // the listener ends a connection that stands still after some ten seconds

/** Stages of the suite that the listener's library keeps from every handler, at most. */
const lostMax: Readonly<Record<WireListener, number>> = { net: 0, uws: 50, node: 19 };

interface SentStage {
  readonly id: string;
  readonly output: FtwOutput;
  readonly bytes: Buffer;
  readonly reply: WireReply;
}

/** Sends every case, its stages in order, `connections` at a time. */
async function sendAll(plane: WirePlane, cases: readonly FtwCase[]): Promise<SentStage[]> {
  const sent: SentStage[] = [];
  let next = 0;
  const run = async (): Promise<void> => {
    for (let test = cases[next++]; test !== undefined; test = cases[next++]) {
      for (const { output, wire_b64: wire } of test.stages) {
        const bytes = Buffer.from(wire, 'base64');
        sent.push({ id: test.id, output, bytes, reply: await exchange(plane.port, bytes, waitMs) });
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, run));
  return sent;
}

/**
 * Slow is not silent: a stage that had no answer in time is sent again, and now it is the listener that ends the wait.
 */
async function sendAgain(plane: WirePlane, sent: readonly SentStage[]): Promise<SentStage[]> {
  return Promise.all(
    sent.map(async (stage) =>
      stage.reply.outcome === 'silent'
        ? { ...stage, reply: await exchange(plane.port, stage.bytes, patienceMs) }
        : stage,
    ),
  );
}

/** One line per message, with the fields that the suite's expressions look at; line breaks in data do not end it. */
function logLines({ messages }: AuditTransaction): string[] {
  return messages.map(({ message, details }) =>
    `ModSecurity: ${details.match} [id "${details.ruleId}"] [msg "${message}"] [data "${details.data}"]`.replace(
      /[\x00-\x1f]/g,
      (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
    ),
  );
}

function judge(stage: SentStage, audited: ReadonlyMap<string, AuditTransaction>): string | null {
  const { reply, output } = stage;
  const transaction = audited.get(reply.requestId ?? '') ?? { messages: [] };
  return judgeStage(output, {
    hasTransportError: reply.outcome !== 'answered',
    status: reply.status,
    response: reply.text,
    logLines: logLines(transaction),
    ids: transaction.messages.map(({ details }) => Number(details.ruleId)),
  });
}

/** What Node's own parser refuses, found out apart from this program. */
function nodeRejects(): ReadonlySet<string> {
  return new Set(
    (
      JSON.parse(readFileSync(join(corpus, 'node-http-rejects.json'), 'utf8')) as { rejects: { id: string }[] }
    ).rejects.map(({ id }) => id),
  );
}

function report(
  t: Test,
  listener: WireListener,
  plane: WirePlane,
  sent: readonly SentStage[],
  audited: ReadonlyMap<string, AuditTransaction>,
): void {
  const isDelivered = ({ reply }: SentStage): boolean =>
    reply.requestId !== null && plane.forwarded.has(reply.requestId);
  const delivered = sent.filter(isDelivered);
  const failures = delivered.flatMap((stage) => {
    const reason = judge(stage, audited);
    return reason === null ? [] : [`${stage.id}: ${reason}`];
  });
  const lost = sent
    .filter((stage) => !isDelivered(stage))
    .map((stage) => ({ ...stage, reasons: undeliveredReasons(stage.bytes, listener) }));
  const classes = new Map<string, string[]>();
  for (const { id, reply, reasons } of lost) {
    const status = `${reply.status}${reply.requestId === null ? ' by the library' : ''}`;
    const key = `${reasons.join(', ') || 'UNEXPLAINED'} → ${reply.outcome === 'answered' ? status : reply.outcome}`;
    classes.set(key, [...(classes.get(key) ?? []), id]);
  }
  t.same(failures, [], 'everything delivered passes');
  t.same(
    lost
      .filter(({ reasons }) => reasons.length === 0)
      .map(({ id, reply }) => `${id}: ${reply.outcome} ${reply.status}`),
    [],
    'what is not delivered is explained by its bytes',
  );
  const byLibrary = lost.filter(({ reply }) => reply.requestId === null);
  t.ok(
    byLibrary.length <= lostMax[listener],
    `${sent.length - byLibrary.length} of ${sent.length} stages reach the handler ` +
      `(${(100 - (100 * byLibrary.length) / sent.length).toFixed(2)} %), ${delivered.length} the rules and the backend`,
  );
  if (listener === 'node')
    t.same(
      byLibrary.map(({ id }) => id).filter((id) => !nodeRejects().has(id)),
      [],
      'node:http refuses what it is known to refuse, nothing else',
    );
  for (const reason of new Set(lost.flatMap(({ reasons }) => reasons))) t.comment(`${reason}: ${sections[reason]}`);
  for (const [key, ids] of [...classes].sort()) t.comment(`not delivered, ${key}: ${ids.length} (${ids.join(' ')})`);
}

const crs = findCrsOf('4');
const withoutCorpus = existsSync(join(corpus, 'cases.jsonl'))
  ? false
  : 'needs ../shared/corpora/ftw (GATEHOUSE_SHARED names another place)';
const skip = withoutVersion4 || withoutCorpus;
t.setTimeout(3_600_000); // bin/test.mjs has the limit that counts
t.test('CRS regression suite over the wire', { skip }, async (t) => {
  const setup = join(corpus, 'ci-setup');
  const { program } = loadRules([
    join(setup, 'modsecurity.ci.conf'),
    join(setup, 'crs-setup.ci.conf'),
    join(crs ?? '', 'rules/*.conf'),
  ]);
  const { bytes } = await emitArtifact(program, { cache: createFileCache(automataCacheDirectory()) });
  const cases = readFtwCases(join(corpus, 'cases.jsonl'));
  for (const listener of ['net', 'uws', 'node'] as const) {
    await t.test(listener, async (t) => {
      const plane = await startWirePlane(listener, bytes);
      const sent = await sendAgain(plane, await sendAll(plane, cases));
      const audited = await plane.finish();
      t.ok(sent.length >= 3382, `${sent.length} stages sent`);
      report(t, listener, plane, sent, audited);
    });
  }
});
