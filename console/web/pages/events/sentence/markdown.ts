// An event as Markdown, for an issue or a chat. Everything that a client wrote stands in code spans or blocks whose
// fences are longer than any run of backticks in it, so that it cannot become markup, a mention or a link.
import { visibleText } from '../../../kit/visible-text.js';
import { shareText } from '../../../texts/events/share.js';
import { severityName, type EventDetails, type RuleMessage } from '../event-text.js';
import type { Summary } from './sentence.js';
import { scoreRows } from './score-rows.js';
import { orderRules } from './rule-order.js';

export interface MarkdownSource {
  readonly at: string;
  readonly site: string;
  readonly method: string;
  readonly uri: string;
  readonly status: number;
  readonly verdict: string;
  readonly request_id: string;
  readonly inbound_score: number;
  readonly summary: Summary;
  readonly details: EventDetails;
}

const longestRun = (text: string): number => Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
const oneLine = (text: string, max: number): string => {
  const shown = visibleText(text);
  return shown.length <= max ? shown : `${shown.slice(0, max)}…`;
};

/** A code span; GFM tables need `|` escaped even in code. */
export function codeSpan(text: string, max = 300): string {
  const shown = oneLine(text, max);
  if (shown === '') return '–';
  const fence = '`'.repeat(longestRun(shown) + 1);
  const pad = shown.startsWith('`') || shown.endsWith('`') || /^\s.*\s$/.test(shown) ? ' ' : '';
  return `${fence}${pad}${shown.replaceAll('|', '\\|')}${pad}${fence}`;
}

/** Words of rules and specifications: shown as text, without any markup. */
export const plainText = (text: string, max = 200): string =>
  oneLine(text, max).replace(/[\\`*_{}[\]()<>#+!|~@&$-]/g, (one) => `&#${one.charCodeAt(0)};`);

function codeBlock(lines: readonly string[]): string {
  const text = lines.map((line) => oneLine(line, 2000)).join('\n');
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}http\n${text}\n${fence}`;
}

function sentenceOf({ what, place, name, value }: Summary): string {
  const where = place === null ? '' : ` ${shareText.in} ${place}${name === null ? '' : ` ${codeSpan(name)}`}`;
  return `${plainText(what, 400)}${where}${value === null ? '' : `: ${codeSpan(value)}`}`;
}

const ruleLine = ({ rule_id: id, message, severity }: RuleMessage): string =>
  `- ${codeSpan(String(id))} ${plainText(message)}${severity === '' ? '' : ` (${severityName(severity)})`}`;

const { markdown: words } = shareText;

function scoreTable(details: EventDetails, inboundScore: number): string {
  const rows = scoreRows(details.messages ?? [], inboundScore).map(({ ruleId, message, why, points }) => {
    const rule = ruleId === null ? '' : `${codeSpan(String(ruleId))} ${plainText(message)}`;
    return `| ${why === undefined ? rule : words[why]} | ${points} |`;
  });
  return rows.length === 0 ? '' : [words.scoreHead, ...rows, words.scoreSum(inboundScore)].join('\n');
}

export function asMarkdown(event: MarkdownSource, link: string | null): string {
  const { summary, details } = event;
  const { significant, minor } = orderRules(details.messages ?? []);
  const headers = (details.headers ?? []).map(([name, value]) => `${name}: ${value ?? words.notStored}`);
  const facts = [words.time(event.at), words.site(codeSpan(event.site)), words.requestId(codeSpan(event.request_id))];
  const parts = [
    `### ${sentenceOf(summary)}`,
    words.facts(summary.category_name, summary.severity, plainText(event.verdict), event.status),
    [...facts, ...(link === null ? [] : [words.link(link)])].join('\n'),
    codeBlock([`${event.method} ${event.uri} ${details.protocol ?? ''}`.trim(), ...headers]),
    significant.length === 0 ? '' : `${words.rules}\n\n${[...significant, ...minor].map(ruleLine).join('\n')}`,
    scoreTable(details, event.inbound_score),
    words.end,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}
