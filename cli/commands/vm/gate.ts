// `gatehouse gate`: a step of a pipeline. It sends the reports of its tools where there are any, asks whether the
// commit may go on, writes the answer for people and as JUnit, SARIF and JSON, and ends with the pipeline's exit code:
// 0 go on, 1 stop, 2 nobody knows (nothing was scanned, the question was wrong, the server does not answer). A pipeline
// that takes 2 for 0 lets through what nobody has looked at, so nothing that fails ends with 0 or 1.
import { openAsBlob, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseOptions } from '../../command-line.js';
import { networkRefusal, Refusal, withFiles, wrongUsage } from '../../refusal.js';

const usage = [
  'Usage: gatehouse gate --application ID --commit HASH [--baseline HASH] [--branch NAME] [--report FILE]…',
  '                      [--report-of-part FILE]… [--junit FILE] [--sarif FILE] [--json FILE]',
  '',
  '  --application  id of the application (GET /api/v1/applications)',
  '  --commit       what is to go on; its reports are imported under this name',
  '  --baseline     what it is compared with; without it the last scanned commit of the default branch of the gate',
  '  --branch       branch of the reports that are sent',
  '  --report       report of a tool to send first, once for each; the format is recognised',
  '  --report-of-part   the same of a part of the application: it closes no finding',
  '  --junit, --sarif, --json   files for the answer; - is standard output, where the summary is left out',
  '  --url          base URL; without it GATEHOUSE_URL, else http://127.0.0.1:8095',
  '',
  'The token is read from GATEHOUSE_TOKEN alone, so that no list of processes shows it; the scope `ci` is enough.',
  'Exit codes: 0 go on, 1 stop, 2 nothing was scanned, or the question could not be asked.',
].join('\n');

export const defaultUrl = 'http://127.0.0.1:8095';
/** A first evaluation of a large organisation builds all chains. */
const answerMsMax = 120_000;
const reportMsMax = 600_000;

interface Condition {
  readonly name: string;
  readonly op: string;
  readonly threshold: number;
  readonly actual: number;
  readonly ok: boolean;
}
interface Evaluation {
  readonly evaluation_id: string;
  readonly verdict: string;
  readonly exit_code: number;
  readonly reason: string;
  readonly gate: { readonly name: string };
  readonly conditions: readonly Condition[];
  readonly new_findings: number;
  readonly open_findings: number;
  readonly excluded: number;
  readonly chains: readonly { readonly name: string; readonly score: number; readonly danger: boolean }[];
  readonly override: { readonly by: string; readonly reason: string } | null;
}

const fixes: Readonly<Record<number, string>> = {
  401: 'GATEHOUSE_TOKEN is no valid token: it may be revoked or past its end',
  403: 'the token may not: it needs the scope `ci`, of somebody with the permissions run_ci and view_gates',
  404: 'check --application and --url',
  413: 'the report is too large: split it',
  429: 'too many requests: try again later',
};

/** `/api/v1` of one installation. Whatever goes wrong here is told with the exit code 2. */
export class Api {
  readonly #base: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#base = `${url.replace(/\/+$/, '')}/api/v1`;
    this.#token = token;
  }

  async text(method: string, path: string, body?: string | FormData): Promise<string> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#token}` };
    if (typeof body === 'string') headers['content-type'] = 'application/json';
    const signal = AbortSignal.timeout(body instanceof FormData ? reportMsMax : answerMsMax);
    // a token must not follow a redirect to another host
    const init: RequestInit = { method, headers, signal, redirect: 'error', ...(body === undefined ? {} : { body }) };
    try {
      const reply = await fetch(`${this.#base}${path}`, init);
      const text = await reply.text();
      if (reply.ok) return text;
      throw this.#refused(method, path, reply.status, text);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      const refusal = networkRefusal(this.#base, error);
      if (refusal === null) throw error;
      throw new Refusal(`${refusal.message}; check --url or GATEHOUSE_URL`, 2);
    }
  }

  async json<Answer>(method: string, path: string, body?: string | FormData): Promise<Answer> {
    const text = await this.text(method, path, body);
    try {
      return JSON.parse(text) as Answer;
    } catch {
      throw new Refusal(`${this.#base}${path} answered something that is no JSON; check --url or GATEHOUSE_URL`, 2);
    }
  }

  #refused(method: string, path: string, status: number, text: string): Refusal {
    const said = /"detail":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
    const detail = said === undefined ? text.slice(0, 300) : String(JSON.parse(`"${said}"`));
    const fix = fixes[status] === undefined ? '' : `\n  Fix: ${fixes[status]}.`;
    return new Refusal(`${method} ${this.#base}${path} was answered with ${status}: ${detail}${fix}`, 2);
  }
}

interface Question {
  readonly application: string;
  readonly commit: string;
  readonly baseline: string | undefined;
  readonly branch: string | undefined;
  readonly reports: readonly string[];
  /** Reports of a part: they close nothing. */
  readonly ofPart: readonly string[];
}

/** With reports: a run of the pipeline, which ends with the verdict. */
async function sendAndAsk(api: Api, { application, commit, branch, reports, ofPart }: Question): Promise<Evaluation> {
  const opened = { application_id: application, commit, ...(branch === undefined ? {} : { branch }) };
  const run = await api.json<{ id: string }>('POST', '/ci/runs', JSON.stringify(opened));
  for (const path of [...reports, ...ofPart]) {
    const form = new FormData();
    if (!reports.includes(path)) form.set('mode', 'add');
    form.set('file', await openAsBlob(path), basename(path));
    const made = await api.json<{ result: Record<string, number> }>('POST', `/ci/runs/${run.id}/artifacts`, form);
    const { created = 0, parsed = 0, closed = 0 } = made.result;
    console.error(`gate: ${path}: ${parsed} records, ${created} new findings, ${closed} closed`);
  }
  return api.json<Evaluation>('POST', `/ci/runs/${run.id}/complete`, '{}');
}

async function ask(api: Api, question: Question): Promise<Evaluation> {
  if (question.reports.length + question.ofPart.length > 0) return sendAndAsk(api, question);
  const { application, commit, baseline } = question;
  const body = { application_id: application, commit, ...(baseline === undefined ? {} : { baseline }) };
  return api.json<Evaluation>('POST', '/gate/evaluate', JSON.stringify(body));
}

/** The answer for people. */
function summary(answer: Evaluation): string {
  const words = { pass: 'may go on', warn: 'may go on, with a warning', fail: 'must not go on' };
  return [
    `${answer.verdict}: the commit ${words[answer.verdict as keyof typeof words] ?? ''} (gate ${answer.gate.name})`,
    ...(answer.reason === '' ? [] : [`  ${answer.reason}`]),
    ...answer.conditions.map(
      ({ name, op, threshold, actual, ok }) => `  ${ok ? 'holds ' : 'BROKEN'}  ${name} ${op} ${threshold}: ${actual}`,
    ),
    ...answer.chains.map(({ name, score, danger }) => `  chain   ${score}${danger ? ' DANGER' : ''}: ${name}`),
    `  ${answer.new_findings} new, ${answer.open_findings} open, ${answer.excluded} set aside by people`,
    ...(answer.override === null ? [] : [`  let through by ${answer.override.by}: ${answer.override.reason}`]),
  ].join('\n');
}

function write(path: string, text: string): void {
  if (path === '-') process.stdout.write(text);
  else withFiles(() => writeFileSync(path, text));
}

function readQuestion(argv: readonly string[]) {
  const { values } = parseOptions({
    args: [...argv],
    options: {
      application: { type: 'string' },
      commit: { type: 'string' },
      baseline: { type: 'string' },
      branch: { type: 'string' },
      report: { type: 'string', multiple: true, default: [] },
      'report-of-part': { type: 'string', multiple: true, default: [] },
      junit: { type: 'string' },
      sarif: { type: 'string' },
      json: { type: 'string' },
      url: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  return values;
}

export function toApi(url: string): Api {
  const token = process.env['GATEHOUSE_TOKEN'] ?? '';
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw wrongUsage(`--url (or GATEHOUSE_URL) is no URL: ${url}; write https://gatehouse.example.org`);
  if (!/^apt_[\w-]+$/.test(token.trim()))
    throw wrongUsage(
      token === ''
        ? 'GATEHOUSE_TOKEN is not set; make a token with the scope `ci`'
        : 'GATEHOUSE_TOKEN is no apt_ token',
    );
  return new Api(url, token.trim());
}

/** Resolves with 0 (go on), 1 (stop) or 2 (nobody knows); rejects with Refusals of the exit code 2 only. */
export async function runGate(argv: readonly string[]): Promise<number> {
  try {
    return await run(argv);
  } catch (error) {
    // 1 means that the gate has said no; a full disk or a bug of ours has not
    if (error instanceof Refusal) throw new Refusal(error.message, 2);
    console.error(error);
    return 2;
  }
}

async function run(argv: readonly string[]): Promise<number> {
  const values = readQuestion(argv);
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const { application, commit, baseline, branch, report: reports, 'report-of-part': ofPart } = values;
  if (application === undefined || commit === undefined)
    throw wrongUsage(`gate needs --application ID and --commit HASH.\n${usage}`);
  const all = [...reports, ...ofPart];
  if (all.length > 0 && baseline !== undefined)
    throw wrongUsage(
      '--baseline does not go with --report: the reports of a pipeline are compared with its default branch',
    );
  for (const path of all)
    if (!isReadable(path)) throw wrongUsage(`--report ${path}: there is no such file, or it cannot be read`);
  const api = toApi(values.url ?? process.env['GATEHOUSE_URL'] ?? defaultUrl);
  const answer = await ask(api, { application, commit, baseline, branch, reports, ofPart });
  const evaluation = `/gate/evaluations/${answer.evaluation_id}`;
  if (values.junit !== undefined) write(values.junit, await api.text('GET', `${evaluation}?format=junit`));
  if (values.sarif !== undefined) write(values.sarif, await api.text('GET', `${evaluation}?format=sarif`));
  if (values.json !== undefined) write(values.json, `${JSON.stringify(answer, null, 2)}\n`);
  if (![values.junit, values.sarif, values.json].includes('-')) console.log(summary(answer));
  return answer.exit_code === 0 || answer.exit_code === 1 ? answer.exit_code : 2;
}

/** Whether a path is a file that can be read. */
function isReadable(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true;
}
