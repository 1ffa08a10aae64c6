// A visual rule: the text that it stands for, checked, with every problem at the field of the form that it comes from.
import { Diagnostics, type Diagnostic } from '../../diagnostics/diagnostics.js';
import { findOperator } from '../../program/names.js';
import { SourceFile } from '../../text/source.js';
import { pathConditionOf } from '../paths/path-conditions.js';
import { renderCaseless, renderLabel, renderOperator, toBytes } from '../quoting.js';
import { checkRuleText, type CheckedRule } from '../raw-rule.js';
import { visualAction } from './rule-action.js';
import type { CustomRule } from '../settings.js';

const oneVariable = '[&!]?[A-Za-z_]{1,40}(?:[:.][A-Za-z0-9_.[\\]*-]{1,200})?';
const variablePattern = new RegExp(`^(?:${oneVariable})(?:\\|${oneVariable})*$`);

/** Rule text of a visual rule; null after reporting. `path` is the rule's JSON pointer. */
export function renderVisualRule(rule: CustomRule, path: string, diagnostics: Diagnostics): string | null {
  const fail = (field: string, message: string): null => {
    diagnostics.reportSetting('GH-C7001', message, `${path}/${field}`);
    return null;
  };
  if (!variablePattern.test(rule.variable))
    return fail('variable', 'must be a variable such as ARGS or REQUEST_HEADERS:User-Agent, several joined by "|"');
  const named = /^(!?)@?([A-Za-z0-9]+)$/.exec(rule.operator);
  const entry = named === null ? null : findOperator(named[2] as string);
  if (named === null || entry === null || entry.argument.endsWith('files'))
    return fail('operator', 'must be an operator such as contains, rx or ipMatch');
  const condition = pathConditionOf(rule, named[1] === '!');
  const value = toBytes(rule.value);
  const rendered = condition.isCaseless ? renderCaseless(entry.name, value) : renderOperator(entry.name, value);
  if (rendered === null)
    return fail(
      'value',
      `holds line ends, leading blanks or a backslash before a quote, which @${entry.name} cannot express`,
    );
  const action = visualAction(rule);
  if (action === null) return fail('redirect_url', 'must be an address in URL characters');
  const transformations = rule.transformations.map((name) => `,t:${name}`).join('');
  const label = renderLabel(rule.name === '' ? `Custom rule ${rule.id}` : rule.name);
  const argument = rendered.argument === '' ? '' : ` ${rendered.argument}`;
  const meta = `msg:'${label}',tag:'gatehouse/custom-rule'`;
  return `SecRule ${rule.variable}${condition.more} "${named[1]}@${rendered.operator}${argument}" \\
    "id:${rule.id},phase:${rule.phase},${action},log,auditlog,t:none${transformations},${meta}"
`;
}

/** A part of the rule's text, and the field of the rule that it was made from. */
interface Field {
  /** JSON pointer into the rule. */
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** The fields in the order of the text. `text` is what `renderVisualRule` made of the rule. */
function fieldsOf(rule: CustomRule, text: string): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const add = (path: string, before: string, length: number): void => {
    const start = text.indexOf(before, at) + before.length;
    at = start + length;
    fields.push({ path, start, end: at });
  };
  add('/variable', 'SecRule ', rule.variable.length);
  const operator = /^\S+/.exec(text.slice(at + 2))?.[0].replace(/"$/, '') ?? '';
  add('/operator', ' "', operator.length);
  const end = text.indexOf('" \\\n', at);
  fields.push({ path: '/value', start: at, end });
  at = end;
  add('/phase', ',phase:', 1);
  const actions = visualAction(rule) ?? '';
  fields.push({
    path: rule.action === 'redirect' ? '/redirect_url' : '/action',
    start: at,
    end: at + actions.length + 1,
  });
  at = text.indexOf(',t:none', at) + ',t:none'.length;
  for (const [index, name] of rule.transformations.entries()) add(`/transformations/${index}`, ',', `t:${name}`.length);
  fields.push({ path: '/name', start: at, end: text.length });
  return fields;
}

const shownMax = 500;

/** The diagnostic at its field: line and column are those within the field's own text. */
function atField(found: Diagnostic, fields: readonly Field[], file: SourceFile): Diagnostic {
  const offset = file.offset(found.line, found.column);
  // an operator that lacks its argument is named where the argument would be written
  const wanted = found.code === 'GH-C3002' ? fields.find(({ path }) => path === '/value') : undefined;
  const field = wanted ?? fields.find(({ start, end }) => offset >= start && offset < end) ?? fields.at(-1);
  if (field === undefined) return found;
  const excerpt = file.text.slice(field.start, field.end).trim().slice(0, shownMax);
  const shift =
    file.text.slice(field.start, field.end).length - file.text.slice(field.start, field.end).trimStart().length;
  const column = Math.max(1, offset - field.start - shift + 1);
  return { ...found, path: field.path, line: 1, column: Math.min(column, excerpt.length + 1), excerpt };
}

/**
 * The text a visual rule stands for, with what is wrong with it. Every problem carries the field it comes from as a
 * JSON pointer (`/variable`, `/operator`, `/value`, `/transformations/0` …), and line and column within that field.
 */
export function checkVisualRule(rule: CustomRule): CheckedRule {
  const diagnostics = new Diagnostics();
  const text = renderVisualRule(rule, '', diagnostics);
  if (text === null) return { text: null, ids: [], heads: [], isEmpty: false, diagnostics: diagnostics.list };
  const checked = checkRuleText(Buffer.from(text, 'latin1').toString('utf8'), [rule.id, rule.id], `rule ${rule.id}`);
  const file = new SourceFile(0, `rule ${rule.id}`, text);
  const fields = fieldsOf(rule, text);
  return { ...checked, diagnostics: checked.diagnostics.map((found) => atField(found, fields, file)) };
}
