// /sast and /secrets beyond their rules: the SARIF of a scan, a rule tried on a text, and a secret that was changed.
import { ApiError, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { visibleByApplication } from '../assets/resources.js';
import { requireFinding } from '../findings/store.js';
import { transition } from '../findings/transition.js';
import { endpoint, notFound, toId, toMoment, unfit, When, type Endpoint } from '../kit/endpoint.js';
import { scannerOf } from '../scanners/catalogue.js';
import { scanText } from '../scanners/run/text.js';
import { asOwn, asRule, ownRows } from './profile.js';
import { readSarif } from './sarif.js';

const closed = { additionalProperties: false } as const;
const languages = { javascript: 'js', typescript: 'ts', python: 'py', java: 'java', php: 'php', go: 'go' } as const;
type Language = keyof typeof languages;
const languageNames = Object.keys(languages) as Language[];

const sarif = endpoint({
  method: 'GET',
  path: '/sast/scans/:id/sarif',
  permission: 'view_code',
  kind: 'X',
  summary: 'A scan of source code as SARIF 2.1.0, with its flows; of the newest twenty of an application',
  mediaType: 'application/sarif+json',
  handle: async ({ sql, reach, params, reply }) => {
    const id = toId(params['id'] ?? '', 'scan');
    const [run] = await sql<{ id: number; status: string }[]>`
      select id, status from vm_runs where id = ${id} and kind = 'sast'
        and ${visibleByApplication('vm_runs')(sql, reach)}`;
    if (run === undefined) throw notFound('scan', id);
    const text = await readSarif(sql, run.id);
    if (text === null)
      throw new ApiError(
        'conflict',
        run.status === 'succeeded'
          ? 'The SARIF of this scan is not kept any more, or was larger than 16 MB: scan again.'
          : `The scan is ${run.status} and has no SARIF.`,
      );
    reply.header('content-disposition', `attachment; filename="sast-${run.id}.sarif"`);
    return text;
  },
});

const test = endpoint({
  method: 'POST',
  path: '/sast/rules/:id/test',
  permission: 'manage_code_rules',
  kind: 'B',
  reads: true,
  summary: 'Try a rule on a text: which lines it finds, beside those that are expected; nothing is stored',
  body: Type.Object(
    {
      code: Type.String({ minLength: 1, maxLength: 200_000 }),
      language: OneOf(languageNames),
      expected_lines: Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 1000, uniqueItems: true }),
    },
    { ...closed, examples: [{ code: 'evalTemplate(x)\n', language: 'javascript', expected_lines: [1] }] },
  ),
  answer: Type.Object({
    pass: Type.Boolean(),
    found: Type.Array(Type.Object({ line: Type.Integer(), message: Type.String() })),
    missing: Type.Array(Type.Integer()),
    unexpected: Type.Array(Type.Integer()),
    problems: Type.Array(Type.String({ description: 'what was not read: then it does not pass' })),
  }),
  handle: async ({ sql, params, body }) => {
    const id = params['id'] ?? '';
    const own = await ownRows(sql, 'sast');
    const scanner = { ...scannerOf('sast'), rules: [...scannerOf('sast').rules, ...own.map(asRule)] };
    if (!scanner.rules.some((rule) => rule.id === id)) throw notFound('rule', id.slice(0, 80));
    const result = await scanText(`code.${languages[body.language]}`, body.code, [scanner], {
      rules: own.filter((row) => row.rule_id === id).map(asOwn),
      allowed: [],
    });
    if (result === null) throw new ApiError('busy', 'Other texts are being looked at; try again in a moment.');
    const found = result.results.flatMap(({ findings }) => findings.filter(({ rule }) => rule === id));
    const lines = new Set(found.map(({ line }) => line));
    const missing = body.expected_lines.filter((line) => !lines.has(line));
    const unexpected = [...lines].filter((line) => !body.expected_lines.includes(line));
    const problems = result.results.flatMap(({ faultReasons }) => faultReasons);
    return {
      pass: missing.length + unexpected.length + problems.length === 0 && result.stopped === null,
      found: found.map(({ line, message }) => ({ line, message })),
      ...{ missing, unexpected, problems },
    };
  },
});

const rotated = endpoint({
  method: 'POST',
  path: '/secrets/:vuln_id/rotated',
  permission: 'triage_findings',
  kind: 'S',
  summary:
    'Say that a secret was changed where it was issued, and how that is known: its finding waits for the next scan',
  body: Type.Object(
    {
      proof: Type.String({ minLength: 3, maxLength: 4000, description: 'a ticket, the number of the new key' }),
      rotated_at: Type.Optional(When),
    },
    { ...closed, examples: [{ proof: 'OPS-113: revoked, new key 7' }] },
  ),
  answer: Type.Object({ vuln_id: Type.String(), status: Type.String() }),
  handle: async (call) => {
    const { body, now, caller } = call;
    const at = body.rotated_at === undefined ? now : toMoment(body.rotated_at, '/rotated_at');
    if (at > now) throw unfit('/rotated_at', 'is to come', 'name when it was changed');
    const row = await call.audited(
      'vm.transition',
      (made: { readonly id: number }) => `marked the secret of the finding ${made.id} as changed`,
      async (tx) => {
        const before = await requireFinding(tx, call.reach, call.params['vuln_id'] ?? '', true);
        if (before.source !== 'secret') throw new ApiError('conflict', 'The finding is about no secret.');
        const reason = `Changed ${at.toISOString()}: ${body.proof}`;
        // that it had to be changed says that it was one
        const isNew = before.status === 'new' || before.status === 'reopened';
        const row = isNew
          ? await transition(tx, before, { to: 'confirmed', by: 'person', reason }, caller.actor, now)
          : before;
        return transition(tx, row, { to: 'fix_pending', by: 'person', reason }, caller.actor, now);
      },
      () => body,
    );
    return { vuln_id: String(row.id), status: row.status };
  },
});

export const moreCodeEndpoints: readonly Endpoint[] = [sarif, test, rotated];
