// A report as a table (CSV), as a page (HTML), and as assessment results of OSCAL 1.1.2.
import { createHash } from 'node:crypto';
import { toCsvLine } from '../http-kit/index.js';
import { frameworks } from './controls.js';
import type { LiveSetting, Report, ReportedControl } from './report.js';
import type { Evidence } from './result.js';

const iso = (at: Date | null): string => at?.toISOString() ?? '';
const evidenceText = ({ kind, text, at, link }: Evidence): string =>
  `${kind}: ${text}${at === null ? '' : ` (${iso(at)})`} ${link}`;

function settingText({ name, value, lastChange }: LiveSetting): string {
  const told = JSON.stringify(value) ?? 'null';
  const changed =
    lastChange === null ? '' : ` (version ${lastChange.version}, ${iso(lastChange.at)}, ${lastChange.author})`;
  return `${name} = ${told.length > 200 ? `${told.slice(0, 200)}…` : told}${changed}`;
}

/** One line for each check of each control. */
export function toCsv({ controls }: Report): string {
  const head = ['framework', 'control', 'title', 'result', 'check', 'check_result', 'reason', 'settings', 'evidence'];
  const lines = controls.flatMap(({ framework, id, title, result, checks }) =>
    checks.map((check) => [
      `${frameworks[framework].name} ${frameworks[framework].version}`,
      id,
      title,
      result,
      check.name,
      check.result,
      check.reason,
      check.settings.map(settingText).join('; '),
      check.evidence.map(evidenceText).join('; '),
    ]),
  );
  return [head, ...lines].map((line) => toCsvLine(line)).join('');
}

const html = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0).toString()};`);

const style =
  'body{font:15px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}' +
  'table{border-collapse:collapse;width:100%}' +
  'td,th{border:1px solid #999;padding:.4rem;text-align:left;vertical-align:top}' +
  '.satisfied{color:#060}.not_satisfied{color:#a00}.no_evidence{color:#850}';

const words: Readonly<Record<string, string>> = {
  satisfied: 'satisfied',
  not_satisfied: 'not satisfied',
  no_evidence: 'no evidence',
};

function controlRow({ id, title, result, checks }: ReportedControl): string {
  const told = checks.map(({ reason, settings, evidence }) => {
    const items = [...settings.map(settingText), ...evidence.map(evidenceText)].map((one) => `<li>${html(one)}</li>`);
    return `<p>${html(reason)}</p>${items.length === 0 ? '' : `<ul>${items.join('')}</ul>`}`;
  });
  return (
    `<tr><th scope="row">${html(id)}</th><td>${html(title)}</td>` +
    `<td class="${result}">${words[result] ?? result}</td><td>${told.join('')}</td></tr>`
  );
}

/** A page that needs nothing beside itself. */
export function toHtml(report: Report, brandName: string): string {
  const names = [...new Set(report.controls.map(({ framework }) => framework))];
  const tables = names.map((name) => {
    const controls = report.controls.filter(({ framework }) => framework === name);
    const good = controls.filter(({ result }) => result === 'satisfied').length;
    const title = `${frameworks[name].name} ${frameworks[name].version}`;
    return (
      `<h2>${html(title)}: ${good} of ${controls.length} satisfied</h2>` +
      '<table><thead><tr><th>Control</th><th>What it asks for</th><th>Result</th><th>Why</th></tr></thead>' +
      `<tbody>${controls.map(controlRow).join('')}</tbody></table>`
    );
  });
  const version = report.activeVersion === null ? 'none' : report.activeVersion.toString();
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Compliance, ${html(brandName)}</title>` +
    `<style>${style}</style></head><body><h1>Compliance, ${html(brandName)}</h1>` +
    `<p>${iso(report.at)}; active settings: version ${version}. Only what the program can show of itself is here.</p>` +
    `${tables.join('')}</body></html>\n`
  );
}

/** RFC 9562 version 5 over a text: the same report has the same identifiers. */
function uuidOf(text: string): string {
  // gatehouse:ignore weak-hash RFC 9562: version 5 is made of SHA-1, and names
  const hash = createHash('sha1').update(`gatehouse:${text}`).digest();
  hash[6] = ((hash[6] as number) & 0x0f) | 0x50;
  hash[8] = ((hash[8] as number) & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Identifiers of OSCAL begin with a letter. */
const controlId = ({ framework, id }: ReportedControl): string => `${framework}_${id}`;

/** Assessment results of OSCAL 1.1.2: an observation for each check, a finding for each control. */
export function toOscal(report: Report, brandName: string): object {
  const at = report.at.toISOString();
  const key = (text: string): string => uuidOf(`${at}:${text}`);
  const asked = [
    ...new Map(report.controls.flatMap(({ checks }) => checks).map((check) => [check.name, check])).values(),
  ];
  const observations = asked.map((check) => ({
    uuid: key(`check:${check.name}`),
    title: check.name,
    description: check.reason,
    methods: check.evidence.some(({ kind }) => kind === 'self-test') ? ['TEST'] : ['EXAMINE'],
    collected: at,
    ...(check.evidence.length === 0
      ? {}
      : { 'relevant-evidence': check.evidence.map((one) => ({ href: one.link, description: evidenceText(one) })) }),
    ...(check.settings.length === 0 ? {} : { remarks: check.settings.map(settingText).join('\n') }),
  }));
  const findings = report.controls.map((control) => ({
    uuid: key(`control:${controlId(control)}`),
    title: `${frameworks[control.framework].name} ${control.id}`,
    description: control.title,
    target: {
      type: 'objective-id',
      'target-id': controlId(control),
      status: {
        state: control.result === 'satisfied' ? 'satisfied' : 'not-satisfied',
        reason: { satisfied: 'pass', not_satisfied: 'fail', no_evidence: 'other' }[control.result],
        remarks: control.checks.map(({ reason }) => reason).join(' '),
      },
    },
    'related-observations': control.checks.map(({ name }) => ({ 'observation-uuid': key(`check:${name}`) })),
  }));
  const title = `Compliance of ${brandName}`;
  return {
    'assessment-results': {
      uuid: key('report'),
      metadata: { title, 'last-modified': at, version: at, 'oscal-version': '1.1.2' },
      'import-ap': { href: '#', remarks: 'The checks are those of this program; there is no plan beside it.' },
      results: [
        {
          uuid: key('result'),
          title,
          description: 'What the program can show of itself: settings in force, and what proves that they are at work.',
          start: at,
          end: at,
          'reviewed-controls': {
            'control-selections': [
              { 'include-controls': report.controls.map((control) => ({ 'control-id': controlId(control) })) },
            ],
          },
          observations,
          findings,
        },
      ],
    },
  };
}
