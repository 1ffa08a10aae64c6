// Custom rules and virtual patches → rule text, checked by compiling each on its own.
import { ruleIdRanges } from '#settings';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { findOperator } from '../program/names.js';
import { compileProgram } from '../compile-program.js';
import { canQuote, quoteValue, renderLabel, renderOperator, toBytes } from './quoting.js';
import { checkRuleText } from './raw-rule.js';
import { isSetUp } from './set-up-rules.js';
import type { CustomRule, VirtualPatch } from './settings.js';
import type { ScopedText } from './site-policies.js';

const oneVariable = '[&!]?[A-Za-z_]{1,40}(?:[:.][A-Za-z0-9_.[\\]*-]{1,200})?';
const variablePattern = new RegExp(`^(?:${oneVariable})(?:\\|${oneVariable})*$`);
const urlPattern = /^[A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=%]{1,2000}$/; // without ' which ends the value

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
  const rendered = renderOperator(entry.name, toBytes(rule.value));
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
  return `SecRule ${rule.variable} "${named[1]}@${rendered.operator}${argument}" \\
    "id:${rule.id},phase:${rule.phase},${action},log,auditlog,t:none${transformations},${meta}"
`;
}

function visualAction(rule: CustomRule): string | null {
  switch (rule.action) {
    case 'block':
    case 'deny':
      return 'deny,status:403';
    case 'drop':
      return 'drop';
    case 'log':
    case 'pass':
      return 'pass';
    case 'allow':
      return 'allow';
    case 'redirect':
      return urlPattern.test(rule.redirect_url) && !rule.redirect_url.includes('%{') && canQuote(rule.redirect_url)
        ? `redirect:'${quoteValue(rule.redirect_url)}',status:302`
        : null;
  }
}

function renderRawRule(
  rule: CustomRule | VirtualPatch,
  range: readonly [number, number],
  path: string,
  diagnostics: Diagnostics,
): string | null {
  const { text, diagnostics: found } = checkRuleText(rule.seclang, range, `rule ${rule.id}`);
  for (const one of found.filter(({ severity }) => severity === 'error')) {
    diagnostics.reportSetting('GH-C7001', `line ${one.line}, column ${one.column}: ${one.message}`, `${path}/seclang`);
  }
  return text;
}

export interface RenderedRules {
  /** Rules that prepare the CRS, and those that let requests through, must be heard before it. */
  readonly before: readonly ScopedText[];
  readonly after: readonly ScopedText[];
}

/** Enabled rules as text; everything that cannot be is reported under its JSON pointer. */
export function renderCustomRules(rules: readonly CustomRule[], diagnostics: Diagnostics): RenderedRules {
  const before: ScopedText[] = [];
  const after: ScopedText[] = [];
  for (const [index, rule] of rules.entries()) {
    if (!rule.enabled) continue;
    const { id, sites } = rule;
    const path = `/custom_rules/${index}`;
    if (rule.kind === 'raw') {
      const text = renderRawRule(rule, ruleIdRanges.custom, path, diagnostics);
      if (text === null) continue;
      const { program } = compileProgram([{ path: `rule ${id}`, text }]);
      (program !== null && isSetUp(text, program) ? before : after).push({ id, text, sites });
      continue;
    }
    const text = renderVisualRule(rule, path, diagnostics);
    if (text === null) continue;
    const { diagnostics: found } = compileProgram([{ path: `rule ${id}`, text }]);
    for (const one of found.filter(({ severity }) => severity === 'error'))
      diagnostics.reportSetting('GH-C7001', one.message, path);
    (rule.action === 'allow' ? before : after).push({ id, text, sites });
  }
  return { before, after };
}

export function renderVirtualPatches(patches: readonly VirtualPatch[], diagnostics: Diagnostics): string {
  const texts = patches.map((patch, index) =>
    patch.enabled ? renderRawRule(patch, ruleIdRanges.virtualPatches, `/virtual_patches/${index}`, diagnostics) : '',
  );
  return texts.join('');
}
