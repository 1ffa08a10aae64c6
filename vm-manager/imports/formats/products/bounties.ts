// What people report to programs: HackerOne and Bugcrowd, as the tables that they export.
import { unfit } from '../../../kit/endpoint.js';
import { cwesOf, num, vulnIdsOf } from '../../normalize.js';
import { readCvss } from '../../../findings/cvss.js';
import { fault, noFinding, record, unread, type Item, type Location } from '../../record.js';
import { readHead, readRows } from '../../reading/csv.js';
import { readBeginning } from '../../reading/report-file.js';
import { readSeverity, type SeverityReading } from '../../severity/read.js';
import type { Format } from '../format.js';

type Cell = (name: string) => string;

/** An address where it is one: programs also take names of apps and words. */
function placeOf(text: string): Location {
  if (/^https?:\/\/\S+$/i.test(text)) return { kind: 'web', url: text };
  if (/^(?:[\w-]+\.)+[a-z]{2,}(?::\d{1,5})?(?:\/\S*)?$/i.test(text) && !/^(?:com|org|net|io)\./i.test(text))
    return { kind: 'web', url: `https://${text}` };
  return { kind: 'resource', address: text || 'program' };
}

/** What nobody will work on any more. */
const settled = /^(?:resolved|duplicate|informative|not[-_ ]applicable|spam|closed|fixed|out[-_ ]of[-_ ]scope)$/i;
const notReproducible = /^(?:not[-_ ]reproducible|wont[-_ ]fix|won't fix|na)$/i;

interface Program {
  readonly tool: string;
  readonly columns: readonly string[];
  readonly id: string;
  readonly state: (cell: Cell) => string;
  readonly severity: (cell: Cell) => SeverityReading;
  readonly place: (cell: Cell) => string;
  readonly weakness: string;
  readonly text: (cell: Cell) => string;
  readonly link: (cell: Cell) => string;
}

function reported(program: Program, cell: Cell, line: number): Item {
  const [id, title] = [cell(program.id), cell('title')];
  if (id === '' || title === '') return unread(`has no ${program.id} or no title`, `line ${line}`);
  const state = program.state(cell);
  if (settled.test(state)) return noFinding(`is ${state.toLowerCase()}`, `${program.id} ${id}`);
  const weakness = cell(program.weakness);
  const score = num(cell('severity_score'));
  return record({
    title,
    description: program.text(cell),
    ...program.severity(cell),
    cwes: cwesOf([weakness, cell('cwe'), cell('cwe_id')]),
    vulnIds: vulnIdsOf([cell('cve_ids'), cell('vulnerability_ids'), title]),
    cvss: readCvss(cell('severity_vector') || cell('cvss_string') || null, score === 0 ? null : score),
    source: 'manual',
    // each report is one of its own, also where two say the same of one site
    ruleId: `${program.tool.toLowerCase()}-${id}`,
    nativeId: id,
    location: placeOf(program.place(cell)),
    fix: { state: 'unknown', text: cell('remediation_advice') },
    references: [program.link(cell)],
    tags: weakness === '' ? [] : [weakness],
    // a person has shown it
    quality: /^triaged|^unresolved/i.test(state) ? 0.95 : 0.7,
    suppressed: notReproducible.test(state),
    extra: { state, reported_at: cell('reported_at') || cell('submitted_at') },
  });
}

const formatOf = (name: string, program: Program): Format => ({
  name,
  label: `${program.tool} CSV`,
  detection: `a head line with ${program.columns.join(', ')}`,
  detect: (beginning) => {
    const { columns } = readHead(beginning);
    return program.columns.every((column) => columns.includes(column));
  },
  async *read(file, facts) {
    const { columns } = readHead(await readBeginning(file));
    const missing = program.columns.find((column) => !columns.includes(column));
    if (missing !== undefined) throw unfit('file', `has no column ${missing} in its head line`);
    facts.tool = program.tool;
    let isEmpty = true;
    for await (const [line, row] of readRows(file)) {
      isEmpty = false;
      yield reported(program, (column) => (row[column] ?? '').trim(), line);
    }
    if (isEmpty) yield fault('the table has no row: nothing shows that the program has reports');
  },
});

export const hackerone: Format = formatOf('hackerone', {
  tool: 'HackerOne',
  columns: ['id', 'title', 'severity_rating', 'state', 'substate', 'weakness'],
  id: 'id',
  // `state` is open or closed; `substate` says as what
  state: (cell) => cell('substate') || cell('state'),
  severity: (cell) =>
    readSeverity(cell('severity_rating'), { scale: { none: 'info' }, score: num(cell('severity_score')) }),
  place: (cell) => cell('structured_scope') || cell('asset_identifier'),
  weakness: 'weakness',
  text: (cell) => cell('vulnerability_information') || cell('weakness'),
  link: (cell) => cell('reference_url'),
});

/** Priorities of Bugcrowd's taxonomy; P5 is information. */
const priorities = { '1': 'critical', '2': 'high', '3': 'medium', '4': 'low', '5': 'info' } as const;

export const bugcrowd: Format = formatOf('bugcrowd', {
  tool: 'Bugcrowd',
  columns: ['reference_number', 'title', 'priority'],
  id: 'reference_number',
  state: (cell) => cell('substate') || cell('state'),
  severity: (cell) => readSeverity(cell('priority').replace(/^P(?=[1-5]$)/i, ''), { scale: priorities }),
  place: (cell) => cell('bug_url') || cell('target_name'),
  weakness: 'vrt_lineage',
  text: (cell) => [cell('description'), cell('extra_info')].filter(Boolean).join('\n\n'),
  link: (cell) => cell('bug_url'),
});
